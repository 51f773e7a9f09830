"""What the scripts of this folder share: golden files are safetensors files, written with the standard library."""
import json
import struct

import numpy as np

TYPES = {np.dtype(np.int64): "I64", np.dtype(np.float64): "F64", np.dtype(np.float32): "F32", np.dtype(np.int32): "I32"}


def write(path, tensors, source):
    """Writes `tensors` (arrays by name); `source` says what computed them."""
    header, data, offset = {"__metadata__": {"source": source}}, [], 0
    for name in sorted(tensors, key=lambda n: (list(TYPES).index(np.asarray(tensors[n]).dtype), n)):
        array = np.ascontiguousarray(tensors[name])
        header[name] = {"dtype": TYPES[array.dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        data.append(array.tobytes())
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(data))

"""Writes NumPy arrays as a safetensors file, whose format estimator/checkpoint/safetensors.h describes."""
import json
import struct

DTYPES = {"float32": "F32", "int32": "I32", "uint8": "U8"}


def write(path, arrays):
    """`arrays`: name -> array of float32, int32 or uint8."""
    header, offset, pieces = {}, 0, []
    # The wide types first, so that all are aligned.
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])):
        header[name] = {"dtype": DTYPES[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
        pieces.append(array.tobytes())
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(pieces))

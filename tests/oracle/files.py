"""Reading IDX and safetensors files into NumPy."""
import gzip
import json
import os
import struct

import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")


def read_idx(path):
    with gzip.open(path) as f:
        data = f.read()
    rank = data[3]
    shape = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def read_fashion_mnist(directory, split):
    prefix = {"train": "train", "test": "t10k"}[split]
    images = read_idx(os.path.join(directory, prefix + "-images-idx3-ubyte.gz"))
    labels = read_idx(os.path.join(directory, prefix + "-labels-idx1-ubyte.gz"))
    return images, labels.astype(np.int64)


def read_safetensors(path):
    """Float32 tensors by name."""
    with open(path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
        body = f.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F32", name
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(body[begin:end], "<f4").reshape(entry["shape"])
    return tensors

"""Small data sets in the form of Fashion-MNIST's files, made of random bytes with a fixed seed."""
import gzip
import os
import random
import struct


def write(directory, name, shape, content):
    header = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
    with gzip.open(os.path.join(directory, name + "-ubyte.gz"), "wb", compresslevel=1) as f:
        f.write(header + content)


def make(directory, train=1000, test=100, bad_label=None):
    """`bad_label`: the class of the example in the middle of the training set."""
    os.makedirs(directory, exist_ok=True)
    source = random.Random(1)
    for prefix, count in (("train", train), ("t10k", test)):
        labels = bytearray(source.randrange(10) for _ in range(count))
        if bad_label is not None and prefix == "train":
            labels[count // 2] = bad_label
        write(directory, prefix + "-images-idx3", (count, 28, 28), source.randbytes(count * 784))
        write(directory, prefix + "-labels-idx1", (count,), bytes(labels))
    return directory

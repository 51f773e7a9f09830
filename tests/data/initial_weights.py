"""initial_weights.py MODEL FILE: writes a model's initial weights as safetensors. Standard library only.

Kernels are glorot-uniform from Python's Mersenne twister, whose `random()` is the same in every version: tensors in
the order below, elements in row-major order, each (2 u - 1) * sqrt(6 / (fan_in + fan_out)) in double, then rounded to
float32. Biases, beta and moving_mean are 0, gamma and moving_variance 1.
"""
import array
import json
import math
import random
import struct
import sys

SEEDS = {"zalando": 2, "multi_gpu": 20240229}  # see tests/oracle/README.md


def conv(name, cin, cout):
    return [(name + "/kernel", [3, 3, cin, cout]), (name + "/bias", [cout])]


def dense(name, units_in, units_out):
    return [(name + "/kernel", [units_in, units_out]), (name + "/bias", [units_out])]


def batch_norm(name, channels):
    return [(f"{name}/{v}", [channels]) for v in ("gamma", "beta", "moving_mean", "moving_variance")]


MODELS = {
    "zalando":
        conv("conv2d", 1, 32) + conv("conv2d_1", 32, 64) + conv("conv2d_2", 64, 64) + dense("dense", 576, 64) +
        dense("dense_1", 64, 10),
    "multi_gpu":
        conv("conv2d", 1, 32) + conv("conv2d_1", 32, 256) + batch_norm("batch_normalization", 256) +
        conv("conv2d_2", 256, 128) + dense("dense", 15488, 128) + dense("dense_1", 128, 10),
}


def values(name, shape, twister):
    if name.endswith("/kernel"):
        area = math.prod(shape[:-2])
        limit = math.sqrt(6 / (area * (shape[-2] + shape[-1])))
        return array.array("f", [(2 * twister.random() - 1) * limit for _ in range(math.prod(shape))])
    return array.array("f", [1.0 if name.endswith(("/gamma", "/moving_variance")) else 0.0] * math.prod(shape))


def main():
    model, path = sys.argv[1:]
    twister = random.Random(SEEDS[model])
    header, body = {}, b""
    for name, shape in MODELS[model]:
        data = values(name, shape, twister)
        if sys.byteorder == "big":
            data.byteswap()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + 4 * len(data)]}
        body += data.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)


if __name__ == "__main__":
    main()

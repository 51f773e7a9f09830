"""Reads ONNX files without the package: the messages of onnx.proto, as far as exported models have them."""
import os
import struct

import numpy as np

DTYPES = {1: np.float32, 2: np.uint8, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """number -> the field's values: integers, or bytes."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 5:
            value, at = bytes(data[at:at + 4]), at + 4
        else:
            assert kind == 2, f"a field of type {kind} at byte {at}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, f"a field of {size} bytes at byte {at} ends behind the message"
        found.setdefault(tag >> 3, []).append(value)
    return found


def text(message, number):
    return bytes(message[number][0]).decode() if number in message else ""


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def attribute(data):
    message = fields(data)
    kind = message[20][0]
    if kind == 1:
        return text(message, 1), struct.unpack("<f", message[2][0])[0]
    if kind == 2:
        return text(message, 1), signed(message[3][0])
    assert kind == 7, f"an attribute of type {kind}"
    return text(message, 1), [signed(v) for v in message.get(8, [])]


class Node:
    def __init__(self, data):
        message = fields(data)
        self.inputs = [bytes(v).decode() for v in message.get(1, [])]
        self.outputs = [bytes(v).decode() for v in message.get(2, [])]
        self.name, self.op = text(message, 3), text(message, 4)
        self.attributes = dict(attribute(v) for v in message.get(5, []))


def tensor(data, folder):
    message = fields(data)
    shape, dtype = message.get(1, []), DTYPES[message[2][0]]
    if message.get(14, [0])[0] == 0:
        raw = message[9][0]
    else:
        entries = {text(fields(e), 1): text(fields(e), 2) for e in message[13]}
        assert int(entries["offset"]) % 4096 == 0, entries
        with open(os.path.join(folder, entries["location"]), "rb") as f:
            f.seek(int(entries["offset"]))
            raw = f.read(int(entries["length"]))
    return text(message, 8), np.frombuffer(raw, dtype).reshape(shape)


def value_info(data):
    """(name, dtype, shape), in which the batch is a name."""
    message = fields(data)
    kind = fields(fields(message[2][0])[1][0])
    shape = []
    for dimension in fields(kind[2][0]).get(1, []):
        size = fields(dimension)
        shape.append(text(size, 2) if 2 in size else size[1][0])
    return text(message, 1), DTYPES[kind[1][0]], shape


class Model:
    def __init__(self, path):
        with open(path, "rb") as f:
            message = fields(memoryview(f.read()))
        self.ir_version, self.producer = message[1][0], text(message, 2)
        self.opset = fields(message[8][0])[2][0]
        graph = fields(message[7][0])
        self.nodes = [Node(n) for n in graph.get(1, [])]
        self.constants = dict(tensor(t, os.path.dirname(path)) for t in graph.get(5, []))
        self.inputs = [value_info(v) for v in graph[11]]
        self.outputs = [value_info(v) for v in graph[12]]

    def ops(self, *names):
        return [n for n in self.nodes if n.op in names]

    def check(self):
        """Raises unless names are unique and every tensor is there before it is read."""
        assert (self.ir_version, self.opset) == (8, 17), (self.ir_version, self.opset)
        there = [name for name, _, _ in self.inputs] + list(self.constants)
        for node in self.nodes:
            missing = [name for name in node.inputs if name not in there]
            assert not missing, f"{node.name} reads {missing}, which nothing before has made"
            there += node.outputs
        assert len(set(there)) == len(there), sorted(there)
        names = [n.name for n in self.nodes]
        assert len(set(names)) == len(names), sorted(names)
        assert all(name in there for name, _, _ in self.outputs), self.outputs
        read = {name for n in self.nodes for name in n.inputs} | {name for name, _, _ in self.outputs}
        assert set(self.constants) <= read, f"nothing reads {set(self.constants) - read}"

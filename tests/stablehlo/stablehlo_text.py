"""Reads the text of StableHLO modules, as MLIR prints ops in generic form and as far as exported models have them, and
the weights beside it."""
import json
import re
import struct

import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64, "i1": np.bool_, "i32": np.int32, "i64": np.int64, "ui8": np.uint8}
SAFETENSORS = {"F32": np.float32, "F64": np.float64, "BOOL": np.bool_, "I32": np.int32, "I64": np.int64, "U8": np.uint8}
OP = re.compile(r'(?:(%\w+)(?::\d+)? = )?"stablehlo\.(\w+)"\(([^)]*)\)( \(\{)?(.*)')
REST = re.compile(r"(?: \{(.*)\})? : \((.*?)\) -> (\(.*?\)|tensor<\S+>)(?: loc\(.*\))?")
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+)>")


def tensor_type(text):
    """(dtype, shape) of the first type in a text."""
    sizes, element = TENSOR.search(text).groups()
    return DTYPES[element], [int(size) for size in sizes.split("x")[:-1]]


def constant(text):
    """The array of dense<...> : tensor<...>."""
    value, kind = re.fullmatch(r"value = dense<(.*)> : (tensor<.*>)", text).groups()
    dtype, shape = tensor_type(kind)
    if re.match(r'"0x', value):
        raw = bytes.fromhex(value[3:-1])
        return np.frombuffer(raw, dtype).reshape(shape) if dtype != np.bool_ else bits(raw, shape)
    value = re.sub(r"0x[0-9A-F]+", lambda m: json.dumps(from_bits(int(m[0], 16), dtype)), value)
    return np.broadcast_to(np.array(json.loads(value), dtype), shape)


def from_bits(number, dtype):
    return float(np.frombuffer(number.to_bytes(np.dtype(dtype).itemsize, "little"), dtype)[0])


def bits(raw, shape):
    return np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")[:int(np.prod(shape))].astype(bool).reshape(shape)


class Op:
    """`attributes` is the text between the braces; `body` has the ops of a region, `parameters` its arguments."""

    def __init__(self, name, operands, results):
        self.name, self.operands, self.results = name, operands, results
        self.attributes, self.types, self.body, self.parameters = "", [], [], []

    def ints(self, name):
        """A list of numbers, or a number."""
        if match := re.search(name + r" = array<i64(?:: (.*?))?>", self.attributes):
            return [int(n) for n in match[1].split(", ")] if match[1] else []
        if match := re.search(name + r" = (\d+) : i64", self.attributes):
            return int(match[1])
        match = re.search(r"\b" + name + r" = \[(.*?)\]", self.attributes)
        return [int(n) for n in match[1].split(", ") if n]

    def close(self, text):
        attributes, _, results = REST.fullmatch(text).groups()
        self.attributes = attributes or ""
        self.types = [tensor_type(t) for t in re.findall(r"tensor<\S+?>", results)]


def names(text):
    return re.findall(r"%\w+(?:#\d+)?", text)


class Module:
    def __init__(self, text):
        lines = text.split("\n")
        main = next(line for line in lines if "func.func @main" in line)
        arguments, results = main.split(" -> ", 1)
        self.inputs = re.findall(r'tandem\.input = "(.*?)"', arguments)
        self.variables = re.findall(r'tandem\.variable = "(.*?)"', arguments)
        self.outputs = re.findall(r'tandem\.output = "(.*?)"', results)
        self.arguments = re.findall(r"%arg\d+", arguments)
        self.result_types = [tensor_type(t) for t in re.findall(r"tensor<\S+?>", results)]
        self.ops, self.returned = [], []
        open_op = None
        for line in map(str.strip, lines[lines.index(main) + 1:]):
            if match := OP.fullmatch(line):
                result, name, operands, region, rest = match.groups()
                op = Op(name, names(operands), result)
                (open_op.body if open_op else self.ops).append(op)
                if region:
                    open_op = op
                else:
                    op.close(rest)
            elif line.startswith("^bb0("):
                open_op.parameters = re.findall(r"%\w+", line)
            elif line.startswith("})"):
                open_op.close(line[2:])
                open_op = None
            elif line.startswith("return "):
                self.returned = names(line)
                break


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def weights(path):
    """The arrays of a file of weights, and their names in the order of the arguments."""
    with open(path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
        data = f.read()
    order = json.loads(header.pop("__metadata__")["arguments"])
    arrays = {name: np.frombuffer(data[slice(*entry["data_offsets"])],
                                  SAFETENSORS[entry["dtype"]]).reshape(entry["shape"])
              for name, entry in header.items()}
    return arrays, order

"""Runs small PTX kernels that are written by hand one thread after another, for tests without a GPU.

Knows the instructions that those kernels use and raises on any other. Values are Python ints (bits) per register;
threads of a block are generators that stop at barriers. Memory is one bytearray; address 0 is its first byte.
"""
import re
import struct

import numpy as np

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1
FORMATS = {"f32": "<f", "f64": "<d", "s32": "<i", "s64": "<q", "u8": "<B", "u16": "<H", "u32": "<I", "u64": "<Q"}
FLOATS = {"f32": np.float32, "f64": np.float64}


def parse(text):
    """{entry: (parameters, shared bytes, instructions, labels)}; an instruction is (guard, opcode, operands)."""
    entries = {}
    for match in re.finditer(r"\.visible \.entry (\w+)\((.*?)\)(.*?)\{(.*?)\n\}", text, re.S):
        name, parameters, _, body = match.groups()
        parameters = re.findall(r"\.param \.u64 (\w+)", parameters)
        shared, instructions, labels = 0, [], {}
        for line in body.split("\n"):
            line = line.strip()
            if not line or line.startswith(".reg"):
                continue
            if line.startswith(".shared"):
                shared = int(re.search(r"\[(\d+)\]", line).group(1))
            elif line.endswith(":"):
                labels[line[:-1]] = len(instructions)
            else:
                guard, opcode, rest = re.fullmatch(r"(@%\w+ )?([\w.]+) ?(.*);", line).groups()
                instructions.append((guard.strip()[1:] if guard else None, opcode,
                                     [o.strip() for o in rest.split(",")] if rest else []))
        entries[name] = (parameters, shared, instructions, labels)
    return entries


class Thread:
    def __init__(self, entry, arguments, memory, shared, thread, block, grid, threads):
        self.parameters, _, self.code, self.labels = entry
        self.arguments = dict(zip(self.parameters, arguments))
        self.memory, self.shared = memory, shared
        self.registers = {"%tid.x": thread, "%ctaid.x": block, "%ntid.x": threads, "%nctaid.x": grid, "tile": 0}

    def value(self, operand):
        if operand in self.registers:
            return self.registers[operand]
        if operand.startswith("0f"):
            return struct.unpack(">f", bytes.fromhex(operand[2:]))[0]
        if operand.startswith("0d"):
            return struct.unpack(">d", bytes.fromhex(operand[2:]))[0]
        return int(operand, 0)

    def typed(self, operand, kind):
        value = self.value(operand)
        if kind in FLOATS:
            return FLOATS[kind](value)
        bits = int(kind[1:])
        value &= (1 << bits) - 1
        return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value

    def run(self):
        at = 0
        while True:
            guard, opcode, o = self.code[at]
            at += 1
            if guard and not self.registers[guard]:
                continue
            parts = opcode.split(".")
            op, kind = parts[0], parts[-1]
            if op == "ret":
                return
            if op == "bra":
                at = self.labels[o[0]]
            elif op == "bar":
                yield
            elif op == "ld" and parts[1] == "param":
                self.registers[o[0]] = self.arguments[o[1][1:-1]]
            elif op in ("ld", "st"):
                space = self.shared if parts[1] == "shared" else self.memory
                size = struct.calcsize(FORMATS[kind])
                address = self.value((o[1] if op == "ld" else o[0])[1:-1])
                assert 0 <= address and address + size <= len(space), "%s at %d is out of bounds" % (opcode, address)
                assert address % size == 0, "%s at %d is not aligned" % (opcode, address)
                if op == "ld":
                    self.registers[o[0]] = struct.unpack_from(FORMATS[kind], space, address)[0]
                elif kind in FLOATS:
                    struct.pack_into(FORMATS[kind], space, address, self.value(o[1]))
                else:
                    mask = (1 << 8 * size) - 1
                    struct.pack_into("<" + {1: "B", 2: "H", 4: "I", 8: "Q"}[size], space, address, self.value(o[1]) & mask)
            else:
                self.registers[o[0]] = self.compute(op, parts, kind, o)

    def compute(self, op, parts, kind, o):
        if op == "setp":
            a, b = self.typed(o[1], kind), self.typed(o[2], kind)
            return {"ge": a >= b, "gt": a > b, "gtu": not a <= b, "eq": a == b, "ne": a != b, "lt": a < b,
                    "nan": a != a or b != b}[parts[1]]
        if kind == "pred":
            a, b = self.value(o[1]), self.value(o[2])
            return {"or": a or b, "and": a and b}[op]
        if op == "selp":
            return self.value(o[1]) if self.registers[o[3]] else self.value(o[2])
        if op == "mov" and kind == "b32":  # between float and integer registers
            value = self.value(o[1])
            if o[0].startswith("%f"):
                return np.frombuffer(struct.pack("<I", value & MASK32), "<f4")[0]
            return struct.unpack("<I", np.float32(value).tobytes())[0]
        if op in ("mov", "cvta"):
            return self.value(o[1])
        if op == "cvt":
            return FLOATS[parts[2]](self.value(o[1])) if parts[2] in FLOATS else self.value(o[1])
        if op == "ex2":
            with np.errstate(all="ignore"):
                return np.exp2(self.typed(o[1], kind))
        if kind in FLOATS:
            a, b = self.typed(o[1], kind), self.typed(o[2], kind)
            with np.errstate(all="ignore"):
                return {"add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b, "div": lambda: a / b}[op]()
        wide = kind[1:] == "64" or "wide" in parts
        a, b = self.typed(o[1], kind), self.typed(o[2], kind)
        result = {"add": lambda: a + b, "sub": lambda: a - b, "and": lambda: a & b, "or": lambda: a | b, "shl": lambda: a << b,
                  "shr": lambda: a >> b, "div": lambda: a // b, "rem": lambda: a % b, "mul": lambda: a * b,
                  "xor": lambda: a ^ b, "max": lambda: max(a, b), "min": lambda: min(a, b), "mad": lambda: a * b + self.typed(o[3], kind)}[op]()
        return result & (MASK64 if wide else MASK32)


def launch(entry, grid, block, arguments, memory):
    for b in range(grid):
        shared = bytearray(entry[1])
        threads = [Thread(entry, arguments, memory, shared, t, b, grid, block).run() for t in range(block)]
        while threads:
            waiting = []
            for t in threads:
                try:
                    next(t)
                    waiting.append(t)
                except StopIteration:
                    pass
            threads = waiting


def run(entry, grid, parameters):
    """Launches blocks of 256 threads. Arrays among the parameters lie one after another in memory, with gaps that must
    stay as they are; returns the arrays as the kernel leaves them."""
    memory, values, places = bytearray(), [], []
    for p in parameters:
        if not isinstance(p, np.ndarray):
            values.append(p)
            continue
        memory += b"\xaa" * 64
        values.append(len(memory))
        places.append((len(memory), p))
        memory += p.tobytes()
        memory += b"\xaa" * (-len(memory) % 64)
    memory += b"\xaa" * 64
    before = np.frombuffer(bytes(memory), np.uint8)
    launch(entry, grid, 256, values, memory)
    after = np.frombuffer(bytes(memory), np.uint8)
    outside = np.ones(len(memory), bool)
    for at, array in places:
        outside[at:at + array.nbytes] = False
    assert (before[outside] == after[outside]).all(), "wrote outside of its arrays"
    return [np.frombuffer(bytes(memory[at:at + a.nbytes]), a.dtype) for at, a in places]

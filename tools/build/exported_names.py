#!/usr/bin/python3
"""exported_names.py list OBJECTS HEADERS OUT: writes a version script of what a library exports: the names that the
object files listed in the file OBJECTS define and the headers in the folder HEADERS declare.
exported_names.py publish LIBRARY OUT: writes LIBRARY with the marks taken away again.

What TANDEM_API (base/api.h) marks has protected visibility in an object file. So have other functions with a marked
type in their signature; of these, the headers define no scope or have no word of that name. Of inline functions each
program has its own; of classes, the table of virtual functions and the type information are exported. In the library a
protected name would be refused by linkers that copy data into programs, so there it becomes an ordinary one.
"""
import os
import re
import struct
import subprocess
import sys

SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
SYMTAB, DYNSYM = 2, 11
GLOBAL, WEAK, PROTECTED = 1, 2, 3
OF_A_CLASS = re.compile(rb"_ZT[VIST]N?K?(?:St)?N?6tandem")


def sections(data, path):
    """(type, offset, size, link) of each section."""
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit("exported_names: %s is no 64-bit ELF file" % path)
    start, = struct.unpack_from("<Q", data, 0x28)
    count, = struct.unpack_from("<H", data, 0x3c)
    if count == 0:  # more than 65,279 of them: the number is in the first
        count = SECTION.unpack_from(data, start)[5]
    headers = (SECTION.unpack_from(data, start + i * SECTION.size) for i in range(count))
    return [(header[1], header[4], header[5], header[6]) for header in headers]


def marked_names(path):
    """The names that an object file defines and marks."""
    with open(path, "rb") as file:
        data = file.read()
    found, all_sections = set(), sections(data, path)
    for kind, offset, size, link in all_sections:
        if kind != SYMTAB:
            continue
        strings = all_sections[link][1]
        for name, info, other, section, _, _ in SYMBOL.iter_unpack(data[offset:offset + size]):
            if other & 3 != PROTECTED or section == 0:
                continue
            text = data[strings + name:data.index(b"\0", strings + name)]
            if info >> 4 == GLOBAL or (info >> 4 == WEAK and OF_A_CLASS.match(text)):
                found.add(text.decode())
    return found


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Declared:
    """What headers declare: the scopes that they define, and all their words."""

    OPEN = re.compile(r"(?<!enum )\b(?:class|struct|union|namespace)\s+(?:TANDEM_API\s+)?([\w:]+)[^;{}()]*\{|\{|\}")

    def __init__(self, folder):
        self.scopes, self.words = {""}, set()
        for at, _, names in os.walk(folder):
            for name in names:
                text = re.sub(r"//[^\n]*|^\s*#[^\n]*|\"[^\"\n]*\"", "", read(os.path.join(at, name)), flags=re.M)
                self.words.update(re.findall(r"\w+", text))
                self.add_scopes(text)

    def add_scopes(self, text):
        scope = []  # what is open: a list of names for a scope, an empty one for other braces
        for brace in self.OPEN.finditer(text):
            if brace[0] == "}":
                scope = scope[:-1]
                continue
            scope.append(brace[1].split("::") if brace[1] else [])
            self.scopes.add("::".join(name for names in scope for name in names))

    def has(self, demangled):
        *scopes, name = qualified_name(demangled)
        return name in self.words and "::".join(scopes) in self.scopes


def qualified_name(demangled):
    """["tandem", "Dataset", "Map"] of "tandem::Dataset::Map(std::function<...>) const"."""
    text = re.sub(r"^(?:vtable|typeinfo(?: name)?|VTT) for ", "", demangled)
    text = re.sub(r"\[abi:\w+\]", "", text)
    operator = re.search(r"\boperator\b", text)
    text = text[:operator.end()] if operator else text
    while "<" in text:  # from the inside out
        shorter = re.sub(r"<[^<>]*>", "", text)
        if shorter == text:
            break
        text = shorter
    return [part.lstrip("~") for part in text.partition("(")[0].split(" ")[-1].split("::")]


def list_names(objects, headers, out):
    marked = sorted(set().union(*(marked_names(path) for path in read(objects).split("\n") if path)))
    demangled = subprocess.run(["c++filt"], input="\n".join(marked), stdout=subprocess.PIPE, text=True,
                               check=True).stdout.split("\n")
    declared = Declared(headers)
    names = [name for name, text in zip(marked, demangled) if declared.has(text)]
    if not names:
        sys.exit("exported_names: nothing is marked")
    with open(out, "w", encoding="utf-8") as file:
        file.write("{\n  global:\n%s  local:\n    *;\n};\n" % "".join("    %s;\n" % name for name in names))


def publish(library, out):
    with open(library, "rb") as file:
        data = bytearray(file.read())
    for kind, offset, size, _ in sections(data, library):
        for at in range(offset, offset + size, SYMBOL.size) if kind == DYNSYM else ():
            if data[at + 5] & 3 == PROTECTED:
                data[at + 5] &= ~3
    with open(out, "wb") as file:
        file.write(data)


def main():
    {"list": list_names, "publish": publish}[sys.argv[1]](*sys.argv[2:])


main()

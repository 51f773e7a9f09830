"""The commands of an executable, from runtime/format/index.td."""
import os
import subprocess
import sys

from markdown import cell
from ops import prose, sentence

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../build"))
from schema import Schema  # noqa: E402

INTRO = """# The commands of an executable

What a compiled program consists of: the members of `CommandBody` in
[runtime/format/index.td](../../runtime/format/index.td). A command has a name, the buffers that it reads and writes,
and a source location; the fields below are what is special to its kind.
"""


def generate(root):
    records = subprocess.run(["/usr/bin/llvm-tblgen-19", "--dump-json", "-I", root,
                              os.path.join(root, "runtime/format/index.td")],
                             check=True, capture_output=True, text=True).stdout
    schema = Schema(records)
    out = [INTRO]
    for name in schema.union_named["CommandBody"].members:
        out += section(schema.table_named[name])
    out += ["# What library calls compute", "", "The members of `LibraryOperation`.", ""]
    for name in schema.union_named["LibraryOperation"].members:
        out += section(schema.table_named[name])
    return "\n".join(out).rstrip() + "\n"


def section(table):
    out = ["## `%s`" % table.name, "", sentence(table.summary), ""]
    if table.description.strip():
        out += [prose(table.description), ""]
    if table.fields:
        out += ["| field | type | |", "|---|---|---|"]
        out += ["| `%s` | `%s` | %s |" % (f.name, type_text(f), cell(f.doc)) for f in table.fields] + [""]
    return out


def type_text(field):
    return "[%s]" % field.type if field.kind in ("numbers", "strings", "tables") else field.type

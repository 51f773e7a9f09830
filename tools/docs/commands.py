"""The commands of an executable, from runtime/executable.fbs."""
import os
import re

import cpp
from markdown import cell

INTRO = """# The commands of an executable

What a compiled program consists of: the members of `CommandBody` in
[runtime/executable.fbs](../../runtime/executable.fbs). A command has a name, the buffers that it reads and writes, and
a source location; the fields below are what is special to its kind.
"""


def comment_above(lines, i):
    first = i
    while first > 0 and lines[first - 1].startswith("//"):
        first -= 1
    return cpp.comment_lines(lines[first:i])


def fields(lines, i):
    """[(name, type, comment)] of the table that begins at line i."""
    text = "\n".join(lines[i:])
    body = text[text.index("{") + 1:]
    rows = []
    for line in body.split("\n"):
        code, _, comment = line.partition("//")
        code, end, _ = code.partition("}")
        declared = re.findall(r"(\w+)\s*:\s*([\w\[\]]+)[^;]*;", code)
        rows += [[name, kind, ""] for name, kind in declared]
        if comment and declared:
            rows[-1][2] = comment.strip()
        elif comment and rows and line.startswith("      "):  # the comment of the field above goes on
            rows[-1][2] += " " + comment.strip()
        if end:
            return rows


def generate(root):
    with open(os.path.join(root, "runtime/executable.fbs"), encoding="utf-8") as f:
        lines = f.read().split("\n")
    at = {m[1]: i for i, line in enumerate(lines) for m in [re.match(r"table (\w+)", line)] if m}
    out = [INTRO]
    for name in members("CommandBody", lines):
        out += table(name, lines, at)
    out += ["# What library calls compute", "", "The members of `LibraryOperation`.", ""]
    for name in members("LibraryOperation", lines):
        out += table(name, lines, at)
    return "\n".join(out).rstrip() + "\n"


def members(union, lines):
    found = re.search(r"^union %s \{([^}]*)\}" % union, "\n".join(lines), re.M)
    return re.findall(r"\w+", found[1])


def table(name, lines, at):
    """The section of a table; `at` has the line that each begins at."""
    i = at[name]
    out = ["## `%s`" % name, ""]
    comment = comment_above(lines, i)
    if comment:
        out += ["```"] + comment + ["```", ""]
    rows = fields(lines, i)
    if rows:
        out += ["| field | type | |", "|---|---|---|"]
        out += ["| `%s` | `%s` | %s |" % (field, kind, cell(words)) for field, kind, words in rows] + [""]
    return out

"""The tools, from the comments at the heads of their sources; which of them a package has, from tools/run_tool.cc."""
import glob
import os
import re

import cpp
from flags import first_paragraph, read
from markdown import cell

INTRO = """# Tools

Programs that look into models, runs and data. `TOOL --help` explains a tool's flags; [flags.md](flags.md) has them
all. In the repository a tool is `bazel build //tools:NAME`, and `bazel-bin/tools/NAME` runs it.
"""


def row(root, name):
    file = "tools/%s.cc" % name.replace("-", "_")
    head, _, words = first_paragraph(cpp.head_comment(read(root, file))).partition(": ")
    if not words or head.split()[0] != name:
        raise SystemExit("tools/docs/tools.py: the comment at the head of %s does not begin with NAME: ..." % file)
    return "| `%s` | %s |" % (cell(head), cell(words[0].upper() + words[1:]))


def generate(root):
    installed = re.findall(r'^    \{"(tandem-\w+)", Tandem\w+\},$', read(root, "tools/run_tool.cc"), re.M)
    files = glob.glob(os.path.join(root, "tools", "tandem_*.cc"))
    others = sorted({os.path.basename(file)[:-len(".cc")].replace("_", "-") for file in files} - set(installed))
    out = [INTRO, "## Of an installed package", "", "| | |", "|---|---|"] + [row(root, name) for name in installed]
    out += ["", "## Of the repository only", "", "| | |", "|---|---|"] + [row(root, name) for name in others]
    return "\n".join(out) + "\n"

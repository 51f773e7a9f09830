"""The exit codes of programs, from base/exit_code.h."""
import os
import re

from markdown import cell

INTRO = """# Exit codes

A program of Tandem ends with one of these codes, from [base/exit_code.h](../../base/exit_code.h). Batch systems decide
by them whether to start a job again, so they are a part of the interface. [The guide](../guide/trust.md) says what to
do about each, and what a shell shows for a process that a signal ended.
"""


def generate(root):
    with open(os.path.join(root, "base/exit_code.h"), encoding="utf-8") as f:
        text = f.read()
    codes = re.findall(r"^inline constexpr int kExit(\w+) = (\d+);(?:\s*// (.*))?$", text, re.M)
    statuses = re.findall(r"^//   (\S.*?)\s+(\d+)$", text, re.M)
    if not codes or not statuses:
        raise SystemExit("tools/docs/exit_codes.py: base/exit_code.h does not look as expected")
    names = {code: name for name, code, _ in codes}
    unknown = [code for _, code in statuses if code not in names]
    if unknown:
        raise SystemExit("tools/docs/exit_codes.py: base/exit_code.h names no code %s" % unknown)
    out = [INTRO, "| code | name | |", "|---|---|---|"]
    out += ["| %s | `kExit%s` | %s |" % (code, name, cell(words)) for name, code, words in codes]
    out += ["", "## From a status to a code", "",
            "An `absl::Status` that was not marked with a code (`WithExitCode`) gets that of its kind.", "",
            "| status | code |", "|---|---|"]
    out += ["| %s | %s |" % (kinds, code) for kinds, code in statuses]
    return "\n".join(out) + "\n"

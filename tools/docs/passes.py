"""The pass reference, from the comments at the head of passes/*.cc, in the order of passes/pipeline.cc."""
import os
import re

INTRO = """# The passes

The compiler runs these passes on a graph, phase by phase; each phase ends with a verifier. `tandem-opt` runs a pass or the
pipeline on a file (`--help`); `tandem-dump --phase=NAME` shows a saved program as a phase left it.
What the forms mean that the passes turn into each other is told in [internals.md](../developers/internals.md), the ops in
[ops.md](ops.md); S0 to S4 and other terms are in the [glossary](../developers/glossary.md). `canonicalize` and `cse` are MLIR's own.
"""


def header(path):
    """The comment at a file's head, without the slashes."""
    lines = []
    for line in open(path, encoding="utf-8"):
        if not line.startswith("//"):
            break
        lines.append(line[2:].rstrip("\n").removeprefix(" ").rstrip())
    return lines


def markdown(lines):
    """Paragraphs stay; lines that are indented in the comment (examples) become a block of code."""
    out, code = [], False
    for i, line in enumerate(lines):
        following = next((l for l in lines[i:] if l), "")
        indented = line.startswith("  ") or (not line and code and following.startswith("  "))
        if indented != code:
            out += ["```"] if not indented or not out or out[-1] == "" else ["", "```"]
            if code and line:
                out.append("")
            code = indented
        out.append(line[2:] if indented and line else line)
    if code:
        out.append("```")
    return out


def constructors(root):
    """createXPass -> (file, lines of the head)."""
    found = {}
    folder = os.path.join(root, "passes")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".cc") or name.endswith("_test.cc"):
            continue
        text = open(os.path.join(folder, name), encoding="utf-8").read()
        for m in re.finditer(r"^std::unique_ptr<mlir::Pass> (create\w+Pass)\(", text, re.M):
            found[m[1]] = (name, header(os.path.join(folder, name)))
    return found


def phases(root):
    """[(phase, summary, comment, [constructor])] as MakePhases lists them."""
    text = open(os.path.join(root, "passes/pipeline.cc"), encoding="utf-8").read()
    body = text[text.index("MakePhases() {"):]
    body = body[:body.index("\n}\n")]
    result = []
    pieces = re.split(r"phases\.push_back\(", body)
    for before, piece in zip(pieces, pieces[1:]):
        m = re.search(r'\{\s*"(\w+)",\s*"([^"]*)"', piece)
        tail = []
        for line in reversed(before.rstrip().split("\n")):
            if not line.strip().startswith("//"):
                break
            tail.insert(0, line.strip()[2:].strip())
        result.append((m[1], m[2], " ".join(tail), re.findall(r"(create\w+Pass)\(", piece)))
    return result


def generate(root):
    known = constructors(root)
    out = [INTRO]
    listed = set()
    for phase, summary, why, passes in phases(root):
        out += ["## Phase `%s`: %s" % (phase, summary), ""]
        if why:
            out += [why, ""]
        out += ["Passes: " + ", ".join(
            "`canonicalize`" if p == "createCanonicalizerPass" else "`cse`" if p == "createCSEPass" else
            "`td-verify-%s`" % phase if p == "createVerifyPhasePass" else "`%s`" % title(known, p)[0] for p in passes) + ".", ""]
        for p in passes:
            if p in ("createCanonicalizerPass", "createCSEPass", "createVerifyPhasePass") or p in listed:
                continue
            listed.add(p)
            name, what = title(known, p)
            out += ["### `%s`" % name, "", what, ""] + markdown(rest(known[p][1]))
            while out[-1] == "":
                out.pop()
            out += ["", "Source: [passes/%s](../../passes/%s)" % (known[p][0], known[p][0]), ""]
    name, lines = known["createVerifyPhasePass"]
    out += ["## The verifiers", ""] + markdown(lines) + ["", "Source: [passes/%s](../../passes/%s)" % (name, name), ""]
    missing = set(known) - listed - {"createVerifyPhasePass"}
    if missing:
        raise SystemExit("tools/docs/passes.py: not in passes/pipeline.cc: %s" % sorted(missing))
    return "\n".join(out).rstrip().replace("\n\n\n", "\n\n") + "\n"


def rest(lines):
    """What follows the first paragraph."""
    return lines[lines.index("") + 1:] if "" in lines else []


def title(known, constructor):
    """(argument, what it does) from the first paragraph, "// td-NAME: what it does."."""
    if constructor not in known:
        raise SystemExit("tools/docs/passes.py: no definition of %s in passes/*.cc" % constructor)
    name, lines = known[constructor]
    text = []
    for i, line in enumerate(lines):
        if not line:
            break
        text.append(line)
    m = re.match(r"(td-[\w-]+): (.*)", " ".join(text))
    if not m:
        raise SystemExit('passes/%s: start the file with "// td-NAME: what the pass does."' % name)
    return m[1], m[2][:1].upper() + m[2][1:]

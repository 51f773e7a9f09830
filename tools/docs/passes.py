"""The pass reference, from passes/Passes.td, by the phases that //tools/docs:print_phases lists."""
import json
import os
import subprocess
import textwrap

INTRO = """# The passes

The compiler runs these passes on a graph, phase by phase; each phase ends with a verifier. `tandem-opt` runs a pass
(`--td-schedule`), a phase (`--td-phase-layout`), a list of both (`--pass-pipeline`) or all phases on a file
(`--help`); `tandem-dump --phase=NAME` shows a saved program as a phase left it.
What the forms mean that the passes turn into each other is told in [internals.md](../developers/internals.md), the
ops in [ops.md](ops.md); S0 to S4 and other terms are in the [glossary](../developers/glossary.md). `canonicalize` and `cse` are MLIR's own.
"""


def read_phases(root):
    """[{name, summary, why, passes}] in order; in a test the program lies beside this file, otherwise it is built."""
    program = os.path.join(root, "tools/docs/print_phases")
    if not os.path.exists(program):
        subprocess.run(["bazel", "build", "//tools/docs:print_phases"], cwd=root, check=True)
        program = os.path.join(root, "bazel-bin/tools/docs/print_phases")
    return json.loads(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


def read_passes(root):
    """argument -> record."""
    out = subprocess.run(["/usr/bin/llvm-tblgen-19", "--dump-json", "-I", "/usr/lib/llvm-19/include",
                          os.path.join(root, "passes/Passes.td")], check=True, capture_output=True, text=True)
    records = json.loads(out.stdout)
    return {records[name]["argument"]: records[name] for name in records["!instanceof"]["Pass"]}


def pass_text(record, phase):
    argument = record["argument"]
    verifies = "VerifyPhasePass" in record["!superclasses"]
    folder = "contraction" if argument.endswith("-contractions") and phase != "fusion" else "phases/" + phase
    folder = "attention" if argument.endswith("-attention") else folder
    source = "pipeline/verify_phase" if verifies else folder + "/" + argument[3:].replace("-", "_")
    return ["### `%s`" % argument, "", *textwrap.wrap(record["summary"] + ".", 120, break_on_hyphens=False), "",
            textwrap.dedent(record["description"].lstrip("\n")).rstrip(), "",
            "Source: [passes/%s.cc](../../passes/%s.cc)" % (source, source), ""]


def generate(root):
    records = read_passes(root)
    out, described = [INTRO], set()
    for phase in read_phases(root):
        out += ["## Phase `%s`: %s" % (phase["name"], phase["summary"]), ""]
        if phase["why"]:
            out += textwrap.wrap(phase["why"], 120) + [""]
        out += textwrap.wrap("Passes: " + ", ".join("`%s`" % p for p in phase["passes"]) + ".", 120,
                             break_on_hyphens=False) + [""]
        for argument in phase["passes"]:
            # A pass of several phases is described where it runs first.
            if argument not in ("canonicalize", "cse") and argument not in described:
                described.add(argument)
                out += pass_text(records[argument], phase["name"])
    if described != set(records):
        raise SystemExit("passes/pipeline/phases.cc: no phase runs %s" % sorted(set(records) - described))
    return "\n".join(out).rstrip() + "\n"

"""The flags of programs: TANDEM_FLAGS from passes/pipeline/tandem_flags.*, those of samples from ABSL_FLAG, of tools from
their tables (base/flag_table.h) or cl::opt.
"""
import glob
import os
import re

import cpp
from markdown import cell

INTRO = """# Flags

The flags of the compiler in any program, of the samples and of the tools, from their definitions. `PROGRAM --help`
prints a program's own.
"""

# Program and the file that defines its flags, in this order. Every file of samples/ and tools/ with flags must be here.
PROGRAMS = [
    ("samples/fashion_mnist", "samples/fashion_mnist.cc"),
    ("samples/mnist_estimator", "samples/mnist_estimator.cc"),
    ("samples/linear_estimator", "samples/linear_estimator.cc"),
    ("samples/classify_pictures", "samples/classify_pictures.cc"),
    ("samples/horovod_mnist", "samples/horovod_mnist.cc"),
    ("samples/multi_gpu_keras", "samples/multi_gpu_keras.cc"),
    ("samples/keras_tfrecord", "samples/keras_tfrecord.cc"),
    ("samples/oct_vgg16", "samples/oct_vgg16.cc"),
    ("samples/fine_tune", "samples/fine_tune.cc"),
    ("tandem-dump", "tools/tandem_dump.cc"),
    ("tandem-devices", "tools/tandem_devices.cc"),
    ("tandem-plot", "tools/tandem_plot.cc"),
    ("tandem-run", "tools/tandem_run.cc"),
    ("tandem-onnx", "tools/tandem_onnx.cc"),
    ("tandem-stablehlo", "tools/tandem_stablehlo.cc"),
    ("tandem-serve", "tools/tandem_serve.cc"),
    ("tandem-opt", "tools/tandem_opt.cc"),
    ("tandem-scale", "tools/tandem_scale.cc"),
    ("tandem-calibrate", "tools/tandem_calibrate.cc"),
    ("tandem-launch", "tools/tandem_launch.cc"),
    ("tandem-records", "tools/tandem_records.cc"),
    ("tandem-checkpoint", "tools/tandem_checkpoint.cc"),
    ("tandem-textures", "tools/tandem_textures.cc"),
]
COMMON = "estimator/flags/run_config_flags.cc"
EVALUATION = "estimator/flags/eval_flags.cc"
REPLAY = "estimator/replay/replay_request.cc"
# With constants that definitions of flags name.
HEADERS = ["estimator/flags/run_config_flags.h", "samples/exporters.h", "data/fashion_mnist.h"]
SHORT_TYPES = {"std::string": "string", "std::vector<std::string>": "list", "std::optional<int64_t>": "int64_t"}


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read()


def compiler_flags(root):
    """Rows of TANDEM_FLAGS: names from the table in tandem_flags.cc, what they do from the comment in tandem_flags.h, or
    from tandem-opt, which has the same options.
    """
    shared = {name: what for name, _, _, what in llvm_flags(read(root, "tools/tandem_opt.cc"))}
    table = re.findall(r'^    \{"(--[\w-]+)", "([^"]*)"', read(root, "passes/pipeline/tandem_flags.cc"), re.M)
    words = {}
    for line in cpp.comment_lines(re.findall(r"^//  .*", read(root, "passes/pipeline/tandem_flags.h"), re.M)):
        names = re.findall(r"--([\w-]+)(=\w+)?", line) if line.strip().startswith("--") else None
        if names:
            rest = re.sub(r"^(\s*--[\w-]+(=\w+)?)+", "", line).strip()
            current = ["--" + name for name, _ in names]
            for name, value in names:
                words["--" + name] = [value, rest or shared.get(name, "")]
        else:  # names that share a line share the explanation below it
            for name in current:
                words[name][1] += " " + line.strip()
    if set(words) != {name for name, _ in table}:
        raise SystemExit("passes/pipeline/tandem_flags.h and .cc do not have the same flags: %s" %
                         sorted(set(words) ^ {name for name, _ in table}))
    return ["| `%s%s` | `%s%s` | %s |" % (name, words[name][0], name, "=" + example if example else "",
                                         cell(words[name][1])) for name, example in table]


def row(kind, name, default, words, constants):
    """Row (name, type, default, help) of a flag, from the source text of its definition."""
    values = []
    for source in (default, words):
        constant = source.rsplit("::", 1)[-1]
        values.append(constants[constant] if constant in constants else cpp.strings(source))
    if values[1] is None:
        raise SystemExit("tools/docs/flags.py: the help of --%s is no string: %s" % (name, words))
    shown = default if values[0] is None else values[0]
    return (name, SHORT_TYPES.get(kind, kind), "" if shown == "{}" else shown, values[1])


def absl_flags(text, constants):
    """Rows of the ABSL_FLAG definitions in `text`."""
    return [row(*cpp.arguments(text, m.end() - 1), constants) for m in re.finditer(r"^ABSL_FLAG\(", text, re.M)]


def table_flags(text, constants):
    """Rows of the fields of a FlagTable in `text`."""
    rows = []
    for m in re.finditer(r"^  Flag<(.+)> (\w+)\{", text, re.M):
        _, name, default, words = cpp.arguments(text, m.end() - 1)
        if cpp.strings(name) != m[2]:
            raise SystemExit("tools/docs/flags.py: the field %s is the flag %s" % (m[2], name))
        rows.append(row(m[1], m[2], default, words, constants))
    return rows


def llvm_flags(text):
    """The same of the cl::opt and cl::list definitions."""
    rows = []
    for m in re.finditer(r"^cl::(opt|list)<([\w:]+)> \w+\(", text, re.M):
        args = cpp.arguments(text, m.end() - 1)
        described = {a.partition("(")[0]: a for a in args}
        words = described["cl::desc"]
        kind = SHORT_TYPES.get(m[2], m[2]) + (", may be repeated" if m[1] == "list" else "")
        rows.append((cpp.strings(args[0]), kind, "", cpp.strings(words[words.index("(") + 1:-1])))
    return rows


def first_paragraph(lines):
    return " ".join(lines[:lines.index("")] if "" in lines else lines)


def table(rows):
    out = ["| flag | type | default | |", "|---|---|---|---|"]
    for name, kind, default, words in rows:
        out.append("| `--%s` | %s | %s | %s |" % (name, kind, "`%s`" % cell(default) if default else "", cell(words)))
    return out + [""]


def generate(root):
    defining = {os.path.relpath(path, root) for folder in ("samples", "tools", "estimator/flags")
                for path in glob.glob(os.path.join(root, folder, "*.cc"))
                if not path.endswith("_test.cc")
                and re.search(r"^(ABSL_FLAG\(|  Flag<|cl::opt<)", read(root, os.path.relpath(path, root)), re.M)}
    listed = {file for _, file in PROGRAMS} | {COMMON, EVALUATION}
    if defining != listed:
        raise SystemExit("tools/docs/flags.py: PROGRAMS does not list %s" % sorted(defining ^ listed))
    constants = {}
    for header in HEADERS:
        constants.update(cpp.string_constants(read(root, header)))
    out = [INTRO, "## The compiler, in any program: `TANDEM_FLAGS`", "",
           "The environment variable holds options, separated by spaces; each may be repeated. An example:",
           '`TANDEM_FLAGS="--print-ir-after=td-form-fusions --disable-pass=td-schedule"`.', "",
           "| option | example | |", "|---|---|---|"] + compiler_flags(root) + [""]
    out += ["## All samples: `estimator/flags`", ""] + table(absl_flags(read(root, COMMON), constants))
    out += ["## Samples with `TrainAndEvaluate`: `fashion_mnist`, `mnist_estimator`", ""]
    out += table(absl_flags(read(root, EVALUATION), constants))
    out += ["## All programs with an Estimator and `RunProgram`", ""] + table(absl_flags(read(root, REPLAY), constants))
    for program, file in PROGRAMS:
        text = read(root, file)
        out += ["## `%s`" % program, ""] + [first_paragraph(cpp.head_comment(text)), ""]
        out += table(absl_flags(text, constants) + table_flags(text, constants) + llvm_flags(text))
    return "\n".join(out).rstrip() + "\n"

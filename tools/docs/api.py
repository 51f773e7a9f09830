"""The reference of the API, docs/reference/api: what the headers for users declare, with their comments."""
import functools
import re
import textwrap

import headers
from markdown import COLUMNS, cell

FOLDER = "docs/reference/api/"
# Page, title, and the headers on it. Every header that tandem.h reaches must be here, but for those without
# declarations.
TOPICS = [
    ("graph_ops", "Ops", ["graph/ops.h"]),
    ("graph", "Graphs, tensors and variables",
     ["graph/tensor.h", "graph/graph_builder.h", "graph/padding.h", "graph/logits.h", "base/initializer.h"]),
    ("layers", "Layers",
     ["frontends/layers.h", "frontends/activations.h", "frontends/initializers.h", "frontends/regularizers.h"]),
    ("losses", "Losses", ["frontends/losses.h"]),
    ("metrics", "Metrics", ["frontends/metrics.h"]),
    ("optimizers", "Optimizers and schedules",
     ["frontends/optimizers.h", "frontends/schedules.h", "frontends/optimizer.h", "frontends/clipping.h",
      "base/moving_average_name.h"]),
    ("summary", "Summaries", ["frontends/summary.h"]),
    ("estimator", "Estimator and model_fn",
     ["estimator/estimator.h", "estimator/model/estimator_spec.h", "estimator/model/features.h",
      "estimator/model/labels.h", "estimator/config/mode.h", "estimator/config/params.h"]),
    ("run_config", "RunConfig and strategies",
     ["estimator/config/run_config.h", "estimator/config/strategy.h", "estimator/config/auto_shard.h",
      "estimator/config/keep_best.h", "estimator/config/metric_direction.h", "estimator/config/warm_start_settings.h",
      "base/precision.h", "base/communication.h", "estimator/flags/run_config_flags.h",
      "estimator/flags/eval_flags.h"]),
    ("train_and_evaluate", "Training with evaluations",
     ["estimator/train_and_evaluate.h", "estimator/continuous_eval.h", "estimator/early_stopping.h",
      "estimator/exporter.h", "estimator/evaluation/reduce_on_plateau.h", "estimator/evaluation/eval_result.h",
      "estimator/evaluation/eval_log.h", "estimator/evaluation/best_record.h"]),
    ("hooks", "Hooks and loops",
     ["estimator/loop/session_run_hook.h", "estimator/monitored_training_session.h", "estimator/loop/hook_state.h",
      "estimator/loop/step_scalar_settings.h", "estimator/loop/variable_access.h", "estimator/loop/stop_reason.h",
      "estimator/hooks/checkpoint_saver_hook.h", "estimator/hooks/clock.h"]),
    ("predict", "Predictions and exported models",
     ["estimator/predictor.h", "estimator/serving/model.h", "estimator/serving/tensor_signature.h",
      "estimator/serving_input.h", "estimator/onnx/export_onnx.h", "estimator/stablehlo/export_stablehlo.h"]),
    ("data", "Datasets",
     ["data/dataset.h", "data/element.h", "data/component_buffer.h", "data/input_context.h", "data/list_files.h",
      "data/vocabulary.h", "data/throughput.h"]),
    ("data_files", "Files of data",
     ["data/files/record_reader.h", "data/files/record_writer.h", "data/files/example.h",
      "data/files/sequence_example.h", "data/files/csv.h", "data/files/npy.h", "data/files/write_npz.h", "data/idx.h",
      "data/fashion_mnist.h", "data/files/compression.h", "data/files/input_file.h", "data/files/regular_file.h",
      "data/files/block_buffer.h", "data/files/inflate_stream.h"]),
    ("images", "Pictures",
     ["data/image/decode_image.h", "data/image/decode_options.h", "data/image/decode_resize.h", "data/image/resize.h",
      "data/image/normalize.h", "data/image/random_image.h", "data/image/rotate.h"]),
    ("keras", "Models as objects",
     ["estimator/keras/model.h", "estimator/keras/data.h", "estimator/keras/logs.h", "estimator/keras/callback.h",
      "estimator/keras/callbacks.h", "estimator/keras/applications.h", "estimator/keras/load_model.h",
      "estimator/keras/files/load_weights.h", "frontends/keras/utils.h", "frontends/keras/summary.h"]),
    ("keras_layers", "Layers as objects",
     ["frontends/keras/layers.h", "frontends/keras/layer.h", "frontends/keras/keras_tensor.h",
      "frontends/keras/padding_name.h"]),
    ("keras_compile", "Losses, metrics and optimizers of compiled models",
     ["frontends/keras/losses.h", "frontends/keras/metrics.h", "frontends/keras/optimizers.h",
      "frontends/keras/optimizer.h", "frontends/keras/schedules.h", "frontends/part_config.h"]),
    ("cluster", "Devices and clusters",
     ["estimator/devices.h", "base/cross_device_ops.h", "cluster/cluster.h", "cluster/tls_files.h",
      "estimator/horovod/horovod.h", "base/cpu_info.h", "base/loaded_library.h"]),
    ("base", "Programs, files, tensors in memory, errors",
     ["base/program.h", "base/owned_process.h", "base/flags.h", "base/host_tensor.h", "base/named_tensors.h", "base/dtype.h",
      "base/status_macros.h", "base/exit_code.h", "base/logging.h", "base/env.h", "base/text_file.h",
      "base/output_file.h", "base/source_location.h", "base/process_start.h", "base/non_finite_name.h"]),
]
PAGES = [FOLDER + "README.md", FOLDER + "names.md"] + [FOLDER + page + ".md" for page, _, _ in TOPICS]
WITHOUT_DECLARATIONS = ["base/api.h", "tandem.h"]

INDEX = """# The API

What `#include "tandem/tandem.h"` declares, from the headers. All names are in the namespace `tandem`. Each page has the
declarations of some headers with their comments, and links to their lines; [names.md](names.md) is an index of all
names. How the parts go together is in the [guide](../../guide/README.md).

Left out of the declarations are bodies, what is private, and the last argument of many functions,
`SourceLocation loc`: its default is the caller's line, which errors name. How a call fails depends on its kind: one
that reads files or runs programs returns a status, one that builds a graph an empty tensor and a status that the
Estimator returns, one that builds a pipeline a dataset with a status
([rules](../../developers/api_style.md#calls-that-can-fail)).
"""
NAMES = """# Names of the API

Functions, classes, enumerations, constants, aliases and macros by their names in the namespace `tandem`.
"""
MAX_HEADING = 90


def escaped(line):
    """A line of a comment as Markdown, which would take some characters for its own."""
    parts = line.split("`")
    parts[::2] = [re.sub(r"<|(?<! )\*|\*(?! )|\\(?=[^\w\s])", r"\\\g<0>", part) for part in parts[::2]]
    line = re.sub(r"^(\d*)([-+>#.])(?= )", r"\1\\\2", "`".join(parts))
    return re.sub(r"(?<![\w/.`])docs/((?:\w+/)*(\w+\.md))(#[\w-]+)?", r"[\2](../../\1\3)", line)


def prose(comment):
    """Lines of Markdown. What a comment indents is code, or lines that must stay lines."""
    out, code = [], []
    for line in comment + [""]:
        if line.startswith("  "):
            code.append(line)
            continue
        if code:
            language = "cpp" if any(re.search(r"[;{]$", c) for c in code) else ""
            out += ([""] if out and out[-1] else []) + ["```" + language]
            out += textwrap.dedent("\n".join(code)).split("\n") + ["```"]
            code = []
        out.append(escaped(line))
    while out and not out[-1]:
        out.pop()
    return out


def link(path, line, text):
    return "[%s](../../../%s#L%d)" % (text, path, line)


def wrapped(text):
    """A declaration in lines, which end behind commas where they can."""
    lines = [""]
    for piece in re.split(r"(?<=,) ", text):
        if lines[-1] and len(lines[-1]) + 1 + len(piece) > COLUMNS:
            lines.append("   ")
        lines[-1] += " " + piece if lines[-1] else piece
    return [part for line in lines for part in textwrap.wrap(
        line, COLUMNS, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)]


def signatures(declarations):
    """The declarations as code, each with the comment behind it."""
    out = ["```cpp"]
    for d in declarations:
        lines = wrapped(d.text)
        behind = "; ".join((["for derived classes"] if d.protected else []) + ([d.behind] if d.behind else []))
        if behind and len(lines[-1]) + len(behind) + 5 <= COLUMNS:
            lines[-1] += "  // " + behind
        elif behind:
            lines = textwrap.wrap(behind, COLUMNS, initial_indent="// ", subsequent_indent="// ") + lines
        out += lines
    return out + ["```"]


def group_text(path, group, place):
    """A group as code, its comment, and a link that reads `place` and the line."""
    line = group.declarations[0].line
    comment = prose(group.comment)
    tail = link(path, line, "%s:%d" % (place, line))
    if comment and comment[-1] == "```":
        comment.append("")
    return signatures(group.declarations) + comment + [tail, ""]


def table(groups):
    """Fields or enumerators."""
    rows = ["| | |", "|---|---|"]
    for group in groups:
        for i, d in enumerate(group.declarations):
            comment = " ".join(([" ".join(group.comment)] if i == 0 and group.comment else []) +
                               ([d.behind] if d.behind else []))
            rows.append("| `%s` | %s |" % (cell(d.text.rstrip(";")), cell(escaped(comment))))
    return rows + [""]


def class_text(path, declaration, comment, level):
    out = ["%s `%s`" % ("#" * level, declaration.text.rstrip(";")), ""]
    out += prose(comment or declaration.taken_by) + ([declaration.behind] if declaration.behind else [])
    if out[-1] == "```":
        out.append("")
    out += [link(path, declaration.line, "%s:%d" % (path, declaration.line)), ""]
    fields = []
    for group in declaration.groups + [None]:
        if group and group.declarations and all(d.kind in ("variable", "enumerator") for d in group.declarations):
            fields.append(group)
            continue
        if fields:
            out += table(fields)
            fields = []
        if group is None:
            return out
        if not group.declarations:
            out += prose(group.comment) + [""]
        elif group.declarations[0].kind in ("class", "enum"):
            out += class_text(path, group.declarations[0], group.comment, level + 1)
        else:
            out += group_text(path, group, "")
    return out


def heading(group):
    """The heading of a group in a namespace."""
    first = group.declarations[0]
    if first.kind in ("class", "enum"):
        scope = first.name.rpartition("::")[0]
        text = re.sub(r"\b((?:class|struct) |enum (?:class )?)(\w+)",
                      lambda m: m[1] + (scope + "::" if scope else "") + m[2], first.text, count=1)
        return "`%s`" % text
    names = list(dict.fromkeys(d.name for d in group.declarations))
    while len(", ".join(names)) > MAX_HEADING:
        names = names[:-2] + ["..."]
    return ", ".join(name if name == "..." else "`%s`" % name for name in names)


def anchor(title, taken):
    """The anchor that a heading gets on a page with those in `taken`."""
    slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    taken[slug] = taken.get(slug, -1) + 1
    return slug if taken[slug] == 0 else "%s-%d" % (slug, taken[slug])


def functions(groups):
    """All functions in groups, also those of classes."""
    for group in groups:
        for d in group.declarations:
            if d.kind == "function":
                yield d
            yield from functions(d.groups)


def note_users(header):
    """Says of structs without a comment which functions take them: options, mostly."""
    for group in header.groups:
        for d in group.declarations if not group.comment else []:
            if d.kind == "class":
                scope, _, name = d.name.rpartition("::")
                users = [re.sub(r"(\w+)::\1$", r"\1", f.name) for f in functions(header.groups)
                         if re.search(r"\(.*\b%s\b" % name, f.text) and not f.name.startswith(d.name)]
                users = list(dict.fromkeys("`%s`" % user for user in users))
                d.taken_by = ["For %s." % ", ".join(users)] if users else []


@functools.lru_cache
def all_headers(root):
    """{path: Header} of all topics."""
    reached = set(headers.public_headers(root)) - set(WITHOUT_DECLARATIONS)
    listed = [path for _, _, paths in TOPICS for path in paths]
    if reached != set(listed) or len(listed) != len(reached):
        raise SystemExit("tools/docs/api.py: TOPICS has not each header that tandem.h reaches once: %s" %
                         sorted(reached ^ set(listed) or {p for p in listed if listed.count(p) > 1}))
    found = {path: headers.read(root, path) for path in listed}
    for header in found.values():
        note_users(header)
    return found


def topic_text(root, title, paths, entries=None):
    """A page. `entries` gets (name, anchor) of every declaration in a namespace."""
    out, taken = ["# " + title, ""], {}
    anchor(title, taken)
    for path in paths:
        header = all_headers(root)[path]
        out += ["## tandem/" + path, ""] + prose(header.comment) + [""]
        anchor("tandem/" + path, taken)
        for group in header.groups:
            if not group.declarations:
                out += prose(group.comment) + [""]
                continue
            title = heading(group)
            place = anchor(title, taken)
            if entries is not None:
                entries += [(d.name, place) for d in group.declarations]
            if group.declarations[0].kind in ("class", "enum"):
                out += ["### " + title] + class_text(path, group.declarations[0], group.comment, 3)[1:]
            else:
                out += ["### " + title, ""] + group_text(path, group, path)
    return "\n".join(out).rstrip() + "\n"


def index_text(root):
    out = [INDEX, "| page | headers |", "|---|---|"]
    for page, title, paths in TOPICS:
        names = ", ".join("`%s`" % path for path in paths)
        out.append("| [%s](%s.md) | %s |" % (title, page, names))
    return "\n".join(out) + "\n"


def names_text(root):
    places = {}
    for page, title, paths in TOPICS:
        entries = []
        topic_text(root, title, paths, entries)
        for name, place in entries:
            places.setdefault(name, "%s.md#%s" % (page, place))
    out, letter = [NAMES], None
    for name in sorted(places, key=lambda n: (n.rpartition("::")[2].lower(), n)):
        first = name.rpartition("::")[2][0].upper()
        if first != letter:
            letter = first
            out += ["", "**%s**" % letter] if letter.isalpha() else ["", "**operators**"] if letter == "O" else [""]
        out.append("[`%s`](%s)" % (name, places[name]))
    return "\n".join(out) + "\n"


def generate(page, root):
    """The text of one of PAGES."""
    name = page.removeprefix(FOLDER).removesuffix(".md")
    if name in ("README", "names"):
        return index_text(root) if name == "README" else names_text(root)
    title, paths = next((title, paths) for topic, title, paths in TOPICS if topic == name)
    return topic_text(root, title, paths)

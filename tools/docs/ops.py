"""The op reference, from graph/ir/*.td and passes/exec/*.td."""
import json
import os
import re
import subprocess
import textwrap

# For each dialect one section per op family, in this order; (file, title). Every .td file with ops must be here.
TD_FAMILIES = [
    ("state", "Variables, inputs and outputs"),
    ("unary", "Elementwise, one operand"),
    ("activation", "Activations"),
    ("binary", "Elementwise, two operands"),
    ("shape", "Shapes and positions"),
    ("gather", "Rows by index"),
    ("reduce", "Reductions"),
    ("contract", "Matmul and convolution"),
    ("attention", "Attention"),
    ("pool", "Pooling"),
    ("norm", "Softmax, cross-entropy, batch moments and layer norm"),
    ("random", "Random numbers"),
    ("update", "Optimizer updates"),
    ("dist", "What replicas agree on"),
]
EXEC_FAMILIES = [
    ("ops", "Maps, launches, calls and collectives"),
    ("attention", "Attention in generated kernels"),
    ("contraction", "Contractions in generated kernels"),
    ("winograd", "Convolutions by fewer multiplications"),
]
# (dialect, folder, families, .td files without ops)
DIALECTS = [
    ("td", "graph/ir", TD_FAMILIES, ("td_base", "interfaces", "attributes")),
    ("exec", "passes/exec", EXEC_FAMILIES, ("exec_base", "algorithm", "attributes", "command", "enums", "format")),
]

# The names of constraints, as a reader of the IR knows them.
TYPES = {
    "Td_Tensor": "any tensor",
    "Td_FloatTensor": "f32 or f64 tensor",
    "Td_Float32Tensor": "f32 tensor",
    "Td_IntTensor": "i32 or i64 tensor",
    "Td_NumericTensor": "f32, f64, i32 or i64 tensor",
    "Td_BoolTensor": "i1 tensor",
    "Td_Int64Scalar": "i64 scalar",
    "Exec_Tensor": "any tensor",
    "Exec_FloatTensor": "f32 or f64 tensor",
    "Exec_Float32Tensor": "f32 tensor",
    "BoolAttr": "bool",
    "StrAttr": "string",
    "StrArrayAttr": "strings",
    "I64Attr": "i64",
    "F64Attr": "f64",
    "F64ArrayAttr": "f64 numbers",
    "DenseI64ArrayAttr": "i64 numbers",
    "ElementsAttr": "elements",
    "UnitAttr": "flag",
    "TypeAttr": "type",
    "SymbolNameAttr": "symbol name",
    "FlatSymbolRefAttr": "symbol",
    "DictionaryAttr": "dictionary",
}

INTRO = """# The ops

There are two dialects: `td` holds what a model is made of, `exec` what a compiled step is made of.
A graph is an MLIR function over `td` ops with value semantics: an op never writes to its operands. Tensors are MLIR's ranked
tensors; `?` may stand in dimension 0 only and is the batch, whose size is known at run time. Shapes never broadcast by
themselves: the functions of [graph/ops.h](../../graph/ops.h), with which a model is written, insert `td.broadcast`.

The property column of the table below:
**d** differentiable (through the op itself or the ops that it decomposes into);
**f** can be part of a generated (fused) kernel; **l** runs as a primitive of a kernel library;
**c** composite, taken apart by `td-decompose`; **u** may write its result over an operand.
"""


def read_records(root, folder, family):
    out = subprocess.run(
        ["/usr/bin/llvm-tblgen-19", "--dump-json", "-I", root, "-I", "/usr/lib/llvm-19/include",
         os.path.join(root, folder, family + ".td")], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def enum_cases(records, attribute):
    """{C++ name: word} of an enumeration."""
    cases = [records[c["def"]] for c in records[attribute["enum"]["def"]]["enumerants"]]
    return {case["symbol"]: case["str"] for case in cases}


def default_value(records, attribute):
    base = records[attribute["baseAttr"]["def"]]
    value = attribute["defaultValue"].replace('\\"', '"')
    if "EnumAttr" in base["!superclasses"]:
        return enum_cases(records, base)[value.rpartition("::")[2]]
    return value


def constraint(records, name):
    """A constraint in words; wrappers (optional, default, variadic) are taken off."""
    if name in TYPES:
        return TYPES[name]
    r = records[name]
    supers = r["!superclasses"]
    if "Variadic" in supers:
        return "any number, " + constraint(records, r["baseType"]["def"])
    if "DefaultValuedAttr" in supers or "DefaultValuedOptionalAttr" in supers:
        return "%s, default %s" % (constraint(records, r["baseAttr"]["def"]), default_value(records, r))
    if "OptionalAttr" in supers:
        return "%s, optional" % constraint(records, r["baseAttr"]["def"])
    if "EnumAttr" in supers:
        return "%s (%s)" % (r["summary"], ", ".join(enum_cases(records, r).values()))
    return r["summary"]


def prose(text):
    """A description without the indentation of the .td file."""
    if not text or not text.strip():
        return ""
    head, newline, rest = text.partition("\n")
    return (head.strip() + "\n" + textwrap.dedent(rest)).strip() if newline else text.strip()


def properties(records, op):
    interfaces = {records[t["def"]].get("cppInterfaceName") or "" for t in op["traits"] if t["def"] in records}
    marks = [("GradientOp", "d"), ("ElementalOp", "f"), ("LibraryOp", "l"), ("DecomposeOp", "c"), ("TiedOp", "u")]
    return " ".join(mark for name, mark in marks if name in interfaces)


def line_of(op):
    return int(op["!locs"][0].rsplit(":", 1)[1])


def rows(records, dag, wanted):
    table = []
    for value, name in dag["args"]:
        is_attr = "Attr" in records[value["def"]]["!superclasses"]
        if is_attr == (wanted == "attribute"):
            table.append("| %s | `%s` | %s |" % (wanted, name, constraint(records, value["def"]).replace("|", "\\|")))
    return table


def sentence(summary):
    """With a capital and a full stop; a summary that starts with a formula stays as it is."""
    words = re.match(r"(a|[a-z]{2,}),? [a-z`]", summary)
    return (summary[:1].upper() + summary[1:] if words else summary).rstrip(".") + "."


def op_text(records, name, op):
    text = ["### `%s`" % name, "", sentence(op["summary"]), ""]
    description = prose(op["description"])
    if "```" not in (description or ""):  # no example: the syntax at least
        syntax = " ".join(op["assemblyFormat"].replace("`", "").split()).replace(" ,", ",")
        description = (description + "\n\n" if description else "") + "Syntax: `%s %s`" % (name, syntax)
    if description:
        text += [description, ""]
    table = (rows(records, op["arguments"], "operand") + rows(records, op["arguments"], "attribute") +
             rows(records, op["results"], "result"))
    if table:
        text += ["| | name | type |", "|---|---|---|"] + table + [""]
    return text


def attributes_text(root, dialect, folder):
    """The attributes of a dialect that have a description."""
    records = read_records(root, folder, "attributes")
    text = ["## Attributes of `%s`" % dialect, "",
            "Defined in [%s/attributes.td](../../%s/attributes.td)." % (folder, folder), ""]
    for attribute in sorted((records[a] for a in records["!instanceof"]["AttrDef"]), key=line_of):
        if attribute["description"].strip():
            text += ["### `#%s.%s`" % (dialect, attribute["mnemonic"]), "", sentence(attribute["summary"]), "",
                     prose(attribute["description"]), ""]
    return text


def generate(root):
    index, body = ["| op | what it is | |", "|---|---|---|"], []
    for dialect, folder, families, base in DIALECTS:
        files = {f[:-3] for f in os.listdir(os.path.join(root, folder)) if f.endswith(".td")}
        unknown = files - {f for f, _ in families} - set(base)
        if unknown:
            raise SystemExit("tools/docs/ops.py: add the op families %s of %s" % (sorted(unknown), folder))
        for family, title in families:
            records = read_records(root, folder, family)
            ops = sorted((records[o] for o in records["!instanceof"]["Op"]), key=line_of)
            body += ["## " + title, "", "Defined in [%s/%s.td](../../%s/%s.td)." % (folder, family, folder, family), ""]
            for op in ops:
                name = "%s.%s" % (dialect, op["opName"])
                if not op["summary"].strip():
                    raise SystemExit("%s.td: %s has no summary" % (family, name))
                index.append("| [`%s`](#%s) | %s | %s |" % (
                    name, re.sub(r"[^a-z0-9_-]", "", name), op["summary"].replace("|", "\\|"),
                    properties(records, op)))
                body += op_text(records, name, op)
    for dialect, folder, _, _ in DIALECTS:
        body += attributes_text(root, dialect, folder)
    return INTRO + "\n" + "\n".join(index) + "\n\n" + "\n".join(body).rstrip() + "\n"

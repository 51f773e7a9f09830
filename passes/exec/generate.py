"""generate.py WHAT RECORDS: prints what the dialect has of runtime/format/index.td.

WHAT:
  enums       the format's enumerations in the dialect: their words, and a parser
  header      declarations of the conversions between attributes and structs
  source      the conversions
RECORDS: those of attributes.td as JSON (llvm-tblgen --dump-json).
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/build"))
import schema as reading  # noqa: E402

NOTE = "// Made of passes/exec/attributes.td by passes/exec/generate.py.\n"


def main():
    what, records = sys.argv[1:]
    schema = reading.Schema(open(records, encoding="utf-8").read())
    made = schema.of_class("Exec_TableAttr")
    tables = [schema.tables[r["table"]["def"]] for r in sorted(made, key=lambda r: int(r["!locs"][-1].split(":")[-1]))]
    print({"enums": enums, "header": header, "source": source}[what](schema, tables).rstrip())


def enums(schema, _):
    out = [NOTE, "namespace mlir {\ntemplate <typename T, typename>\nstruct FieldParser;\n}  // namespace mlir\n"]
    for e in schema.enums.values():
        names = {"name": e.name, "what": e.summary}
        out.append("""\
namespace tandem::exec {
using format::%(name)s;
inline llvm::StringRef stringify%(name)s(%(name)s value) {
  return format::Word(value);
}
inline std::optional<%(name)s> symbolize%(name)s(llvm::StringRef word) {
  for (%(name)s value : format::k%(name)sValues) {
    if (stringify%(name)s(value) == word) return value;
  }
  return std::nullopt;
}
}  // namespace tandem::exec
template <>
struct mlir::FieldParser<tandem::format::%(name)s, tandem::format::%(name)s> {
  static FailureOr<tandem::format::%(name)s> parse(AsmParser& parser) {
    std::string word;
    const llvm::SMLoc at = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeywordOrString(&word))) {
      return parser.emitError(at, "expected keyword for %(what)s");
    }
    if (auto value = tandem::exec::symbolize%(name)s(word)) return *value;
    return parser.emitError(at, "invalid %(what)s specification: ") << word;
  }
};
""" % names)
    return "\n".join(out)


def header(_, tables):
    out = [NOTE.rstrip(), "#ifndef TANDEM_PASSES_EXEC_FORMAT_ATTRIBUTES_H_",
           "#define TANDEM_PASSES_EXEC_FORMAT_ATTRIBUTES_H_", "", '#include "passes/exec/dialect.h"',
           '#include "runtime/format/index.h"', "", "namespace tandem::exec {", ""]
    for t in tables:
        out += [to_attr_head(t) + ";", from_attr_head(t) + ";"]
    return "\n".join(out + ["", "}  // namespace tandem::exec", "",
                            "#endif  // TANDEM_PASSES_EXEC_FORMAT_ATTRIBUTES_H_"])


def source(schema, tables):
    out = [NOTE, '#include "passes/exec/format_attributes.h"', "", '#include "graph/ir/interfaces.h"', "",
           "namespace tandem::exec {", ""]
    for t in tables:
        out += to_attr(t) + from_attr(t, schema)
    return "\n".join(out + ["}  // namespace tandem::exec"])


def to_attr_head(table):
    return "%sAttr ToAttr(mlir::MLIRContext* context, const format::%s& table)" % (table.name, table.name)


def to_attr(table):
    values = []
    for f in table.parameters:
        field = "table." + f.name
        values.append({
            "number": field if f.type == "bool" else "static_cast<int64_t>(%s)" % field,
            "string": field,
            "enum": field,
            "numbers": "%s.empty() ? mlir::DenseI64ArrayAttr() : mlir::DenseI64ArrayAttr::get(context, %s)" % (
                field, field),
            "dtype": "%s == DType::k%s ? mlir::Type() : td::FromDType(context, %s)" % (field, f.initial or "Invalid", field),
            "tensor": "mlir::cast<mlir::RankedTensorType>(td::TensorType(context, table.dtype, table.shape))",
            "table": "%s == format::%s() ? %sAttr() : ToAttr(context, %s)" % (field, f.type, f.type, field),
            "union": "%s.Visited([&](const auto& member) -> mlir::Attribute { return ToAttr(context, member); })" % field,
        }[f.kind])
    return [to_attr_head(table) + " {", "  return %sAttr::get(context, %s);" % (table.name, ",\n      ".join(values)), "}", ""]


def from_attr_head(table):
    return "format::%s ToTable(%sAttr attr)" % (table.name, table.name)


def from_attr(table, schema):
    out = [from_attr_head(table) + " {", "  format::%s table;" % table.name]
    for f in table.parameters:
        field = "table." + f.name
        get = "attr.get%s()" % "".join(word[:1].upper() + word[1:] for word in f.name.split("_"))
        if f.kind == "union":
            for member in schema.union_named[f.type].members:
                out.append("  if (auto member = mlir::dyn_cast_if_present<%sAttr>(%s)) %s = ToTable(member);" % (
                    member, get, field))
            continue
        out.append("  " + {
            "number": "%s = static_cast<decltype(%s)>(%s);" % (field, field, get),
            "string": "%s = %s.str();" % (field, get),
            "enum": "%s = %s;" % (field, get),
            "numbers": "if (%s) %s.assign(%s.asArrayRef().begin(), %s.asArrayRef().end());" % (get, field, get, get),
            "dtype": "if (%s) %s = td::ToDType(%s);" % (get, field, get),
            "tensor": "table.dtype = td::ToDType(%s.getElementType());\n  table.shape = td::ToShape(%s);" % (get, get),
            "table": "if (%s) %s = ToTable(%s);" % (get, field, get),
        }[f.kind])
    return out + ["  return table;", "}", ""]


if __name__ == "__main__":
    main()

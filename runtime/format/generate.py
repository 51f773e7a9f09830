"""generate.py WHAT RECORDS: prints what is made of index.td. RECORDS: its records as JSON (llvm-tblgen --dump-json).

WHAT:
  schema      the FlatBuffers schema, without enumerations: they are bytes
  structs     C++ structs and enumerations
  names       the names of the enumerations' values
  flatbuffer  the conversions between structs and FlatBuffers
  fields      VisitFields, which tests use to fill any table
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/build"))
import schema as reading  # noqa: E402

NOTE = "// Made of runtime/format/index.td by runtime/format/generate.py.\n"
CPP = {"bool": "bool", "byte": "int8_t", "int32": "int32_t", "uint32": "uint32_t", "int64": "int64_t",
       "uint64": "uint64_t", "double": "double"}


def main():
    what, records = sys.argv[1:]
    print({"schema": flatbuffers_schema, "structs": structs, "names": names, "flatbuffer": flatbuffer,
           "fields": fields}[what](reading.Schema(open(records, encoding="utf-8").read())).rstrip())


def is_table(type_):
    return isinstance(type_, reading.Table)


# The FlatBuffers schema.

def flatbuffers_schema(schema):
    out = [NOTE, "namespace tandem.fb;", ""]
    for t in schema.types:
        if isinstance(t, reading.Union):
            out.append("union %s { %s }" % (t.name, ", ".join(t.members)))
        elif is_table(t):
            stored = " ".join("%s:%s;" % (f.name, stored_type(f)) for f in t.fields)
            out.append("%s %s { %s }" % ("struct" if t.is_inline else "table", t.name, stored))
    return "\n".join(out + ["root_type Index;", 'file_identifier "TDX1";'])


def stored_type(field):
    if field.kind == "number":
        return field.type + (" = " + field.initial if field.initial else "")
    if field.kind == "dtype":
        assert field.initial in ("", "Float32"), field
        return "byte" + (" = 1" if field.initial == "Float32" else "")
    if field.kind == "enum":
        return "byte"
    return "[%s]" % field.type if field.kind in ("numbers", "strings", "tables") else field.type


# C++ structs.

def structs(schema):
    out = [NOTE.rstrip(),
           "// The index of an executable file: everything the runtime needs to run one mode of a model, and everything",
           "// the dump tool shows. Large data lies outside, in segments. Whoever loads a file checks every number in it.",
           "#ifndef TANDEM_RUNTIME_FORMAT_INDEX_H_", "#define TANDEM_RUNTIME_FORMAT_INDEX_H_", "",
           "#include <cstdint>", "#include <optional>", "#include <string>", "#include <vector>", "",
           '#include "base/dtype.h"', '#include "runtime/format/one_of.h"', "",
           "namespace tandem::format {", ""]
    for t in schema.types:
        out += enum_text(t) if isinstance(t, reading.Enum) else struct_text(t) if is_table(t) else union_text(t)
    return "\n".join(out + ["}  // namespace tandem::format", "", "#endif  // TANDEM_RUNTIME_FORMAT_INDEX_H_"])


def enum_text(enum):
    out = comment(sentence(enum.summary)) + ["enum class %s : int8_t {" % enum.name]
    for case in enum.cases:
        out += comment(case.doc, "  ") + ["  k%s = %d," % (case.name, case.value)]
    values = ", ".join("%s::k%s" % (enum.name, case.name) for case in enum.cases)
    return out + ["};", "inline constexpr %s k%sValues[] = {%s};" % (enum.name, enum.name, values),
                  '// "%s", ...; empty of a number that is none of them.' % enum.cases[0].name,
                  "const char* Name(%s value);" % enum.name,
                  '// As IR has it: "%s", ...' % enum.cases[0].word,
                  "const char* Word(%s value);" % enum.name,
                  "inline bool Known(%s value) { return *Name(value) != 0; }" % enum.name, ""]


def union_text(union):
    return ["using %s = OneOf<%s>;" % (union.name, ", ".join(union.members)),
            "// Of the type; empty of none.",
            "const char* Name(const %s& value);" % union.name, ""]


def struct_text(table):
    out = comment(sentence(table.summary)) + comment(table.description)
    out += ["struct %s {" % table.name]
    for f in table.fields:
        out += comment(f.doc, "  ") + ["  %s %s%s;" % (cpp_type(f), f.name, initial(f))]
    out += [""] if table.fields else []
    return out + ["  bool operator==(const %s&) const = default;" % table.name] + dedent(table.declarations, "  ") + [
        "};", ""]


def cpp_type(field):
    kind = field.kind
    if kind in ("number", "numbers"):
        return CPP[field.type] if kind == "number" else "std::vector<%s>" % CPP[field.type]
    if kind in ("string", "strings"):
        return "std::string" if kind == "string" else "std::vector<std::string>"
    if kind in ("optional", "tables"):
        return ("std::optional<%s>" if kind == "optional" else "std::vector<%s>") % field.type
    return field.type


def initial(field):
    if field.kind == "number":
        return " = " + (field.initial or {"bool": "false"}.get(field.type, "0"))
    if field.kind == "dtype":
        return " = DType::k" + (field.initial or "Invalid")
    return "{}" if field.kind == "enum" else ""


def sentence(summary):
    return summary[:1].upper() + summary[1:] + "."


def comment(text, indent=""):
    return [indent + ("// " + line).rstrip() for line in dedent(text, "") if line]


def dedent(text, indent):
    lines = text.strip("\n").split("\n")
    widths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return [(indent + line[min(widths):]).rstrip() for line in lines] if widths else []


# Names.

def names(schema):
    out = [NOTE, '#include "runtime/format/index.h"', "", "namespace tandem::format {", ""]
    for t in schema.types:
        if isinstance(t, reading.Enum):
            for function, column in (("Name", "name"), ("Word", "word")):
                cases = ['    case %s::k%s:\n      return "%s";' % (t.name, c.name, getattr(c, column)) for c in t.cases]
                out += ["const char* %s(%s value) {" % (function, t.name), "  switch (value) {"] + cases
                out += ["  }", '  return "";', "}", ""]
        elif isinstance(t, reading.Union):
            texts = ", ".join('"%s"' % m for m in t.members)
            out += ["const char* Name(const %s& value) {" % t.name,
                    '  constexpr const char* kNames[] = {"", %s};' % texts, "  return kNames[value.index()];", "}",
                    ""]
    return "\n".join(out + ["}  // namespace tandem::format"])


# Conversions.

PACK_ALL = """\
template <typename Stored, typename Table>
Offset<flatbuffers::Vector<Offset<Stored>>> PackAll(FlatBufferBuilder& b, const std::vector<Table>& tables) {
  if (tables.empty()) return 0;
  std::vector<Offset<Stored>> offsets;
  offsets.reserve(tables.size());
  for (const Table& table : tables) offsets.push_back(Pack(b, table));
  return b.CreateVector(offsets);
}
"""
FINISHED = """\
template <typename Table>
std::string Finished(const Table& table, const char* identifier) {
  FlatBufferBuilder b;
  b.Finish(Pack(b, table), identifier);
  return std::string(reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize());
}
"""


def flatbuffer(schema):
    out = [NOTE, '#include "runtime/format/flatbuffer.h"', "", '#include "runtime/format/executable_generated.h"', "",
           "namespace tandem::format {", "namespace {", "", "using flatbuffers::FlatBufferBuilder;",
           "using flatbuffers::Offset;", ""]
    out += [pack_head(t) + ";" for t in schema.types if is_table(t) and not t.is_inline] + ["", PACK_ALL]
    for t in schema.types:
        if is_table(t):
            out += pack_struct(t) if t.is_inline else pack_table(t, schema)
            out += unpack(t, schema)
        elif isinstance(t, reading.Union):
            out += pack_union(t) + unpack_union(t)
    return "\n".join(out + [FINISHED, "}  // namespace", "",
        "std::string ToFlatBuffer(const Index& index) { return Finished(index, fb::IndexIdentifier()); }", "",
        "std::string ToFlatBuffer(const LibraryCall& call) { return Finished(call, nullptr); }", "",
        "std::optional<Index> IndexFromFlatBuffer(absl::string_view bytes) {",
        "  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());",
        "  flatbuffers::Verifier verifier(data, bytes.size());",
        "  if (bytes.size() < 8 || !fb::VerifyIndexBuffer(verifier)) return std::nullopt;",
        "  return Unpack(*fb::GetIndex(data));", "}", "",
        "}  // namespace tandem::format"])


def pack_struct(table):
    values = ", ".join(scalar(f) for f in table.fields)
    return ["fb::%s Pack(const %s& t) { return fb::%s(%s); }" % (table.name, table.name, table.name, values), ""]


def scalar(field):
    return "static_cast<int8_t>(t.%s)" % field.name if field.kind in ("enum", "dtype") else "t." + field.name


def pack_head(table):
    return "Offset<fb::%s> Pack(FlatBufferBuilder& b, const %s&%s)" % (
        table.name, table.name, " t" if table.fields else "")


def pack_table(table, schema):
    out = [pack_head(table) + " {"]
    arguments = []
    for f in table.fields:
        name = "t." + f.name
        if f.kind in ("number", "enum", "dtype"):
            arguments.append(scalar(f))
            continue
        if f.kind == "union":
            arguments.append("static_cast<fb::%s>(%s.index())" % (f.type, name))
        is_inline = f.kind == "table" and schema.table_named[f.type].is_inline
        arguments.append(("&" if is_inline else "") + f.name)
        out.append("  const auto %s = %s;" % (f.name, {
            "string": "%s.empty() ? 0 : b.CreateString(%s)",
            "strings": "%s.empty() ? 0 : b.CreateVectorOfStrings(%s)",
            "numbers": "%s.empty() ? 0 : b.CreateVector(%s)",
            "tables": "PackAll<fb::%s>(b, %%s)" % f.type,
            "table": "Pack(%s)" if is_inline else "Pack(b, %s)",
            "optional": "%s ? Pack(b, *%s) : 0",
            "union": "Pack(b, %s)",
        }[f.kind].replace("%s", name)))
    return out + ["  return fb::Create%s(%s);" % (table.name, ", ".join(["b"] + arguments)), "}", ""]


def pack_union(union):
    return ["Offset<void> Pack(FlatBufferBuilder& b, const %s& value) {" % union.name,
            "  return value.Visited([&](const auto& table) { return Pack(b, table).Union(); });", "}", ""]


def unpack(table, schema):
    out = ["%s Unpack(const fb::%s& %s) {" % (table.name, table.name, "s" if table.fields else ""),
           "  %s t;" % table.name]
    for f in table.fields:
        stored = "s.%s()" % f.name
        if f.kind == "number":
            out.append("  t.%s = %s;" % (f.name, stored))
        elif f.kind in ("enum", "dtype"):
            out.append("  t.%s = static_cast<%s>(%s);" % (f.name, f.type, stored))
        elif f.kind == "union":
            out.append("  t.%s = Unpack%s(s.%s_type(), %s);" % (f.name, f.type, f.name, stored))
        else:
            fill = {"string": "t.%s = stored->str()", "numbers": "t.%s.assign(stored->begin(), stored->end())",
                    "strings": "for (const auto* text : *stored) t.%s.push_back(text->str())",
                    "tables": "t.%s.reserve(stored->size());\n    for (const auto* e : *stored) t.%s.push_back(Unpack(*e))",
                    "table": "t.%s = Unpack(*stored)", "optional": "t.%s = Unpack(*stored)"}[f.kind]
            body = fill.replace("%s", f.name)
            block = "{\n    %s;\n  }" % body if f.kind == "tables" else body + ";"
            out.append("  if (const auto* stored = %s) %s" % (stored, block))
    return out + ["  return t;", "}", ""]


def unpack_union(union):
    out = ["%s Unpack%s(fb::%s type, const void* stored) {" % (union.name, union.name, union.name),
           "  if (stored == nullptr) return {};", "  switch (type) {"]
    for member in union.members:
        out += ["    case fb::%s::%s:" % (union.name, member),
                "      return Unpack(*static_cast<const fb::%s*>(stored));" % member]
    return out + ["    default:", "      return {};", "  }", "}", ""]


# Visitors.

def fields(schema):
    out = [NOTE.rstrip(), "// VisitFields(table, visit): visit(field) for every field.",
           "#ifndef TANDEM_RUNTIME_FORMAT_FIELDS_H_", "#define TANDEM_RUNTIME_FORMAT_FIELDS_H_", "",
           '#include "runtime/format/index.h"', "", "namespace tandem::format {", ""]
    for t in schema.types:
        if is_table(t):
            out += ["template <typename Visit>",
                    "void VisitFields(%s& %s, const Visit&%s) {" % (
                        t.name, "t" if t.fields else "", " visit" if t.fields else "")]
            out += ["  visit(t.%s);" % f.name for f in t.fields] + ["}", ""]
    return "\n".join(out + ["}  // namespace tandem::format", "", "#endif  // TANDEM_RUNTIME_FORMAT_FIELDS_H_"])


if __name__ == "__main__":
    main()

// What the IR has of runtime/format/index.td: its enumerations, and attributes of its tables. generate.py makes the
// conversions between an attribute and its struct.
#ifndef TANDEM_PASSES_EXEC_FORMAT
#define TANDEM_PASSES_EXEC_FORMAT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "passes/exec/exec_base.td"
include "runtime/format/index.td"

class Exec_Attr<string name, string mnemonic_> : AttrDef<Exec_Dialect, name> { let mnemonic = mnemonic_; }

// An enumeration of the format as an attribute by itself (EnumAttr). Enumerations that are only fields of tables need no
// line here. In C++ it is format::NAME, which exec::NAME is another name of.
class Exec_FormatEnum<Format_Enum e>
    : I32EnumAttr<e.name, e.summary, !foreach(c, e.cases, I32EnumAttrCase<"k" # c.name, c.value, c.word>)> {
  let cppNamespace = "::tandem::exec";
  let genSpecializedAttr = 0;
}
def Exec_ReduceKind : Exec_FormatEnum<Format_ReduceKind>;
def Exec_Space : Exec_FormatEnum<Format_Space>;
def Exec_Algorithm : Exec_FormatEnum<Format_Algorithm>;

class Exec_NumberParameter<string type, string doc, string initial> : AttrOrTypeParameter<type, doc> {
  let defaultValue = initial;
}
class Exec_EnumParameter<string type, string stringify, string doc, bit shown> : AttrOrTypeParameter<type, doc> {
  let printer = "$_printer << " # stringify # "($_self)";
  let defaultValue = !if(shown, "", type # "()");
}

// The parameter of an attribute that holds a field. IR leaves it out where it has its default, unless it is `shown`.
// Fields of kinds `strings`, `optional` and `tables` cannot be parameters: such a table has no attribute. Tables and
// members of unions need an attribute of their own.
class Exec_Parameter<Format_Field f, bit shown> {
  string enum = "::tandem::exec::" # f.type;
  AttrOrTypeParameter of = !cond(
    !eq(f.kind, "string") : StringRefParameter<f.doc>,
    !eq(f.kind, "number") : Exec_NumberParameter<!if(!eq(f.type, "bool"), "bool", "int64_t"), f.doc,
        !if(shown, "", !if(!eq(f.type, "bool"), "false", !if(!empty(f.initial), "0", f.initial)))>,
    !eq(f.kind, "numbers") : OptionalParameter<"::mlir::DenseI64ArrayAttr", f.doc>,
    !eq(f.kind, "dtype") : OptionalParameter<"::mlir::Type", f.doc>,
    !eq(f.kind, "tensor") : AttrOrTypeParameter<"::mlir::RankedTensorType", f.doc>,
    !eq(f.kind, "enum") : Exec_EnumParameter<enum, "::tandem::exec::stringify" # f.type, f.doc, shown>,
    !eq(f.kind, "table") : OptionalParameter<enum # "Attr", f.doc>,
    !eq(f.kind, "union") : OptionalParameter<"::mlir::Attribute", f.doc>);
}

// The attribute of a table. shown: names of fields that IR has also where they are zero; strings and tensors always are.
class Exec_TableAttr<Format_Table t, string mnemonic, list<string> shown = []> : Exec_Attr<t.name, mnemonic> {
  Format_Table table = t;
  let summary = t.summary;
  let description = t.description;
  list<int> positions = !range(!size(t.fields));
  list<string> names = !foreach(i, positions, !getdagname(t.fields, i));
  let parameters = !dag(ins, !foreach(i, positions, Exec_Parameter<
      !getdagarg<Format_Field>(t.fields, i),
      !foldl(false, shown, any, name, !or(any, !eq(name, !getdagname(t.fields, i))))>.of), names);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif

// The classes with which index.td describes tables. They use nothing of MLIR, because the runtime does not use MLIR.
#ifndef TANDEM_RUNTIME_FORMAT_SCHEMA
#define TANDEM_RUNTIME_FORMAT_SCHEMA

// One value of an enumeration. It is called kName in C++, and `word` in IR.
class Format_Case<string name_, int value_, string word_, string doc_ = ""> {
  string name = name_;
  int value = value_;
  string word = word_;
  string doc = doc_;
}

// Numbers are stored in files: append, never renumber.
class Format_Enum<string name_, string summary_, list<Format_Case> cases_> {
  string name = name_;
  string summary = summary_;
  list<Format_Case> cases = cases_;
}

// The type and the default of a field.
//   kind: tells the generator what to make of the field; type: a scalar's type by its name in FlatBuffers, or the name
//   of a table or enumeration; initial: the default, if it is not zero.
class Format_Field<string kind_, string type_, string doc_, string initial_ = ""> {
  string kind = kind_;
  string type = type_;
  string doc = doc_;
  string initial = initial_;
}
class Format_Number<string type_, string doc_ = "", string initial_ = ""> : Format_Field<"number", type_, doc_, initial_>;
class Format_Bool<string doc = ""> : Format_Number<"bool", doc>;
class Format_Byte<string doc = ""> : Format_Number<"byte", doc>;
class Format_Int32<string doc = "", string initial = ""> : Format_Number<"int32", doc, initial>;
class Format_UInt32<string doc = "", string initial = ""> : Format_Number<"uint32", doc, initial>;
class Format_Int64<string doc = ""> : Format_Number<"int64", doc>;
class Format_UInt64<string doc = ""> : Format_Number<"uint64", doc>;
class Format_Double<string doc = ""> : Format_Number<"double", doc>;
class Format_String<string doc = ""> : Format_Field<"string", "string", doc>;
class Format_Numbers<string type_, string doc = ""> : Format_Field<"numbers", type_, doc>;
class Format_Int64s<string doc = ""> : Format_Numbers<"int64", doc>;
class Format_UInt32s<string doc = ""> : Format_Numbers<"uint32", doc>;
class Format_UInt64s<string doc = ""> : Format_Numbers<"uint64", doc>;
class Format_Strings<string doc = ""> : Format_Field<"strings", "string", doc>;
// An element type, DType of base/dtype.h.
// `initial`: Float32 or none.
class Format_DType<string doc = "", string initial = ""> : Format_Field<"dtype", "DType", doc, initial>;
// An element type and sizes: becomes the two fields `dtype` and `shape` of the table; a size of -1 is the batch.
class Format_Tensor<string doc = ""> : Format_Field<"tensor", "", doc>;
class Format_EnumField<Format_Enum of, string doc = ""> : Format_Field<"enum", of.name, doc>;

def Format_Fields;  // the operator of lists of fields

class Format_Type<string name_> { string name = name_; }
// A table, which becomes a struct in C++.
//   fields: Format_Field, each with its name: append, never reorder or delete. declarations: more members of the C++
//   struct.
class Format_Table<string name, string summary_> : Format_Type<name> {
  string summary = summary_;
  string description = "";
  dag fields = (Format_Fields);
  code declarations = "";
  bit is_inline = 0;  // stored inside its table; its fields cannot change any more
}
// One of several tables, or none: a std::variant in C++. New members are appended.
class Format_Union<string name, list<Format_Table> members_> : Format_Type<name> { list<Format_Table> members = members_; }

// Fields of tables: one that is always there, one that may be missing, any number of one table, and one of a union.
class Format_One<Format_Table of, string doc = ""> : Format_Field<"table", of.name, doc>;
class Format_Optional<Format_Table of, string doc = ""> : Format_Field<"optional", of.name, doc>;
class Format_List<Format_Table of, string doc = ""> : Format_Field<"tables", of.name, doc>;
class Format_OneOf<Format_Union of, string doc = ""> : Format_Field<"union", of.name, doc>;

#endif

"""What tools/docs reads out of headers, and what the pages of the API make of it."""
import os
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tools/docs"))
sys.dont_write_bytecode = True
import api  # noqa: E402
import headers  # noqa: E402
import xunit  # noqa: E402

HEAD = "// What it is for.\n#ifndef TANDEM_A_H_\n#define TANDEM_A_H_\n\nnamespace TANDEM_API tandem {\n\n"


def read(body):
    """The groups of a header with this body."""
    text = HEAD + body + "\n}  // namespace tandem\n"
    reader = headers.Reader("a.h", text)
    return reader.macros() + reader.scope(0, len(text), [])


def found(groups):
    """[(comment, [(kind, name, text, comment behind it)])]"""
    return [(" ".join(g.comment), [(d.kind, d.name, d.text, d.behind) for d in g.declarations]) for g in groups]


def equal(actual, wanted):
    assert actual == wanted, f"\n{actual}\n instead of\n{wanted}"


def functions_share_a_comment_up_to_an_empty_line():
    equal(found(read("// Both.\nint A(int x);  // the first\nint B();\n\nint C();\n// Own.\nint D();\n")),
          [("Both.", [("function", "A", "int A(int x);", "the first"), ("function", "B", "int B();", "")]),
           ("", [("function", "C", "int C();", "")]), ("Own.", [("function", "D", "int D();", "")])])


def a_comment_by_itself_is_a_section():
    equal(found(read("// About the next two.\n\n// One.\nint A();\n")),
          [("About the next two.", []), ("One.", [("function", "A", "int A();", "")])])


def the_location_and_bodies_are_left_out():
    equal(found(read("inline T F(const T& x,\n           SourceLocation loc = SourceLocation::Current()) { return {x}; }\n"
                     "T G(const T& x, TD_LOC);\nT H(SourceLocation l = SourceLocation::Current());\n")),
          [("", [("function", "F", "T F(const T& x);", ""), ("function", "G", "T G(const T& x);", ""),
                 ("function", "H", "T H();", "")])])


def namespaces():
    equal(found(read("class Later;\nnamespace internal {\nint Hidden();\n}\nnamespace a::b {\nint F();\n}\n")),
          [("", [("function", "a::b::F", "int F();", "")])])
    text = "namespace tandem {\nint NotMarked();\n}\n"
    equal(headers.Reader("a.h", text).scope(0, len(text), []), [])


def a_class():
    groups = read("// A box.\nclass Box : public Base {\n public:\n  Box() = default;\n  Box(const Box&) = delete;\n"
                  "  ~Box();\n  Box(int a) : a_{a}, b_{{1, 2}} { Use(); }  // NOLINT: implicit\n  // Its size.\n"
                  "  virtual int size() const = 0;\n\n protected:\n  int more();\n\n private:\n  int Secret();\n"
                  "  friend class Lid;\n  int a_ = 0;\n};\n")
    equal(found(groups), [("A box.", [("class", "Box", "class Box : public Base", "")])])
    equal(found(groups[0].declarations[0].groups),
          [("", [("function", "Box::Box", "Box(int a);", "")]),
           ("Its size.", [("function", "Box::size", "virtual int size() const = 0;", "")]),
           ("", [("function", "Box::more", "int more();", "")])])
    assert groups[0].declarations[0].groups[2].declarations[0].protected


def fields_and_enumerators():
    groups = read("struct Options {\n  int64_t units = 0;  // required\n  // Names.\n  std::map<int, std::string> names = {};\n"
                  "  std::function<void(bool wait)> done = nullptr;\n  double a = 0, b = 1;\n};\n"
                  "enum class Kind : int8_t {\n  kOne = 1,  // the first\n  // The second.\n  kTwo\n};\n")
    options, kind = (g.declarations[0] for g in groups)
    equal(found(options.groups),
          [("", [("variable", "Options::units", "int64_t units = 0;", "required")]),
           ("Names.", [("variable", "Options::names", "std::map<int, std::string> names = {};", ""),
                       ("variable", "Options::done", "std::function<void(bool wait)> done = nullptr;", ""),
                       ("variable", "Options::a", "double a = 0, b = 1;", "")])])
    equal(found(kind.groups), [("", [("enumerator", "kOne", "kOne = 1", "the first")]),
                               ("The second.", [("enumerator", "kTwo", "kTwo", "")])])


def templates_and_operators():
    equal(found(read("// A type.\ntemplate <typename T>\nstruct Of;\ntemplate <>\nstruct Of<int> {\n  int x;\n};\n"
                     "template <typename F>\nrequires(!std::same_as<F, int> && std::is_invocable_v<F>) int Call(F&& f) { f(); }\n"
                     "bool operator==(const A&, const A&);\nauto operator<=>(const A& x) const = default;\n"
                     "template <typename T>\nT Box::Get() const {\n  return {};\n}\n")),
          [("A type.", [("class", "Of", "template <typename T> struct Of", "")]),
           ("", [("function", "Call", "template <typename F> requires(!std::same_as<F, int> && std::is_invocable_v<F>) "
                  "int Call(F&& f);", ""),
                 ("function", "operator==", "bool operator==(const A&, const A&);", ""),
                 ("function", "operator<=>", "auto operator<=>(const A& x) const = default;", "")])])


def macros_for_users():
    equal(found(read("#define TD_LOC int loc\n// Logs.\n#define TD_LOG(severity) \\\n  Log(severity)\n#define TD_X_(a) a\n")),
          [("Logs.", [("macro", "TD_LOG", "TD_LOG(severity)", "")])])


def comments_as_markdown():
    equal(api.prose(["Slot \"<variable>/Adam\", x*y and 2 * 3, `a<b>`; docs/guide/data.md#map.", "  w = 1", "  v = 2",
                     "- minus"]),
          ["Slot \"\\<variable>/Adam\", x\\*y and 2 * 3, `a<b>`; [data.md](../../guide/data.md#map).", "", "```", "w = 1",
           "v = 2", "```", "\\- minus"])
    equal(api.prose(["  F();"]), ["```cpp", "F();", "```"])


def anchors_of_headings():
    taken = {}
    equal([api.anchor(h, taken) for h in ("`struct a::B : C`", "`Add`, `Sub`", "`Add`, `Sub`")],
          ["struct-ab--c", "add-sub", "add-sub-1"])


def long_declarations():
    lines = api.wrapped("int F(" + ", ".join("const std::string& argument_%d" % i for i in range(8)) + ");")
    assert all(len(line) <= 120 for line in lines) and lines[0].endswith(","), lines
    equal(" ".join(line.strip() for line in lines).count("const"), 8)


xunit.run("headers", [(f.__name__, f) for f in (
    functions_share_a_comment_up_to_an_empty_line, a_comment_by_itself_is_a_section, the_location_and_bodies_are_left_out,
    namespaces, a_class, fields_and_enumerators, templates_and_operators, macros_for_users, comments_as_markdown,
    anchors_of_headings, long_declarations)])

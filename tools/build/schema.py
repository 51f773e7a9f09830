"""Reads the records of runtime/format/schema.td, as llvm-tblgen --dump-json prints them."""
import collections
import json

Field = collections.namedtuple("Field", "name kind type doc initial")
Case = collections.namedtuple("Case", "name value word doc")
Enum = collections.namedtuple("Enum", "name summary cases")
# fields: as structs have them; parameters: the same with tensors as one.
Table = collections.namedtuple("Table", "name summary description fields parameters declarations is_inline")
Union = collections.namedtuple("Union", "name members")


class Schema:
    """`enums`, `tables` and `unions` by the name of their record; `types`: all of them, each behind what it needs."""

    def __init__(self, text):
        self.records = json.loads(text)
        self.enums = {r["!name"]: self._enum(r) for r in self.of_class("Format_Enum")}
        self.tables = {r["!name"]: self._table(r) for r in self.of_class("Format_Table")}
        self.unions = {r["!name"]: self._union(r) for r in self.of_class("Format_Union")}
        named = {**self.enums, **self.tables, **self.unions}
        self.types = [named[name] for name in sorted(named, key=lambda name: self._line(self.records[name]))]
        self.table_named = {t.name: t for t in self.tables.values()}
        self.union_named = {u.name: u for u in self.unions.values()}

    def of_class(self, name):
        return [self.records[r] for r in self.records["!instanceof"].get(name, [])]

    def _line(self, record):
        return int(record["!locs"][-1].rsplit(":", 1)[1])

    def _enum(self, r):
        cases = [self.records[case["def"]] for case in r["cases"]]
        return Enum(r["name"], r["summary"],
                    [Case(c["name"], c["value"], c["word"], c["doc"]) for c in cases])

    def _table(self, r):
        fields, parameters = [], []
        for argument, name in r["fields"]["args"]:
            f = self.records[argument["def"]]
            parameters.append(Field(name, f["kind"], f["type"], f["doc"], f["initial"]))
            if f["kind"] == "tensor":
                fields += [Field("dtype", "dtype", "DType", "", ""),
                           Field("shape", "numbers", "int64", "-1 for the batch", "")]
            else:
                fields.append(parameters[-1])
        return Table(r["name"], r["summary"], r["description"], fields, parameters, r["declarations"],
                     bool(r["is_inline"]))

    def _union(self, r):
        return Union(r["name"], [self.records[m["def"]]["name"] for m in r["members"]])

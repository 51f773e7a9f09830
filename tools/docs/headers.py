"""What the headers for users declare: functions, classes with their members, enumerations, aliases, constants, macros.

A declaration is not understood, only found: where it begins and ends follows from brackets, semicolons and the words
that it starts with. Its text is shown as the header has it, and so is its comment: the lines above it or behind it.
Declarations without an empty line or a comment between them share the comment above the first.
"""
import os
import re
from dataclasses import dataclass, field

import cpp

LOCATION = re.compile(r",?\s*(?:SourceLocation \w+ = SourceLocation::Current\(\)|\bTD_LOC\b)")
IGNORED_MACROS = re.compile(r"TANDEM_|TD_LOC$|TD_LOG_SEVERITY_|\w+_$")
CLASS = re.compile(r"(?:class|struct) (\w+)(?: final)?")
ACCESS = re.compile(r"(public|protected|private)\s*:(?!:)")
MAX_INITIALIZER = 100


@dataclass
class Declaration:
    kind: str  # "class", "enum", "function", "variable", "enumerator", "alias", "macro"
    name: str  # with the namespaces and classes around it, but for tandem
    text: str  # in one line, without the body, and without the caller's location
    line: int
    behind: str = ""  # the comment behind it
    protected: bool = False
    groups: list = field(default_factory=list)  # what is in a class or an enumeration
    taken_by: list = field(default_factory=list)  # for a class without a comment: who takes it, as a comment


@dataclass
class Group:
    """Declarations with one comment; without declarations a comment for what follows."""
    comment: list
    declarations: list = field(default_factory=list)


@dataclass
class Header:
    path: str
    comment: list
    groups: list


def public_headers(root):
    """The headers that tandem.h reaches, sorted."""
    found, work = set(), ["tandem.h"]
    while work:
        path = work.pop()
        if path not in found:
            found.add(path)
            with open(os.path.join(root, path), encoding="utf-8") as f:
                work += re.findall(r'^#include "tandem/([^"]+)"', f.read(), re.M)
    return sorted(found)


def blanked(text, pattern):
    """The text with spaces in place of what matches, so that places stay the same."""
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.M)


def closing(code, i):
    """The place of the bracket that closes the one at code[i]."""
    pairs = {"(": ")", "[": "]", "{": "}", "<": ">"}
    close, depth = pairs[code[i]], 0
    for place in range(i, len(code)):
        depth += (code[place] == code[i]) - (code[place] == close and code[place - 1] != "-")
        if depth == 0:
            return place
    raise ValueError("no %s for the bracket at %d" % (close, i))


def without_arguments(code):
    """Code without the arguments of templates, in which brackets and commas mean other things."""
    while re.search(r"<[^<>=]*>", code):
        code = re.sub(r"<[^<>=]*>", "", code)
    return code


def without_requirement(code):
    """Code without the `requires(...)` of a template."""
    return code[closing(code, code.index("(")) + 1:].strip() if re.match(r"requires\s*\(", code) else code


def behind_template(code, i):
    """The place behind `template <...>`, if that is what code[i] begins."""
    while re.match(r"template\s*<", code[i:]):
        i = closing(code, code.index("<", i)) + 1
        i += len(code[i:]) - len(code[i:].lstrip())
    return i


class Reader:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.lines = text.split("\n")
        literals = blanked(blanked(text, r"//.*"), r'(?<=")(?:[^"\\\n]|\\.)*(?=")|(?<=\')(?:[^\'\\\n]|\\.)(?=\')')
        self.code = blanked(literals, r"^[ \t]*#(?:.*\\\n)*.*$")

    def line(self, place):
        return self.text.count("\n", 0, place) + 1

    def statement(self, begin, end):
        """(end of what is shown, body or None, place behind) of the statement at `begin`."""
        code, i = self.code, behind_template(self.code, begin)
        initializer = colon = None
        while i < end:
            c = code[i]
            if c in "([":
                i = closing(code, i)
            elif c == ";":
                return i, None, i + 1
            elif c == "=" and code[i + 1] != "=" and code[i - 1] not in "=!<>" and not code[:i].endswith("operator"):
                initializer = i
            elif c == ":" and code[i + 1] != ":" and code[i - 1] != ":" and code[:i].rstrip().endswith(")"):
                colon = i
            elif c == "{":
                close = closing(code, i)
                more = code[close + 1:].lstrip()[:1]
                if initializer is None and not (colon is not None and more in (",", "{")):
                    shown = i if colon is None else colon
                    behind = close + 1
                    if more == ";":
                        behind = code.index(";", close) + 1
                    return shown, (i + 1, close), behind
                i = close
            i += 1
        raise SystemExit("tools/docs/headers.py: %s:%d: the declaration does not end" % (self.path, self.line(begin)))

    def shown(self, begin, end):
        """The text of a declaration, in one line."""
        text = re.sub(r"//.*", "", self.text[begin:end])
        text = LOCATION.sub("", " ".join(text.split()))
        return re.sub(r"\b(inline|friend) (?!namespace)", "", text).strip()

    def comment_above(self, line):
        first = line - 1
        while first > 0 and self.lines[first - 1].lstrip().startswith("//"):
            first -= 1
        return cpp.comment_lines(self.lines[first:line - 1])

    def comment_behind(self, place):
        """The comment at the end of the line of a declaration that ends at `place`."""
        end = self.text.find("\n", place)
        rest = self.text[place:end if end >= 0 else len(self.text)]
        found = re.match(r"[\s;,})]*//\s*(.*)", rest)
        return "" if found is None or found[1].startswith("NOLINT") else found[1].strip()

    def sections(self, first, last):
        """Comments between two lines that stand by themselves, with an empty line behind them."""
        blocks, block = [], []
        for line in self.lines[first:last]:
            if line.lstrip().startswith("//"):
                block.append(line)
            elif not line.strip() and block:
                blocks.append(Group(cpp.comment_lines(block)))
                block = []
            elif line.strip():
                block = []
        return blocks

    def scope(self, begin, end, names, access="public"):
        """Groups of declarations in a namespace or a class."""
        groups, i, last, before = [], begin, self.line(begin), None
        while True:
            i += len(self.code[i:end]) - len(self.code[i:end].lstrip())
            if i >= end:
                return groups
            label = ACCESS.match(self.code, i)
            if label:
                access, i, last, before = label[1], label.end(), self.line(i), None
                continue
            first = self.line(i)
            shown, body, behind = self.statement(i, end)
            if access != "private":
                groups += self.sections(last, first - 1)
                comment = self.comment_above(first)
                made = self.declaration(i, shown, body, names)
                if isinstance(made, list):  # a namespace
                    groups += made
                elif made is not None:
                    made.protected = access == "protected"
                    made.behind = self.comment_behind(behind)
                    alone = made.kind in ("class", "enum")
                    kind = "variable" if made.kind == "variable" else "other"
                    if comment or alone or before != kind or first > last + 1:
                        groups.append(Group(comment))
                    groups[-1].declarations.append(made)
                    before = None if alone else kind
                if made is None or isinstance(made, list):
                    before = None
            i, last = behind, self.line(behind - 1)

    def declaration(self, begin, shown, body, names):
        """A Declaration, the groups of a namespace, or None for what is not shown."""
        head = " ".join(self.code[behind_template(self.code, begin):shown].split())
        place = dict(line=self.line(begin))
        if head.startswith("namespace"):
            path = head.removeprefix("namespace").replace("TANDEM_API", "").strip()
            if re.search(r"internal$", path) or (path.startswith("tandem") and "TANDEM_API" not in head):
                return None
            inner = [] if path == "tandem" else path.split("::")
            return self.scope(*body, names + inner)
        if re.match(r"friend|static_assert|using (namespace|[\w:]+;?$)", head) or re.match(r"template\s*<\s*>", self.code[begin:]):
            return None
        text = self.shown(begin, shown)
        if re.match(r"enum ", head):
            name = "::".join(names + [re.match(r"enum (?:class )?(\w+)", head)[1]])
            return Declaration("enum", name, text, groups=self.enumerators(*body), **place)
        if CLASS.match(head):
            inner = names + [CLASS.match(head)[1]]
            if body is None:  # declared only; of a template users see the specialisations
                template = self.code.startswith("template", begin)
                return Declaration("class", "::".join(inner), text, **place) if template else None
            groups = self.scope(*body, inner, "private" if head.startswith("class") else "public")
            return Declaration("class", "::".join(inner), text, groups=groups, **place)
        if head.startswith("using "):
            return Declaration("alias", "::".join(names + [head.split()[1]]), text + ";", **place)
        plain = without_arguments(without_requirement(head))
        call = re.search(r"(operator\s*\(\)|operator[^(]*|~?[\w:]+)\s*\(", plain.partition(" = ")[0])
        if call:
            name = " ".join(call[1].split())
            if "::" in name or re.search(r"= delete$", head):
                return None
            if name.startswith("~") or (re.search(r"= default$", head) and "operator" not in name):
                if not self.comment_above(place["line"]) and not self.comment_behind(shown):
                    return None
            return Declaration("function", "::".join(names + [name]), text + ";", **place)
        variables = re.findall(r"(\w+)(?:\[\])?\s*(?:=|$|,)", re.sub(r"\{[^{}]*\}|\([^()]*\)", "", plain))
        if not variables:
            raise SystemExit("tools/docs/headers.py: %s:%d: what is this? %s" % (self.path, place["line"], head))
        if len(text) > MAX_INITIALIZER and '"' in text:
            text = text.partition(" = ")[0] + " = ..."
        return Declaration("variable", "::".join(names + [variables[0]]), text + ";", **place)

    def enumerators(self, begin, end):
        groups, i = [], begin
        while True:
            i += len(self.code[i:end]) - len(self.code[i:end].lstrip(" \n,"))
            if i >= end:
                return groups
            comma = self.code.find(",", i, end)
            stop = end if comma < 0 else comma
            text = self.shown(i, stop)
            alone = not self.text[:i].rpartition("\n")[2].strip()
            comment = self.comment_above(self.line(i)) if alone else []
            groups.append(Group(comment, [Declaration("enumerator", text.split()[0], text, self.line(i),
                                                      self.comment_behind(stop) if alone else "")]))
            i = stop

    def macros(self):
        groups = []
        for m in re.finditer(r"^#define ((\w+)(?:\([^)]*\))?)", self.text, re.M):
            if not IGNORED_MACROS.match(m[2]) and not m[2].endswith("_H_"):
                line = self.line(m.start())
                groups.append(Group(self.comment_above(line), [Declaration("macro", m[2], m[1], line)]))
        return groups


def read(root, path):
    """The Header of this path."""
    with open(os.path.join(root, path), encoding="utf-8") as f:
        text = f.read()
    reader = Reader(path, text)
    return Header(path, cpp.head_comment(text), reader.macros() + reader.scope(0, len(text), []))

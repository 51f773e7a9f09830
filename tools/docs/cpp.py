"""What the generators read out of C++ text: calls, their arguments, and comments."""
import re

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def arguments(text, start):
    """The arguments of the call whose opening parenthesis is text[start], as source text."""
    parts, depth, begin, i = [], 0, start + 1, start
    while True:
        c = text[i]
        if c == '"':
            i = STRING.match(text, i).end()
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if (c == "," and depth == 1) or depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
        if depth == 0:
            return [p for p in parts if p]
        i += 1


def strings(source):
    """The string literals of `source` put together, or None where it is anything else."""
    if STRING.sub("", source).strip():
        return None
    return "".join(m[1] for m in STRING.finditer(source)).replace('\\"', '"').replace("\\\\", "\\")


def string_constants(text):
    """{name: value} of the definitions `constexpr char kName[] = "...";`."""
    found = re.finditer(r'constexpr char (\w+)\[\] =\s*((?:"(?:[^"\\]|\\.)*"\s*)+);', text)
    return {m[1]: strings(m[2]) for m in found}


def comment_lines(lines):
    """Lines of a comment without the slashes."""
    return [line.strip()[2:].removeprefix(" ").rstrip() for line in lines]


def head_comment(text):
    """The comment at the head of a file."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        lines.append(line)
    return comment_lines(lines)

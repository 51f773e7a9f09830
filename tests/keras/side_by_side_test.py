"""No C++ program of docs/guide/keras_programs.md has more lines of code than the Python program before it."""
import os
import re
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402


def lines_of_code(text, comment):
    lines = [line.strip() for line in text.splitlines()]
    return sum(bool(line) and not line.startswith(comment) and re.search(r"\w", line) is not None for line in lines)


def no_program_is_longer():
    with open("docs/guide/keras_programs.md", encoding="utf-8") as page:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page.read(), re.M | re.S)
    assert [language for language, _ in blocks] == ["python", "cpp"] * 4, blocks
    for (_, python), (_, cpp) in zip(blocks[::2], blocks[1::2]):
        counts = lines_of_code(python, "#"), lines_of_code(cpp, "//")
        print("lines of Python and C++: %d, %d" % counts)
        assert 0 < counts[1] <= counts[0], counts


xunit.run("side_by_side", [("no_program_is_longer", no_program_is_longer)])

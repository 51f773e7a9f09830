"""No C++ program of the guide's pages with two languages has more lines of code than the Python program before it."""
import os
import re
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402

# Page and number of programs.
PAGES = {"keras_programs": 4, "from_tf_estimator": 3}


def lines_of_code(text, comment):
    lines = [line.strip() for line in text.splitlines()]
    return sum(bool(line) and not line.startswith(comment) and re.search(r"\w", line) is not None for line in lines)


def no_program_is_longer(name, programs):
    with open("docs/guide/%s.md" % name, encoding="utf-8") as page:
        blocks = re.findall(r"^```(python|cpp)\n(.*?)^```$", page.read(), re.M | re.S)
    assert [language for language, _ in blocks] == ["python", "cpp"] * programs, blocks
    for (_, python), (_, cpp) in zip(blocks[::2], blocks[1::2]):
        counts = lines_of_code(python, "#"), lines_of_code(cpp, "//")
        print("%s: lines of Python and C++: %d, %d" % ((name,) + counts))
        assert 0 < counts[1] <= counts[0], counts


xunit.run("side_by_side", [("no_program_is_longer_in_" + name, lambda name=name: no_program_is_longer(name, PAGES[name]))
                           for name in PAGES])

"""Markdown as the generators write it: lines of at most 120 columns, tables excepted."""
import re
import textwrap

COLUMNS = 120


def wrap(text):
    """Wraps paragraphs that have longer lines; code, tables and headings stay."""
    out, paragraph, code = [], [], False

    def flush():
        if any(len(line) > COLUMNS for line in paragraph):
            out.extend(textwrap.wrap(" ".join(paragraph), COLUMNS, break_long_words=False, break_on_hyphens=False))
        else:
            out.extend(paragraph)
        paragraph.clear()

    for line in text.split("\n"):
        if line.startswith("```"):
            code = not code
        if code or not line or re.match(r"[|#\s]|- ", line):
            flush()
            out.append(line)
        else:
            paragraph.append(line)
    flush()
    return "\n".join(out)


def cell(text):
    """Text in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")

"""The tables of tools/build_time, in Markdown, from the records of its compiler."""
from timed_compiler import EXECUTABLE, GRPC, LINK, LLVM_DIALECT, MLIR, OTHER

KINDS = (LLVM_DIALECT, MLIR, GRPC, EXECUTABLE, OTHER, LINK)
REST, BAZEL, TESTS, ALL = "generated code and everything else", "Bazel itself", "tests", "all"


def kind_rows(records, build):
    """[(kind, number, processor seconds)] of a build.

    `build` has "actions" (number), "children" (processor seconds of Bazel's children without the compiler's wrapper),
    "bazel" (those of its server), and after tests "tests" (number) and "tests_cpu" (processor seconds).
    """
    rows = []
    for kind in KINDS:
        seconds = [record["cpu"] for record in records if record["kind"] == kind]
        rows.append((kind, len(seconds), sum(seconds)))
    seen = sum(record["cpu"] for record in records)
    rows.append((REST, max(0, build["actions"] - len(records)), max(0.0, build["children"] - seen)))
    rows.append((BAZEL, None, build["bazel"]))
    if "tests" in build:
        rows.append((TESTS, build["tests"], build["tests_cpu"]))
    return rows


def dearest_files(records, count):
    """[(file, kind, number of compiles or links, processor seconds)]: those that cost most, all their compiles
    together."""
    files = {}
    for record in records:
        files.setdefault((record["source"] or record["output"], record["kind"]), []).append(record["cpu"])
    rows = [(name, kind, len(seconds), sum(seconds)) for (name, kind), seconds in files.items()]
    return sorted(rows, key=lambda row: (-row[3], row[0]))[:count]


def tables(records, build, reference, count=20):
    """Lines of both tables; `reference` has the processor seconds of the reference compile."""
    rows = kind_rows(records, build)
    total = sum(seconds for _, _, seconds in rows)
    rows.append((ALL, sum(number or 0 for _, number, _ in rows), total))
    lines = ["| kind | number | processor seconds | share | reference compiles |", "|---|---|---|---|---|"]
    for kind, number, seconds in rows:
        lines.append("| %s | %s | %.1f | %.1f%% | %.1f |" %
                     (kind, "" if number is None else number, seconds, 100 * seconds / (total or 1),
                      seconds / reference))
    lines += ["", "| file | kind | times | processor seconds | reference compiles |", "|---|---|---|---|---|"]
    for name, kind, number, seconds in dearest_files(records, count):
        lines.append("| `%s` | %s | %d | %.1f | %.1f |" % (name, kind, number, seconds, seconds / reference))
    return lines

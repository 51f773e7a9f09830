"""tools/build_time: the kind of a compile from its dependency file, records that are left out, and the tables."""
import os
import sys

sys.path[:0] = [os.path.abspath("tests/support"), os.path.abspath("tools/build")]
import build_table  # noqa: E402
import timed_compiler  # noqa: E402
import xunit  # noqa: E402
from timed_compiler import EXECUTABLE, GRPC, LINK, LLVM_DIALECT, MLIR, OTHER  # noqa: E402

MLIR_HEADER = " /usr/lib/llvm-19/include/mlir/IR/Value.h \\\n"
DIALECT_HEADER = " /usr/lib/llvm-19/include/mlir/Dialect/LLVMIR/LLVMDialect.h \\\n"
GRPC_HEADER = " /usr/include/grpcpp/server.h \\\n"
FORMAT_HEADER = " bazel-out/k8-fastbuild/bin/runtime/format/executable_generated.h\n"


def equal(actual, wanted):
    assert actual == wanted, f"\n{actual}\n instead of\n{wanted}"


def record(kind, cpu, source="", output="out"):
    return timed_compiler.read_record(timed_compiler.record_text(kind, cpu, 2 * cpu, 0.02, source, output))


def temporary(name, text):
    path = os.path.join(os.environ["TEST_TMPDIR"], name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def kinds_by_the_dearest_header():
    kind = timed_compiler.kind_of_dependencies
    equal(kind("a.o: a.cc \\\n" + FORMAT_HEADER + GRPC_HEADER + MLIR_HEADER + DIALECT_HEADER), LLVM_DIALECT)
    equal(kind("a.o: a.cc \\\n" + FORMAT_HEADER + GRPC_HEADER + MLIR_HEADER), MLIR)
    equal(kind("a.o: a.cc \\\n" + FORMAT_HEADER + GRPC_HEADER), GRPC)
    equal(kind("a.o: a.cc \\\n" + FORMAT_HEADER), EXECUTABLE)
    equal(kind("a.o: a.cc /usr/lib/llvm-19/include/llvm/ADT/StringRef.h runtime/executable/executable.h mlir.cc"), OTHER)


def arguments_of_gcc():
    dependencies = temporary("a.d", "a.o: base/a.cc \\\n" + GRPC_HEADER)
    arguments = ["-MD", "-MF", dependencies, "-c", "base/a.cc", "-o", "a.o"]
    equal(timed_compiler.describe(arguments), (GRPC, "base/a.cc", "a.o"))
    os.remove(dependencies)
    equal(timed_compiler.describe(arguments), (OTHER, "base/a.cc", "a.o"))
    equal(timed_compiler.describe(["a.o", "-o", "a"]), (LINK, "", "a"))
    equal(timed_compiler.describe(["@" + temporary("a-2.params", "-o\nbin/a\n-Wl,-S\n")]), (LINK, "", "bin/a"))
    equal(timed_compiler.describe(["-v"]), (LINK, "", ""))


def records_that_are_left_out():
    equal(record(OTHER, 1.5, "base/a.cc", "a.o"),
          {"kind": OTHER, "cpu": 1.5, "wall": 3.0, "own": 0.02, "source": "base/a.cc", "output": "a.o"})
    equal(record(OTHER, 1, "external/local_config_cc/tools/cpp/empty.cc", "empty.o"), None)
    equal(record(LINK, 1, output="/dev/null"), None)
    equal(record(LINK, 1, output=""), None)
    equal(timed_compiler.read_record("links\t1."), None)  # of a process that was killed


BUILD = {"actions": 9, "children": 20.0, "bazel": 5.0}
RECORDS = [record(MLIR, 8.0, "a.cc", "a.o"), record(MLIR, 4.0, "a.cc", "a.pic.o"), record(OTHER, 3.0, "b.cc", "b.o"),
           record(LINK, 1.0, output="bin/a")]


def rows_of_kinds():
    rows = {row[0]: row[1:] for row in build_table.kind_rows(RECORDS, BUILD)}
    equal(rows[MLIR], (2, 12.0))
    equal(rows[LLVM_DIALECT], (0, 0))
    equal(rows[LINK], (1, 1.0))
    equal(rows[build_table.REST], (5, 4.0))
    equal(rows[build_table.BAZEL], (None, 5.0))
    assert build_table.TESTS not in rows
    rows = {row[0]: row[1:] for row in build_table.kind_rows(RECORDS, {**BUILD, "tests": 3, "tests_cpu": 2.5})}
    equal(rows[build_table.TESTS], (3, 2.5))


def files_that_cost_most():
    equal(build_table.dearest_files(RECORDS, 2), [("a.cc", MLIR, 2, 12.0), ("b.cc", OTHER, 1, 3.0)])
    equal(build_table.dearest_files(RECORDS, 9)[2:], [("bin/a", LINK, 1, 1.0)])


def text_of_the_tables():
    lines = build_table.tables(RECORDS, BUILD, 2.0, count=1)
    equal(lines[3], "| compiles with MLIR | 2 | 12.0 | 48.0% | 6.0 |")
    equal(lines[9], "| Bazel itself |  | 5.0 | 20.0% | 2.5 |")
    equal(lines[10], "| all | 9 | 25.0 | 100.0% | 12.5 |")
    equal(lines[11:], ["", "| file | kind | times | processor seconds | reference compiles |", "|---|---|---|---|---|",
                       "| `a.cc` | compiles with MLIR | 2 | 12.0 | 6.0 |"])


xunit.run("build_time", [(f.__name__, f) for f in (
    kinds_by_the_dearest_header, arguments_of_gcc, records_that_are_left_out, rows_of_kinds, files_that_cost_most,
    text_of_the_tables)])

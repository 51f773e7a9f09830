#!/usr/bin/python3 -ISE
"""A compiler for Bazel that is GCC and writes down what each of its runs costs: tools/build_time uses it.

A copy of this file is the compiler; its records go into the folder "records" beside it, one file for each process. A
record has the fields of FIELDS, separated by tabs. As a module it has what reads them.
"""
import os
import sys
import time

GCC = "/usr/bin/gcc"
# kind: of the compile, or "link"; cpu: processor seconds of GCC and all that it starts; own: those of this wrapper;
# source and output: paths as Bazel gives them.
FIELDS = ("kind", "cpu", "wall", "own", "source", "output")

LLVM_DIALECT, MLIR, GRPC = "compiles with LLVM's dialect", "compiles with MLIR", "compiles with gRPC"
EXECUTABLE, OTHER, LINK = "compiles with the executable's format", "other compiles", "links"
# A compile is of the first kind whose header its dependency file names, the dearest first.
HEADERS = ((LLVM_DIALECT, "/mlir/Dialect/LLVMIR/LLVMDialect.h"), (MLIR, "/mlir/"), (GRPC, "/grpcpp/"),
           (EXECUTABLE, "/executable_generated.h"))


def kind_of_dependencies(text):
    """The kind of a compile whose dependency file (gcc -MD) has this text."""
    return next((kind for kind, header in HEADERS if header in text), OTHER)


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def value_after(arguments, flag):
    at = arguments.index(flag) + 1 if flag in arguments else len(arguments)
    return arguments[at] if at < len(arguments) else ""


def describe(arguments):
    """(kind, source, output) of a run of GCC that has ended, from its arguments and its dependency file."""
    if "-c" in arguments:
        dependencies = value_after(arguments, "-MF")
        kind = kind_of_dependencies(read_text(dependencies) if dependencies else "")
        return kind, value_after(arguments, "-c"), value_after(arguments, "-o")
    output = value_after(arguments, "-o")
    for argument in arguments:
        if argument.startswith("@") and not output:
            output = value_after(read_text(argument[1:]).split("\n"), "-o") or argument[1:]
    return LINK, "", output


def run_gcc(arguments):
    """(exit code, processor seconds, wall-clock seconds) of GCC."""
    begin = time.monotonic()
    pid = os.posix_spawn(GCC, [GCC] + arguments, os.environ)
    _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code, usage.ru_utime + usage.ru_stime, time.monotonic() - begin


def record_text(kind, cpu, wall, own, source, output):
    return "\t".join([kind, "%.4f" % cpu, "%.4f" % wall, "%.4f" % own, source, output]) + "\n"


def read_record(text):
    """A record as a dictionary; None for what is none, or a run by which Bazel only asks what the compiler can do."""
    fields = text.rstrip("\n").split("\t")
    if len(fields) != len(FIELDS):
        return None
    record = dict(zip(FIELDS, fields))
    if record["output"] in ("", "/dev/null") or "/local_config_cc/" in record["source"]:
        return None
    return {**record, **{name: float(record[name]) for name in ("cpu", "wall", "own")}}


def main(arguments):
    code, cpu, wall = run_gcc(arguments)
    kind, source, output = describe(arguments)
    name = os.path.join(os.path.dirname(os.path.abspath(__file__)), "records", "%d_%d" % (time.time_ns(), os.getpid()))
    with open(name, "w", encoding="utf-8") as file:
        file.write(record_text(kind, cpu, wall, time.process_time(), source, output))
    return code


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))

"""Runs samples/fashion_mnist for the benchmarks, from the workspace or from Bazel's runfiles."""

import os
import subprocess

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def binary(path):
    """The program `path` (such as "samples/fashion_mnist"): beside this script's runfiles, or built in bazel-bin."""
    for candidate in (os.path.join(_ROOT, path), os.path.join(_ROOT, "bazel-bin", path)):
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise SystemExit(f"{path} is not built: bazel build //{os.path.dirname(path)}:{os.path.basename(path)}")


def start(arguments):
    """Starts the sample; its log lines are the process's `stderr`, as text."""
    command = [binary("samples/fashion_mnist")] + arguments
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def check(process, log):
    """Ends the benchmark when the sample failed."""
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(process.args)} failed with {process.returncode}:\n{log[-2000:]}")


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"

"""The GPU bundle's scripts without a GPU: what they pack, how parts end, and the checks on a CPU in the GPU's place."""
import gzip
import importlib.machinery
import importlib.util
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.abspath(f"tools/gpu/{name}"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def heads_of_idx_files():
    bundle = load("bundle")
    source, target = os.path.join(TMP, "images.gz"), os.path.join(TMP, "images")
    with gzip.open(source, "wb") as file:
        file.write(struct.pack(">HBB3I", 0, 8, 3, 5, 2, 3) + bytes(range(30)))
    bundle.copy_head(source, target, 4)
    with open(target, "rb") as file:
        assert file.read() == struct.pack(">HBB3I", 0, 8, 3, 4, 2, 3) + bytes(range(24))
    bundle.copy_head(source, target, 9)
    with open(target, "rb") as file:
        assert file.read() == struct.pack(">HBB3I", 0, 8, 3, 5, 2, 3) + bytes(range(30))


def data_of_the_bundle():
    """The first images of the real data set, where it is installed."""
    bundle = load("bundle")
    files = os.path.join(TMP, "with_data")
    bundle.add_data(files, train=20, test=10)
    sizes = {name: os.path.getsize(os.path.join(files, "fashion-mnist", name))
             for name in os.listdir(os.path.join(files, "fashion-mnist"))}
    assert sizes == {"train-images-idx3-ubyte": 16 + 20 * 784, "train-labels-idx1-ubyte": 8 + 20,
                     "t10k-images-idx3-ubyte": 16 + 10 * 784, "t10k-labels-idx1-ubyte": 8 + 10}, sizes


def packed_programs_run():
    """A program runs through its wrapper, with the bundle's libraries before those of CUDA."""
    bundle = load("bundle")
    root, files = os.path.join(TMP, "root"), os.path.join(TMP, "files")
    os.makedirs(os.path.join(root, "bazel-bin/some"))
    program = subprocess.run(["which", "gzip"], check=True, capture_output=True, text=True).stdout.strip()
    os.symlink(os.path.realpath("samples/fashion_mnist"), os.path.join(root, "bazel-bin/some/sample"))
    os.symlink(os.path.realpath(program), os.path.join(root, "bazel-bin/some/zip"))
    bundle.add_programs(files, {"//some:zip": "tools/zip"}, root)
    run = subprocess.run([os.path.join(files, "tools/zip"), "--version"], capture_output=True, text=True)
    assert run.returncode == 0 and "Jean-loup Gailly" in run.stdout, run
    names = bundle.libraries_of(os.path.join(root, "bazel-bin/some/sample"))
    assert any(n.startswith("libdnnl") for n in names) and any(n.startswith("libabsl") for n in names), names
    assert not any(n.startswith(("libc.so", "libm.so", "ld-linux")) for n in names), names


def report_of_parts():
    """A part that fails, one that is absent and one that passes."""
    run = load("run_bundle")
    run.HERE, run.FILES, run.RESULTS = TMP, TMP, os.path.join(TMP, "results")
    run.unpack = lambda: None
    with open(os.path.join(TMP, "good.sh"), "w", encoding="utf-8") as file:
        file.write("echo fine\n")

    def good(args):
        run.call("good", ["sh", "good.sh"])

    def bad(args):
        run.call("bad", ["sh", "-c", "echo broken; exit 3"])

    def missing(args):
        raise run.Absent("no such tool")

    run.PARTS = (good, bad, missing)
    sys.argv = ["run"]
    assert run.main() == 1
    report = open(os.path.join(TMP, "results/report.json"), encoding="utf-8").read()
    assert '"good": "passed"' in report and '"missing": "absent: no such tool"' in report, report
    assert '"bad": "FAILED: exit code 3' in report, report
    with open(os.path.join(TMP, "results/bad.log"), encoding="utf-8") as file:
        assert file.read() == "broken\n"
    run.PARTS = (good, missing)
    assert run.main() == 0


def checks_on_a_cpu():
    """All checks, with a CPU device in the GPU's place; one curve, and an epoch for the precisions."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        checks = ["parity", "determinism", "tf32"] + ["bfloat16"] * ("avx512f" in file.read())
    run = subprocess.run([sys.executable, "-B", "tools/gpu/checks.py", "--device=cpu:0", "--curves=mnist004_sgd",
                          "--steps=20", "--epochs=1", "--only=" + ",".join(checks)], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    assert run.returncode == 0, run.stdout
    for line in ("mnist004_sgd, cpu:0 and the reference: 60 steps", "mnist004_sgd, cpu:0 and two CPU devices: 60 steps",
                 *(f"ok checks.{c}" for c in checks)):
        assert line in run.stdout, run.stdout


def bad_flags():
    run = subprocess.run([sys.executable, "-B", "tools/gpu/checks.py", "--curves=lenet"], capture_output=True, text=True)
    assert run.returncode == 2 and "no reference called lenet" in run.stderr, run
    run = subprocess.run([sys.executable, "-B", "tools/gpu/run_bundle", "--only=party"], capture_output=True, text=True)
    assert run.returncode == 2 and "party is none of conformance" in run.stderr, run


xunit.run("gpu_tools", [(f.__name__, f) for f in (heads_of_idx_files, data_of_the_bundle, packed_programs_run,
                                                   report_of_parts, checks_on_a_cpu, bad_flags)])

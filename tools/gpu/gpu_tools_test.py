"""The GPU bundle's scripts without a GPU: what they pack, how parts end, and the checks on a CPU in the GPU's place."""
import gzip
import importlib.machinery
import importlib.util
import io
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import time

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]


def load(name):
    loader = importlib.machinery.SourceFileLoader(name.removesuffix(".py"), os.path.abspath(f"tools/gpu/{name}"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
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
    assert any(n.startswith("libdnnl") for n in names) and any(n.startswith("libisal") for n in names), names
    assert not any(n.startswith(("libc.so", "libm.so", "ld-linux")) for n in names), names


def compiler_libraries_are_what_is_used():
    """A tool compiles with libraries that have what it uses, as it does with Debian's, which are several times as large."""
    bundle = load("bundle")
    folder = os.path.join(TMP, "libraries")
    os.makedirs(folder)
    tool = os.path.realpath("tools/tandem-opt")
    bundle.compiler_libraries.link([tool], folder)
    names = bundle.libraries_of(tool, folder)
    for name in ("libLLVM.so.19.1", "libMLIR.so.19.1"):
        assert names[name] == os.path.join(folder, name), names
        assert os.path.getsize(names[name]) < os.path.getsize("/usr/lib/llvm-19/lib/" + name) / 2
    model = os.path.join(TMP, "model.mlir")
    with open(model, "w", encoding="utf-8") as out:
        out.write("""module attributes {exec.config = #exec.config<mode = "predict", devices = ["cpu:0"], batch = 8>} {
  func.func @main() {
    %x = td.input "x" : tensor<?x8xf32>
    %y = td.mul %x, %x : tensor<?x8xf32>
    td.output "y", %y : tensor<?x8xf32>
    return
  }
}
""")
    outputs = [subprocess.run([tool, model, "--compile-to=commands"], capture_output=True, text=True,
                              env={**os.environ, "LD_LIBRARY_PATH": path}) for path in (folder, "")]
    assert outputs[0].returncode == 0 and "exec.launch" in outputs[0].stdout, outputs[0]
    assert outputs[0].stdout == outputs[1].stdout


def bundle_folder(files):
    """A bundle whose archive holds `files` (name -> text), with the real `run`."""
    folder = os.path.join(TMP, "bundle")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with tarfile.open(os.path.join(folder, "files.tar.xz"), "w:xz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo("files/" + name)
            entry.size, entry.mode = len(text), 0o755
            tar.addfile(entry, io.BytesIO(text.encode()))
    shutil.copy("tools/gpu/run_bundle", os.path.join(folder, "run"))
    return folder


def start_bundle(folder, *flags):
    results = os.path.join(TMP, "results")
    command = [sys.executable, "-B", os.path.join(folder, "run"), f"--results={results}",
               f"--unpack={os.path.join(TMP, 'unpacked')}", *flags]
    return results, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run_bundle(folder, *flags):
    results, process = start_bundle(folder, *flags)
    out = process.communicate(timeout=300)[0]
    with open(os.path.join(results, "report.json"), encoding="utf-8") as file:
        entries = {e["name"]: e["outcome"] for e in json.load(file)["entries"]}
    with tarfile.open(os.path.join(results, "results.tar.gz")) as tar:
        packed = set(tar.getnames())
    return process.returncode, entries, packed, out


def archives_open_without_xz():
    """What the bundle is packed with, Python's own module unpacks."""
    bundle = load("bundle")
    data = bytes(range(256)) * 1000
    packed = subprocess.run(bundle.XZ, input=data, capture_output=True, check=True).stdout
    assert lzma.decompress(packed) == data and len(packed) < len(data) // 10


SHELL = "#!/bin/sh\n"


def report_of_pieces():
    """Commands with one folder make one report; a part that fails, one that hangs, and one that passes."""
    shutil.rmtree(os.path.join(TMP, "results"), ignore_errors=True)
    folder = bundle_folder({"tests/conformance": SHELL + "echo broken; exit 3\n", "tests/library_calls": SHELL + "echo fine\n",
                            "samples/fashion_mnist": SHELL + "sleep 1000 & echo $! > \"$CHILD\"; wait\n"})
    code, entries, packed, out = run_bundle(folder, "--device=cpu:0", "--only=conformance")
    assert code == 1, out
    assert entries["conformance"] == "FAILED: exit code 3" and entries["library_calls"] == "passed", entries
    assert {"results/report.json", "results/conformance.log", "results/library_calls.log"} <= packed, packed
    assert "broken" in out and "1 passed, 1 failed or not run, 0 absent" in out, out
    os.environ["CHILD"] = os.path.join(TMP, "child")
    start = time.monotonic()
    code, entries, packed, out = run_bundle(folder, "--device=cpu:0", "--only=dump,conformance", "--minutes=0.15")
    assert code == 1 and time.monotonic() - start < 60, out
    # What the first command found is still there, with its log.
    assert entries["dump"].startswith("FAILED: ended after") and "dump.log" in "".join(packed), (entries, packed)
    assert entries["library_calls"] == "NOT RUN: the time of this command was over", entries
    assert "results/conformance.log" in packed, packed
    # What the program started has ended with it.
    with open(os.environ["CHILD"], encoding="utf-8") as file:
        child = file.read().strip()
    assert not os.path.exists(f"/proc/{child}") or "zombie" in open(f"/proc/{child}/status").read(), child


def a_killed_command_leaves_its_results():
    shutil.rmtree(os.path.join(TMP, "results"), ignore_errors=True)
    folder = bundle_folder({"tests/conformance": SHELL + "echo fine\n", "tests/library_calls": SHELL + "exec sleep 30\n"})
    results, process = start_bundle(folder, "--device=cpu:0", "--only=conformance")
    end = time.monotonic() + 60
    log = os.path.join(results, "library_calls.log")
    while not os.path.exists(log) and time.monotonic() < end:
        time.sleep(0.05)
    process.kill()
    process.communicate()
    with tarfile.open(os.path.join(results, "results.tar.gz")) as tar:
        report = json.load(tar.extractfile("results/report.json"))
        assert tar.extractfile("results/conformance.log").read() == b"fine\n"
    assert [(e["name"], e["outcome"]) for e in report["entries"][1:]] == [("conformance", "passed")], report


def gpus_that_were_asked_for_must_run():
    """Fakes alone, or a skipped case of the real GPU, are no success; replicas that share a GPU may be left out."""
    run = load("run_bundle")

    def why(code, *lines):
        try:
            run.gpu_cases_ran(code, "\n".join(lines) + "\n")
        except run.Failed as failed:
            return str(failed)
        return ""

    fake, real = "[       OK ] Devices/A.B/Fake (3 ms)", "[       OK ] Devices/A.B/Gpu (3 ms)"
    place, shared = "[       OK ] Devices/C.D/gpu1 (0 ms)", "[  SKIPPED ] Devices/C.D/gpu2shared (0 ms)"
    assert why(0, fake, real, place, shared) == ""
    assert why(0, fake, place) == ""
    assert why(1, fake, real) == "exit code 1"
    assert why(0, fake, "[       OK ] Devices/C.D/fake1 (0 ms)").startswith("0 cases ran on a GPU, 0 were skipped")
    assert why(0, real, "[  SKIPPED ] Devices/A.E/Gpu (0 ms)") == "1 cases ran on a GPU, 1 were skipped Devices/A.E/Gpu"


def sanitizers_reports():
    """Those about generated kernels count, those about libraries and expected API errors do not."""
    run = load("run_bundle")

    def verdict(code, text):
        try:
            run.sanitizer_verdict(code, text)
        except (run.Failed, run.Absent) as why:
            return type(why).__name__, str(why)
        return "", ""

    ours = "========= Invalid __global__ read of size 4 bytes\n=========     at td_0123abcd+0x350\n"
    theirs = "========= Invalid __global__ read of size 4 bytes\n=========     at sm90_xmma_gemm_f32f32+0x20\n"
    assert verdict(0, "fine") == ("", "")
    assert verdict(run.FOUND, theirs + "========= ERROR SUMMARY: 1 error\n") == ("", "")
    assert verdict(run.FOUND, theirs + ours)[0] == "Failed" and "td_0123abcd" in verdict(run.FOUND, ours)[1]
    assert verdict(1, "the sample failed") == ("Failed", "exit code 1")
    assert verdict(1, "========= Error: Device not supported. Please refer to the manual\n")[0] == "Absent"


def sanitizer_watches_generated_kernels():
    """With a sanitizer that notes how it is called: its filter, and the programs with kernels that the compiler made."""
    shutil.rmtree(os.path.join(TMP, "results"), ignore_errors=True)
    tools = os.path.join(TMP, "tools")
    os.makedirs(tools, exist_ok=True)
    path = os.path.join(tools, "compute-sanitizer")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SHELL + "echo \"$@\"; [ \"$1\" != --help ] || echo --kernel-regex --report-api-errors\n")
    os.chmod(path, 0o755)
    folder = bundle_folder({"nothing": ""})
    os.environ["PATH"] = tools + ":" + os.environ["PATH"]
    try:
        code, entries, packed, out = run_bundle(folder, "--only=sanitizer", "--tools=memcheck,racecheck",
                                                "--programs=s0,transformer,s0_bf16,transformer_bf16")
    finally:
        os.environ["PATH"] = os.environ["PATH"].split(":", 1)[1]
    assert code == 0, out
    assert {"memcheck_s0", "memcheck_transformer", "racecheck_s0", "racecheck_transformer"} < set(entries), entries
    assert "--kernel-regex kns=td_ --report-api-errors no samples/fashion_mnist --max_steps=3" in out, out
    assert "--model=transformer --batch=8 --steps=2 --deadline_secs=200 --devices=gpu:0" in out, out
    for flags in ("--eval_examples=train:64 --precision=mixed_bfloat16",
                  "--model=transformer --batch=8 --steps=2 --precision=mixed_bfloat16 --deadline_secs=200"):
        assert out.count(flags) >= 2, out  # by both tools


def benchmarks_get_their_flags():
    """With a stand-in for the benchmarks that says how it is called."""
    shutil.rmtree(os.path.join(TMP, "results"), ignore_errors=True)
    folder = bundle_folder({"benchmarks/peers/run": "import os, sys\nprint('flags', *sys.argv[1:])\n"
                            "print(*(f'{n}={v}' for n, v in os.environ.items()), sep='\\n')\n"})
    code, entries, packed, out = run_bundle(folder, "--device=cpu:0", "--only=benchmarks", "--models=s0_bf16,mlp",
                                            "--peers=none", "--live=1", "--rounds=3", "--threads=2", "--image_size=64",
                                            "--minutes=2")
    assert code == 0 and entries["benchmarks_s0_bf16_mlp"] == "passed", out
    flags = next(line for line in out.splitlines() if line.startswith("flags ")).split()[1:]
    results = os.path.join(TMP, "results")
    for flag in ("--device=cpu", "--models=s0_bf16,mlp", "--peers=none", "--live=1", "--rounds=3", "--threads=2",
                 "--image_size=64", f"--python={sys.executable}", f"--json={results}/benchmarks_s0_bf16_mlp.json"):
        assert flag in flags, (flag, flags)
    seconds = next(int(flag.split("=")[1]) for flag in flags if flag.startswith("--seconds="))
    assert 0 < seconds <= 100, seconds  # two minutes, less what it needs to end
    variables = out.splitlines()
    assert f"TANDEM_GPU_PLANS={results}/plans.json" in variables, out
    assert "XLA_PYTHON_CLIENT_PREALLOCATE=false" in variables, out


def losses_are_compared():
    """A loss that is off by more than the bar, one that is not finite, and losses that say nothing."""
    checks = load("checks.py")

    def fails(got, wanted):
        try:
            checks.check_apart("some", got, wanted)
        except AssertionError:
            return True
        return False

    assert not fails([2.0, 1.0], [2.0, 1.0009])
    assert not fails([2.0, 1e-3], [2.0, 1.09e-3]) and fails([2.0, 1e-3], [2.0, 1.11e-3])
    assert fails([2.0, 1.0], [2.0, 1.0011]) and fails([2.0], [2.0, 1.0]) and fails([2.0, 2.0], [2.0, 2.0])
    assert fails([2.0, float("nan")], [2.0, 1.0]) and fails([2.0, 1.0], [2.0, float("inf")])
    assert fails([], [])
    # Rounded operands have a bar of their own, from the first step on.
    first, most = checks.ROUNDED["resnet50"]
    checks.check_apart("some", [2.03, 1.08], [2.0, 1.0], most, first)
    # A training that learns, and does so as well, or does not.
    def accuracy_fails(single, rounded):
        try:
            checks.check_accuracy("some", single, rounded)
        except AssertionError:
            return True
        return False
    assert not accuracy_fails(0.88, 0.866) and accuracy_fails(0.88, 0.864) and accuracy_fails(0.5, 0.5)


def checks_on_a_cpu():
    """All checks, with a CPU device in the GPU's place; one curve, and an epoch for the precisions."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        checks = ["parity", "gradients", "models", "determinism", "tf32"] + ["bfloat16"] * ("avx512f" in file.read())
    run = subprocess.run([sys.executable, "-B", "tools/gpu/checks.py", "--device=cpu:0", "--curves=mnist004_sgd",
                          "--steps=20", "--epochs=1", "--seeds=1", "--models=s0,mlp", "--model_steps=2",
                          "--gradients=mnist,zalando",
                          "--only=" + ",".join(checks)], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    assert run.returncode == 0, run.stdout
    for line in ("mnist004_sgd, cpu:0 and the reference: 60 steps", "mnist004_sgd, cpu:0 and cpu:0 and cpu:1: 60 steps",
                 "s0, cpu:0 and cpu:0: ",
                 *["s0 in bfloat16, cpu:0 and cpu:0 in float32: "] * ("bfloat16" in checks),
                 "zalando, cpu:0 and cpu:0: gradients at most 0 apart",
                 *(f"ok checks.{c}" for c in checks)):
        assert line in run.stdout, run.stdout


def bad_flags():
    run = subprocess.run([sys.executable, "-B", "tools/gpu/checks.py", "--curves=lenet"], capture_output=True, text=True)
    assert run.returncode == 2 and "no reference called lenet" in run.stderr, run
    run = subprocess.run([sys.executable, "-B", "tools/gpu/run_bundle", "--only=party"], capture_output=True, text=True)
    assert run.returncode == 2 and "party is none of smoke, conformance" in run.stderr, run
    run = subprocess.run([sys.executable, "-B", "tools/gpu/checks.py", "--models=s9"], capture_output=True, text=True)
    assert run.returncode == 2 and "s9 is none of s0" in run.stderr, run
    run = subprocess.run([sys.executable, "-B", "tools/gpu/run_bundle", "--tools=valgrind"], capture_output=True,
                         text=True)
    assert run.returncode == 2 and "valgrind is none of memcheck" in run.stderr, run


xunit.run("gpu_tools", [(f.__name__, f) for f in (heads_of_idx_files, data_of_the_bundle, packed_programs_run,
                                                   compiler_libraries_are_what_is_used, archives_open_without_xz,
                                                   report_of_pieces, a_killed_command_leaves_its_results,
                                                   gpus_that_were_asked_for_must_run, sanitizers_reports,
                                                   sanitizer_watches_generated_kernels, benchmarks_get_their_flags,
                                                   losses_are_compared,
                                                   checks_on_a_cpu, bad_flags)])

"""tandem-devices as a user starts it, against what Python and lscpu find out about the machine."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402


def run(*flags, expect=0, **environment):
    done = subprocess.run(["tools/tandem-devices", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60, env={**os.environ, **environment})
    assert done.returncode == expect, (flags, done.returncode, done.stderr)
    return done


def cpuinfo():
    with open("/proc/cpuinfo") as f:
        return [dict(map(str.strip, line.split(":", 1)) for line in block.splitlines() if ":" in line)
                for block in f.read().strip().split("\n\n")]


def the_processor():
    cpu = json.loads(run("--format=json").stdout)["cpu"]
    processors = cpuinfo()
    assert cpu["model"] == processors[0]["model name"], cpu
    assert cpu["logical_processors"] == len(processors), cpu
    assert cpu["usable"] == len(os.sched_getaffinity(0)), cpu
    assert set(cpu["features"]) == set(processors[0]["flags"].split()), cpu
    # LLVM's names and Linux's.
    renamed = {"bmi": "bmi1", "lzcnt": "abm", "sse4.1": "sse4_1", "sse4.2": "sse4_2"}
    assert {renamed.get(f, f) for f in cpu["target_features"]} <= set(cpu["features"]), cpu
    assert cpu["target"].startswith("cpu:") and cpu["target"] != "cpu:native", cpu
    if shutil.which("lscpu"):
        rows = subprocess.run(["lscpu", "--bytes", "--caches=NAME,ONE-SIZE,TYPE,LEVEL", "--json"], capture_output=True, text=True)
        caches = json.loads(rows.stdout)["caches"] if rows.returncode == 0 and rows.stdout else []
        if caches:
            wanted = sorted((int(c["level"]), c["type"].lower(), int(c["one-size"])) for c in caches)
            assert sorted((c["level"], c["type"], c["bytes"]) for c in cpu["caches"]) == wanted, (cpu, wanted)


def one_of_two_processors():
    usable = sorted(os.sched_getaffinity(0))
    if not shutil.which("taskset") or len(usable) < 2:
        return
    done = subprocess.run(["taskset", "-c", str(usable[0]), "tools/tandem-devices", "--format=json"], capture_output=True)
    assert json.loads(done.stdout)["cpu"]["usable"] == 1, done


def libraries():
    machine = json.loads(run("--format=json").stdout)
    by_name = {library["name"]: library for library in machine["libraries"]}
    assert {"LLVM", "oneDNN", "CUDA driver", "cuBLASLt", "cuDNN", "NCCL"} == set(by_name), by_name
    for name in ("LLVM", "oneDNN"):
        assert by_name[name]["version"][0].isdigit() and os.path.isfile(by_name[name]["file"]), by_name[name]
    missing = json.loads(run("--format=json", TANDEM_LIBNCCL="/nowhere/libnccl.so").stdout)
    nccl = next(library for library in missing["libraries"] if library["name"] == "NCCL")
    assert "version" not in nccl and "tried /nowhere/libnccl.so" in nccl["problem"], nccl


def without_gpus(body, functions=None):
    """What the tool says with a libcuda.so.1 that has these functions, all of them by default; `body` replaces some."""
    with open("runtime/cuda/driver/driver_api.h") as f:
        names = re.findall(r"X\((\w+), \(", f.read()) if functions is None else functions
    folder = os.path.join(os.environ["TEST_TMPDIR"], "driver")
    os.makedirs(folder, exist_ok=True)
    source = body + "".join("int %s() { return 0; }\n" % name for name in names if name + "(" not in body)
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", folder + "/libcuda.so.1"], input=source, text=True,
                   check=True)
    machine = json.loads(run("--format=json", LD_LIBRARY_PATH=folder).stdout)
    assert not machine["gpus"], machine
    return machine["no_gpu"]


def why_no_gpu_is_usable():
    no_device = "int cuInit(unsigned flags) { return 100; }\n"
    old = "int cuDriverGetVersion(int* version) { *version = 11080; return 0; }\n"
    assert "it is for CUDA 11.8, and CUDA 12.0 or newer is needed" in without_gpus(old)
    assert "is too old: libcuda.so.1 has no cuDriverGetVersion" in without_gpus("", ["cuInit"])
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    assert "the driver finds no NVIDIA GPU in this machine" in without_gpus(no_device)


def text():
    machine, out = json.loads(run("--format=json").stdout), run().stdout
    assert machine["cpu"]["model"] in out and "cpu:native is " + machine["cpu"]["target"] in out, out
    assert all(len(line) <= 120 for line in out.splitlines() if line.startswith(("  features", "  code uses"))), out
    if machine["gpus"]:
        assert all(gpu["model"] in out for gpu in machine["gpus"]), out
        hidden = json.loads(run("--format=json", CUDA_VISIBLE_DEVICES="").stdout)
        assert not hidden["gpus"] and 'CUDA_VISIBLE_DEVICES=""' in hidden["no_gpu"], hidden
    else:
        assert machine["no_gpu"] in out, (machine, out)


def mistakes():
    assert "--format=xml is unknown; use text or json" in run("--format=xml", expect=2).stderr
    assert "unexpected argument" in run("gpu", expect=2).stderr


xunit.run("devices", [("the_processor", the_processor), ("one_of_two_processors", one_of_two_processors),
                      ("libraries", libraries), ("why_no_gpu_is_usable", why_no_gpu_is_usable), ("text", text), ("mistakes", mistakes)])

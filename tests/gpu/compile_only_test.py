"""Programs for GPUs made and looked at on a machine without one."""
import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import fashion  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

# cuDNN keeps what it made, which the address sanitizer takes for leaks.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
DUMP = os.path.abspath("tools/tandem-dump")
SCALE = os.path.abspath("tools/tandem-scale")
made = {}


def tool(*arguments, expect=0):
    result = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert result.returncode == expect, f"exit code {result.returncode} of {' '.join(arguments)}:\n{result.stdout[-3000:]}"
    return result.stdout


def two_gpus(model="zalando"):
    """A model directory with a convnet's programs for two GPUs."""
    if model not in made:
        data = fashion.make(sample.fresh_dir("data"), train=200, test=50)
        made[model] = sample.fresh_dir(model)
        made["log"] = sample.run("--target=cuda:sm_90", "--devices=gpu:0,gpu:1", "--compile_only", "--batch_size=64",
                                 f"--model={model}", f"--data_dir={data}", f"--model_dir={made[model]}")
    return made[model]


def dump(model="zalando"):
    return json.loads(tool(DUMP, two_gpus(model), "--format=json"))


def programs_of_all_modes_are_written():
    directory = two_gpus()
    for mode in "train", "eval":
        assert len(glob.glob(os.path.join(directory, "compiled", f"{mode}-*.tdx"))) == 1, os.listdir(directory)
        assert f"Compiled mode {mode} for cuda:sm_90: " in made["log"], made["log"]
    assert not glob.glob(os.path.join(directory, "model.ckpt*")), "something ran"


def replicas_and_images():
    d = dump()
    assert [r["device"] for r in d["replicas"]] == ["gpu:0", "gpu:1"]
    assert d["executable"]["target"] == d["gpu"]["target"] == "cuda sm_90"
    assert d["executable"]["lanes"] == 2 and d["executable"]["microbatch_rows"] == 64
    assert [i["arch"] for i in d["gpu"]["images"]] == ["sm_75", "sm_90"]
    assert all(i["ptx_bytes"] > 1000 for i in d["gpu"]["images"])
    assert d["memory"]["lane_slot_bytes"] == 0


def kernels_have_launches():
    kernels = dump()["kernels"]
    assert kernels
    for k in kernels:
        launch = k["launch"]
        assert launch["grid"] >= 1 and 32 <= launch["block"] <= 1024 and launch["block"] % 32 == 0, k
    ptx = tool(DUMP, two_gpus(), "--phase=codegen")
    assert ".target sm_90" in ptx and ptx.count(".entry") >= len(kernels)
    assert ptx.count("_group(") == 1, "all variables are updated by one launch"


def libraries_take_convolutions_and_products():
    plans = dump()["gpu"]["plans"]
    kinds = {p["primitive"] for p in plans}
    assert {"Conv2D", "Conv2DFilterGrad", "MatMul"} <= kinds, kinds
    assert all(p["implementation"].startswith("cublaslt") == (p["primitive"] == "MatMul") for p in plans), plans
    # Each convolution's kernel is brought into cuDNN's layout once, whatever reads it.
    primitives = [p["primitive"] for p in plans]
    assert primitives.count("PackWeights") == primitives.count("Conv2D"), primitives
    assert all(p["implementation"] == "kernel" for p in plans if p["primitive"] == "PackWeights"), plans


def buckets_overlap_with_the_backward_pass():
    d = dump("multi_gpu")
    segments = d["gpu"]["segments"]
    commands = sorted(s for segment in segments for s in segment["commands"])
    assert commands == list(range(len(d["commands"]))), "every command is in one segment"
    collectives = [c for s in segments for c in s.get("collectives", [])]
    assert [c["seq"] for c in collectives] == list(range(len(d["collectives"])))
    assert len({c["bucket"] for c in collectives}) >= 2, "this model has more than a bucket of gradients"
    communication = [i for i, s in enumerate(segments) if s["stream"] == "Communication"]
    assert len(communication) >= 2 and not any(segments[i]["captured"] for i in communication)
    # The first bucket leaves while there is backward work to do, and what comes next does not wait for it.
    after = segments[communication[0] + 1]
    assert after["stream"] == "Compute" and after["waits_for"] == [], segments
    assert all(segments[i]["waits_for"] for i in communication)
    # The update waits for the last bucket.
    last = segments[-1]
    assert last["stream"] == "Compute" and last["waits_for"] == [segments[communication[-1]]["name"]], last
    captured = [s for s in segments if s["captured"]]
    assert captured and all(s["stream"] == "Compute" for s in captured)


def text_names_streams_and_buckets():
    text = tool(DUMP, two_gpus())
    for part in ("GPU program for cuda sm_90", "Streams (", "Communication", "captured", "NCCL all_reduce sum seq 0",
                 "grid ", "Library calls (", "on gpu:1"):
        assert part in text, f"no {part!r} in:\n{text[:3000]}"


def other_formats_and_tools_take_it():
    assert "digraph" in tool(DUMP, two_gpus(), "--format=dot")
    assert "<html" in tool(DUMP, two_gpus(), "--format=html")
    costs = tool(DUMP, two_gpus(), "--costs")
    assert "Machine h200, 1 threads" in costs and "expected" in costs, costs[:2000]
    assert "Machine h100, 1 threads" in tool(DUMP, two_gpus(), "--costs", "--machine=h100")
    # A link of 400 GB/s: two GPUs wait hardly longer than one.
    forecast = tool(SCALE, two_gpus("multi_gpu"), "--local=400,3", "--max_devices=2")
    assert "times are those expected of h200" in forecast and "efficiency" in forecast, forecast
    # Between hosts NCCL has its own ways, not those of processes on CPUs: 4 hosts are a ring unless a tree is asked for.
    def step_of_4(*flags):
        return re.search(r"^ *4 .*$", tool(SCALE, two_gpus("multi_gpu"), "--network=0.1,1000", *flags), re.M).group(0)
    assert step_of_4() == step_of_4("--algorithm=ring") != step_of_4("--algorithm=direct")
    times = os.path.join(sample.fresh_dir("times"), "times.csv")
    with open(times, "w", encoding="utf-8") as file:
        file.write("bytes,processes,communication,seconds\n1000,2,tcp,0.1\n")
    assert "do not go together" in tool(SCALE, two_gpus("multi_gpu"), "--measured=" + times, expect=2)
    assert "parameter servers do not serve" in tool(SCALE, two_gpus("multi_gpu"), "--servers=2", expect=2)
    expanded = json.loads(tool(DUMP, two_gpus(), "--format=json", "--expand_replicas"))
    assert {s["replica"] for s in expanded["commands"]} == {"replica_0", "replica_1"}


def a_directory_may_hold_programs_for_several_targets():
    data = fashion.make(sample.fresh_dir("data2"), train=64, test=16)
    directory = sample.fresh_dir("both")
    for flags in (["--target=cuda:sm_80", "--devices=gpu:0"], ["--devices=cpu:0"]):
        sample.run(*flags, "--compile_only", "--batch_size=16", f"--data_dir={data}", f"--model_dir={directory}")
    gpu = json.loads(tool(DUMP, directory, "--format=json", "--target=cuda:sm_80"))
    assert [i["arch"] for i in gpu["gpu"]["images"]] == ["sm_75"]
    # One device has nothing to combine: one captured segment.
    assert [(s["stream"], s["captured"]) for s in gpu["gpu"]["segments"]] == [("Compute", True)]
    assert "gpu" not in json.loads(tool(DUMP, directory, "--format=json", "--target=cpu"))
    assert "cuda:sm_90" in tool(DUMP, directory, "--target=cuda:sm_90", expect=66)


def other_samples_compile_too():
    directory = sample.fresh_dir("linear")
    tool(os.path.abspath("samples/linear_estimator"), "--target=cuda:sm_75", "--compile_only",
         f"--model_dir={directory}")
    d = json.loads(tool(DUMP, directory, "--format=json"))
    assert d["gpu"]["target"] == "cuda sm_75" and d["replicas"][0]["device"] == "gpu:0"


def precisions():
    data = fashion.make(sample.fresh_dir("data4"), train=64, test=16)
    flags = ["--devices=gpu:0", "--compile_only", "--batch_size=16", f"--data_dir={data}"]
    mixed = sample.fresh_dir("mixed")
    sample.run("--target=cuda:sm_90", "--precision=mixed_bfloat16", *flags, f"--model_dir={mixed}")
    types = {b["dtype"] for b in json.loads(tool(DUMP, mixed, "--format=json"))["memory"]["buffers"]}
    assert "bfloat16" in types, types
    old = sample.run("--target=cuda:sm_75", "--precision=mixed_bfloat16", *flags,
                     f"--model_dir={sample.fresh_dir('old')}")
    assert "mixed_bfloat16 is computed in float32" in old and 'machine model "t4"' in old, old
    rounded = sample.fresh_dir("tf32")
    sample.run("--target=cuda:sm_80", "--tf32", *flags, f"--model_dir={rounded}")
    plans = json.loads(tool(DUMP, rounded, "--format=json"))["gpu"]["plans"]
    assert all(p["tf32"] == (p["primitive"] != "PackWeights") for p in plans), plans


def the_same_program_twice():
    data = fashion.make(sample.fresh_dir("data3"), train=64, test=16)
    files = []
    for name in "first", "second":
        directory = sample.fresh_dir(name)
        sample.run("--target=cuda:sm_90", "--devices=gpu:0", "--compile_only", "--batch_size=16", f"--data_dir={data}",
                   f"--model_dir={directory}")
        with open(glob.glob(os.path.join(directory, "compiled", "train-*.tdx"))[0], "rb") as f:
            files.append(f.read())
    assert files[0] == files[1]


xunit.run("compile_only", [(f.__name__, f) for f in (
    programs_of_all_modes_are_written, replicas_and_images, kernels_have_launches,
    libraries_take_convolutions_and_products, buckets_overlap_with_the_backward_pass, text_names_streams_and_buckets,
    other_formats_and_tools_take_it, a_directory_may_hold_programs_for_several_targets, other_samples_compile_too,
    precisions, the_same_program_twice)])

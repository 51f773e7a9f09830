"""What shows where a step's time goes: --trace of a sample, and tandem-dump's costs, dot and html of its program.

The html is loaded in a headless Chromium: the script must run without an error and draw every op and command.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import browser  # noqa: E402
import xunit  # noqa: E402

TMP = os.environ.get("TEST_TMPDIR", "/tmp")
MODEL = os.path.join(TMP, "model")
TRACE = os.path.join(TMP, "trace.json")
STEPS = (3, 5)  # traced
BATCH = 64


def run(*command):
    """stdout of a command that must succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 0, (command, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def dump(*flags):
    return run("tools/tandem-dump", MODEL, *flags)


def train():
    run("samples/fashion_mnist", "--model_dir=" + MODEL, "--max_steps=8", "--batch_size=%d" % BATCH, "--devices=cpu:0",
        # Without Winograd, whose operations are fewer than the convolution's definition says.
        "--precision=strict_float32", "--threads=2", "--save_checkpoints_steps=4", "--eval_examples=train:64",
        "--trace=" + TRACE, "--trace_steps=%d-%d" % STEPS)


def trace():
    data = json.load(open(TRACE))
    events = [e for e in data["traceEvents"] if e["ph"] == "X"]
    tracks = {e["tid"]: e["args"]["name"] for e in data["traceEvents"] if e["name"] == "thread_name"}
    assert tracks == {0: "session", 1: "thread 0", 2: "thread 1"}, tracks
    assert {e["tid"] for e in events} <= set(tracks)
    phases = collections.Counter(e["name"] for e in events if e["tid"] == 0)
    traced = STEPS[1] - STEPS[0] + 1
    # An evaluation after a checkpoint is a loop inside a hook.
    for phase in ("step", "input wait", "hooks before the step", "hooks after the step"):
        assert traced <= phases[phase] <= 2 * traced, phases
    assert phases["checkpoint 4"] == 1 and phases["CheckpointSaverHook"] == traced, phases
    commands = [e for e in events if e["tid"] > 0 and e["cat"] == "train"]
    assert {e["args"]["step"] for e in commands} == set(range(STEPS[0], STEPS[1] + 1))
    names = {e["name"] for e in commands}
    # As the user scoped them.
    assert {"conv2d/Conv2D", "dense/Relu", "gradients/conv2d_1/Conv2D/Conv2dFilterGrad", "Adam/ApplyAdam"} <= names, names
    for e in commands:
        a = e["args"]
        assert a["bound"] in ("compute", "L1", "L2", "L3", "DRAM", "overhead") and a["expected_us"] > 0, e
        assert a["source"].startswith("samples/") or not a["source"] or ".cc:" in a["source"], e
    # Every image goes through the first layer once in a step.
    rows = sum(e["args"]["rows"] for e in commands if e["name"] == "conv2d/Conv2D")
    assert rows == BATCH * traced, rows
    assert all(e["args"]["GFLOP/s"] > 0 for e in commands if e["name"] == "conv2d/Conv2D")
    # Events of one thread do not overlap.
    for track in (1, 2):
        end = 0
        for e in sorted((e for e in events if e["tid"] == track), key=lambda e: e["ts"]):
            assert e["ts"] >= end - 0.002, (e, end)
            end = e["ts"] + e["dur"]


def trace_of_tandem_run():
    out = os.path.join(TMP, "run.json")
    run("tools/tandem-run", MODEL, "--mode=train", "--steps=2", "--trace=" + out)
    events = [e for e in json.load(open(out))["traceEvents"] if e["ph"] == "X"]
    assert sum(e["name"] == "step" for e in events) == 2
    assert {e["args"]["step"] for e in events if e["tid"] > 0} == {0, 1}


def trace_by_environment():
    out = os.path.join(TMP, "environment.json")
    done = subprocess.run(["samples/fashion_mnist", "--model_dir=" + MODEL, "--max_steps=10", "--batch_size=%d" % BATCH,
                           "--precision=strict_float32", "--devices=cpu:0", "--eval_examples=train:64"], timeout=300, capture_output=True, text=True,
                          env={**os.environ, "TANDEM_TRACE": out, "TANDEM_TRACE_STEPS": "1"})
    assert done.returncode == 0 and "Wrote a trace of 1 steps to " + out in done.stderr, done.stderr[-2000:]
    # The second step of this process is the tenth of the model.
    assert {e["args"]["step"] for e in json.load(open(out))["traceEvents"] if e.get("cat") == "train"} == {9}


def mistakes():
    for flags, code, message in ((["--profile=/nowhere.json"], 66, "/nowhere.json"),
                                 (["--mode=eval", "--profile=" + os.path.join(TMP, "environment.json")], 2, "has no commands of"),
                                 (["--costs", "--machine=/nowhere.txt"], 66, "/nowhere.txt"),
                                 (["--format=svg"], 2, "use text, json, dot or html")):
        done = subprocess.run(["tools/tandem-dump", MODEL, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60)
        assert done.returncode == code and message in done.stderr, (flags, done.returncode, done.stderr)


def check_costs(costs, runs):
    assert costs["runs"] >= runs and costs["measured_us"] > 0 and costs["limit_us"] > 0, costs
    assert abs(sum(s["share"] for s in costs["commands"]) + costs["idle_share"] - 1) < 0.01, costs
    assert abs(costs["of_limit"] - costs["limit_us"] / costs["measured_us"]) < 1e-3, costs
    conv = next(s for s in costs["commands"] if s["name"].startswith("conv2d_1/") and s["detail"].startswith("Conv2D "))
    # 11 x 11 outputs of 64 channels, each from 3 x 3 x 32; all images of the batch.
    assert conv["flops"] * conv["calls"] == 2 * BATCH * 11 * 11 * 64 * 3 * 3 * 32, conv
    assert conv["measured_us"] > 0 and conv["gflops"] > 0 and conv["bound"] == "compute", conv


def costs():
    check_costs(json.loads(dump("--costs", "--format=json", "--threads=2"))["costs"], runs=3)
    check_costs(json.loads(dump("--format=json", "--profile=" + TRACE))["costs"], runs=3)
    evaluated = json.loads(dump("--mode=eval", "--format=json", "--profile=" + TRACE))["costs"]
    assert evaluated["runs"] == 1 and evaluated["measured_us"] > 0, evaluated  # 64 examples, a batch
    text = dump("--profile=" + TRACE)
    assert re.search(r"expected .*the machine's limit .*; measured .* of the limit", text), text
    assert re.search(r"%\s+\d+\s.*compute\s+conv2d_1/", text), text


def dot():
    program = json.loads(dump("--format=json"))
    text = dump("--format=dot")
    sections = {s["section"] for s in program["commands"]}
    nodes = re.findall(r"^\s+s(\d+) \[label=", text, re.M)
    assert [int(n) for n in nodes] == list(range(len(program["commands"]))), nodes
    assert text.count("subgraph cluster_") == len(sections), text
    assert " -> " in text and text.count("{") == text.count("}")
    for end in re.findall(r"s(\d+) -> s(\d+)", text):
        assert int(end[0]) < int(end[1]), end  # what is read was written before
    if shutil.which("dot"):
        path = os.path.join(TMP, "program.dot")
        with open(path, "w") as f:
            f.write(text)
        assert "<svg" in run("dot", "-Tsvg", path)


def page(path, fragment):
    """The attributes of the root, and the elements of the view as text, after the script has run."""
    root, text = browser.load(path, fragment)
    return root, text[text.index('<main id="view">'):text.index("</main>")]


def html_page():
    path = os.path.join(TMP, "program.html")
    with open(path, "w") as f:
        f.write(dump("--format=html", "--profile=" + TRACE))
    text = open(path).read()
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|@import|url\(""", text), "the page must need no network"
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))
    phases = {p["name"]: p for p in data["phases"]}

    root, view = page(path, "overview")
    assert root["tab"] == "overview" and int(root["phases"]) == len(phases)
    assert int(root["commands"]) == len(data["costs"]["commands"]) > 20
    assert "Where the time goes" in view

    for phase in ("input", "distribute", "fusion", "memory"):
        ops = phases[phase.strip()]
        ops = phases[ops["same"]] if "same" in ops else ops
        root, view = page(path, "graph/" + phase)
        assert int(root["nodes"]) == len(ops["ops"]) > 50, (phase, root)
        assert int(root["rows"]) == len(re.findall(r'<div class="row', view)) > 10, (phase, root)
    # Searching opens what folds it, and one hit is chosen: its neighbours and its kernel are shown.
    # An op that is the same in its kernel: a convolution by then is another one.
    ops = [" ".join(map(str, p[:5])) for p in phases["distribute"]["ops"]]
    fused = next(o["name"] for k in data["kernels"] for o in k["ops"]
                 if o.get("name") and sum(o["name"] in text for text in ops) == 1
                 and any(o["name"] in text and o["op"] + " " in text + " " for text in ops))
    root, view = page(path, "graph/distribute/" + fused)
    assert re.search(r'<div class="row[^"]*picked', view) and view.count("<path") >= 2, view[:3000]
    assert '<div class="panel"><h3>' + fused in view and "<dt>kernel</dt>" in view, view[-3000:]

    _, view = page(path, "costs")
    assert view.count("<tr>") == len(data["costs"]["commands"]) + 1
    assert "of the limit" in view
    _, view = page(path, "memory")
    assert view.count("<rect") == sum(len(a["live"]) for a in data["arenas"]) > 10
    _, view = page(path, "ir/fusion/exec.launch")
    assert view.count("<mark>") >= 5 and "loc(" not in view


xunit.run("profile", [("train", train), ("trace", trace), ("trace_of_tandem_run", trace_of_tandem_run),
                      ("trace_by_environment", trace_by_environment),
                      ("mistakes", mistakes), ("costs", costs), ("dot", dot), ("html", html_page)])

"""The peer harness without peers: the protocol and its failures, medians, ratios, bars, and the table of a recording."""
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import time

PEERS = os.path.abspath("benchmarks/peers")
sys.path[:0] = [os.path.abspath("tests/support"), PEERS]
import models  # noqa: E402
import results  # noqa: E402
import rows  # noqa: E402
import table  # noqa: E402
import workers  # noqa: E402
import xunit  # noqa: E402

LOG = os.path.join(os.environ["TEST_TMPDIR"], "worker.log")


def fake_worker(*flags):
    heard = []
    command = [sys.executable, os.path.join(PEERS, "testdata", "fake_worker.py"), *flags]
    return workers.Worker("fake", command, LOG, lambda message, after: heard.append((after, message))), heard


def raises(function, pattern):
    try:
        function()
    except workers.WorkerFailed as error:
        assert re.search(pattern, str(error)), error
        return
    raise AssertionError(f"no error like {pattern}")


def protocol_works():
    worker, heard = fake_worker("--step=0.01")
    try:
        ready = worker.wait_for("ready", 60)
        assert ready["model"] == "fake" and ready["batch"] == 7 and ready["parameters"] == 11, ready
        assert ready["first_loss"] == 1 and ready["peak_rss_bytes"] > 1e6, ready
        assert worker.run(5, 60) >= 0.01
        assert worker.run(1, 60) >= 0.01
    finally:
        worker.stop()
    assert [m["event"] for _, m in heard] == ["first_step", "ready", "ran", "ran"], heard
    assert [m["steps"] for _, m in heard[2:]] == [5, 1]
    assert 0 < heard[0][0] <= heard[1][0] <= heard[2][0], heard
    # Standard output belongs to the protocol; what a library prints is in the log.
    with open(LOG, encoding="utf-8") as file:
        assert "greeting" in file.read()


def worker_ends_at_end_of_input():
    worker, _ = fake_worker()
    worker.wait_for("ready", 60)
    start = time.monotonic()
    worker.stop()
    assert time.monotonic() - start < 5, "the worker had to be killed"


def failures_have_reasons():
    worker, _ = fake_worker("--fail=start")
    raises(lambda: worker.wait_for("ready", 60), "ended with 1: cannot start")
    worker.stop()
    worker, _ = fake_worker("--fail=run")
    worker.wait_for("ready", 60)
    raises(lambda: worker.run(2, 60), "ended with 1: lost my way")
    worker.stop()
    worker, _ = fake_worker("--fail=silent")
    worker.wait_for("ready", 60)
    raises(lambda: worker.run(2, 0.2), "no \"ran\" within 0 s")
    worker.stop()


def load_driver(name="run"):
    path = os.path.join(PEERS, name)
    driver = importlib.util.module_from_spec(importlib.util.spec_from_loader(
        "driver", importlib.machinery.SourceFileLoader("driver", path)))
    driver.__spec__.loader.exec_module(driver)
    return driver


def turns_last_as_long_as_asked():
    """Steps of a turn and rounds of a row, from what a worker says."""
    driver = load_driver()
    row = rows.Row("r", "s0", 1, turn_seconds=0.4)
    assert [driver.turn_steps(row, s) for s in (1e-9, 1e-4, 0.1, 0.39, 3.0)] == [20000, 4000, 4, 1, 1]


def cluster_runs_as_one():
    """All are told, and the slowest counts; one that ends is noticed while others still keep silent."""
    slow, _ = fake_worker("--step=0.02")
    fast, _ = fake_worker("--step=0.001")
    cluster = workers.Cluster([slow, fast])
    try:
        assert [m["batch"] for m in cluster.wait_for("ready", 60)] == [7, 7]
        assert cluster.run(3, 60) >= 0.02
        raises(lambda: cluster.wait_for("ran", 0.1), "no \"ran\" of worker 0 within 0 s")
    finally:
        cluster.stop()
    cluster = workers.Cluster([fake_worker("--fail=silent")[0], fake_worker("--fail=run")[0]])
    try:
        cluster.wait_for("ready", 60)
        start = time.monotonic()
        raises(lambda: cluster.run(2, 60), "ended with 1: lost my way")
        assert time.monotonic() - start < 20
    finally:
        cluster.stop()


def lines_are_parsed():
    assert results.parse_line('{"event": "ran", "steps": 2, "seconds_per_step": 0.5}\n')["seconds_per_step"] == 0.5
    for line in ("", "WARNING: {}", "{", '{"steps": 2}', '{"event": "ran"', "[1]", "3"):
        assert results.parse_line(line) is None, line


def events(row, group, worker, seconds, rss=None, **ready):
    """What a worker says in a run of len(seconds) rounds."""
    entry = {"row": row, "worker": worker, "group": group}
    yield {**entry, "round": -1, "after": 2.0, "said": {"event": "first_step"}}
    yield {**entry, "round": -1, "after": 3.0, "said": {"event": "ready", "batch": 512, "parameters": 5, **ready}}
    for number, s in [(-1, 9.0), *enumerate(seconds)]:
        said = {"event": "ran", "steps": 3, "seconds_per_step": s, "loss": 1.0}
        yield {**entry, "round": number, "after": 4.0 + number,
               "said": {**said, "peak_rss_bytes": rss} if rss else said}


def near(a, b):
    return a is not None and abs(a - b) <= 1e-9 * abs(b)


def quantities_by_hand():
    """Two groups between which the machine became half as fast: ratios are of one group each."""
    matmul = {"flops_per_step": 4e9, "parameters": 0}
    tandem = {"flops_per_step": 1e9}
    recorded = [
        *events("s0", 0, "matmul", [0.04, 0.04, 0.09], **matmul),
        *events("s0", 0, "tandem", [0.010, 0.012, 0.011], 70e6, **tandem),
        *events("s0", 0, "tandem 1 thread", [0.022, 0.021, 0.023], **tandem),
        *events("s0", 0, "tandem 2 devices", [0.0110, 0.0100, 0.0120], **tandem),
        *events("s0", 0, "tandem direct", [0.020, 0.022, 0.030], **tandem),
        *events("s0", 0, "tandem bf16", [0.005, 0.0055, 0.006], **tandem),
        *events("s0", 1, "matmul", [0.08, 0.08, 0.08], **matmul),
        *events("s0", 1, "tandem", [0.022, 0.022, 0.022], 80e6, **tandem),
        *events("s0", 1, "jax", [0.066, 0.065, 0.088], 200e6),
        *events("s0", 1, "tf.estimator", [0.055, 0.044, 0.050], 100e6),
        *events("s0", 1, "torch bf16", [0.033, 0.033, 0.033], 50e6),
        {"row": "s0", "worker": "torch eager", "group": 1, "round": 1, "failed": "ended with 1: killed"},
    ]
    row = results.summarize(recorded)["rows"]["s0"]
    q = row["quantities"]
    assert q["fastest peer"] == "tf.estimator" and near(q["speedup"], 0.050 / 0.022), q
    assert near(q["speedup direct"], 0.050 / 0.022 / 2), q
    assert near(q["threads"], 2) and near(q["two devices"], 1) and near(q["bf16 gain"], 2), q
    assert q["fastest bf16 peer"] == "torch bf16" and near(q["speedup bf16"], 1.5 * 2), q
    assert near(q["fraction"], (1e9 / 0.011) / (4e9 / 0.04)) and near(q["fraction direct"], (1e9 / 0.022) / 1e11), q
    assert near(q["microseconds"], 11000), q
    # The leanest float32 peer; the bfloat16 one does not count. Tandem's peak is that of the first group.
    assert q["leanest peer"] == "tf.estimator" and near(q["memory"], 0.7), q
    assert near(row["workers"]["jax"]["tandem_speedup"], 3), row
    assert len(row["workers"]["jax"]["seconds"]) == 3  # without the trial before the rounds
    assert "killed" in row["workers"]["torch eager"]["failed"]
    assert near(row["workers"]["tandem"]["gflops_per_second"], 1 / 0.011)
    reached = {b["quantity"]: b["reached"] for b in results.summarize(recorded)["bars"]}
    assert reached == {"speedup": True, "speedup direct": False, "fraction direct": False, "bf16 gain": True,
                       "speedup bf16": True, "memory": True, "two devices": True, "threads": True}, reached


def bars_know_their_side():
    def reached(seconds):
        found = results.summarize(list(events("linear", 0, "tandem", [seconds])))["bars"]
        return {b["quantity"]: b["reached"] for b in found}
    assert reached(8e-6) == {"microseconds": True, "speedup": None}
    assert reached(8.1e-6) == {"microseconds": False, "speedup": None}


def differing_models_are_told():
    recorded = [*events("mlp", 0, "tandem", [1.0], parameters=5), *events("mlp", 0, "jax", [1.0], parameters=6)]
    text = table.render(results.summarize(recorded))
    assert "not the same number of parameters" in text, text
    recorded = [*events("mlp", 0, "tandem", [1.0]), *events("mlp", 0, "jax", [1.0]),
                *events("mlp", 0, "matmul", [1.0], parameters=0, flops_per_step=1.0)]
    assert "not the same number" not in table.render(results.summarize(recorded))


def startup_by_hand():
    recorded = []
    for worker, starts in (("tandem", (0.5, 0.9, 0.4)), ("tf.estimator", (6.0, 5.0, 4.0))):
        for number, after in enumerate(starts):
            recorded.append({"row": "startup", "worker": worker, "group": 0, "round": number, "after": after,
                             "said": {"event": "first_step"}})
    summary = results.summarize(recorded)
    assert near(summary["rows"]["startup"]["quantities"]["speedup"], 10)
    assert [b["reached"] for b in summary["bars"]] == [True]


def rows_are_consistent():
    one_peer = {"cpu": "tf.estimator", "gpu": "torch gpu graphs", "input": "tf.data"}
    for row in rows.ROWS.values():
        assert (row.device == "input" or row.model in models.NAMES) and row.tandem[0] == "tandem", row
        assert set(row.tandem) <= set(row.tandem_variants), row
        assert set(row.skip) <= set(rows.PEERS), row
        suffix = {"float32": "", "tf32": " tf32", "bfloat16": " bf16"}[row.precision]
        assert one_peer[row.device] + suffix in row.peers(), row
        peers = [rows.PEERS[p] for p in row.peers()]
        assert all(p.precision == row.precision or (p.bf16 and row.bf16) for p in peers), row
        assert all(p.device == row.device for p in peers), row
        assert row.device != "cpu" or models.make(row.model).batch == row.batch or row.name == "s0_64", row
    for bar in rows.BARS:
        assert bar.row in rows.ROWS or bar.row == results.STARTUP, bar
        assert (bar.at_least is None) != (bar.at_most is None), bar
    for name, row in rows.ROWS_TOGETHER.items():
        assert row.model == name in models.NAMES and row.peers() and row.at_least > 1, row
    for peer in (*rows.PEERS.values(), *rows.TOGETHER.values()):
        assert os.path.exists(os.path.join(PEERS, peer.script)), peer
        assert os.path.exists(os.path.join(PEERS, "requirements", peer.environment + ".txt")), peer


def input_rows_by_hand():
    """Who has read another first batch is told; scaled pictures are others."""
    def recorded(checksum):
        return [*events("input_jpeg_grey_90", 0, "tandem", [0.02, 0.02], checksum=50.0),
                *events("input_jpeg_grey_90", 0, "tandem scaled", [0.01, 0.01], checksum=49.0),
                *events("input_jpeg_grey_90", 0, "tf.data", [0.03, 0.028], checksum=checksum)]
    summary = results.summarize(recorded(50.000001))
    assert near(summary["rows"]["input_jpeg_grey_90"]["quantities"]["speedup"], 0.029 / 0.02), summary
    assert [b["reached"] for b in summary["bars"]] == [True], summary
    assert "first batches differ" not in table.render(summary)
    assert "first batches differ" in table.render(results.summarize(recorded(50.1)))


def gpu_rows_by_hand():
    """The roofline's yardstick, host time, and peers of the row's precision."""
    yard = {"flops_per_second": 1e12, "bytes_per_second": 1e11, "parameters": 0}
    work = {"work": [[2e9, 1e7], [1e6, 3e8]], "flops_per_step": 2e9}  # 2 ms of arithmetic, then 3 ms of memory
    entry = {"row": "gpu_s0_4096", "worker": "tandem", "group": 0}
    recorded = [
        *events("gpu_s0_4096", 0, "roofline", [0.01], **yard),
        {**entry, "round": -1, "after": 1.0, "said": {"event": "ready", "batch": 4096, "parameters": 5, **work}},
        *({**entry, "round": n, "after": 2.0, "said": {"event": "ran", "steps": 1, "seconds_per_step": s,
                                                       "host_seconds_per_step": h}}
          for n, (s, h) in enumerate([(0.010, 2e-5), (0.008, 3e-5), (0.012, 4e-5)])),
        *events("gpu_s0_4096", 0, "torch gpu graphs", [0.015, 0.014, 0.016]),
        *events("gpu_s0_4096", 0, "torch gpu bf16", [0.001]),
    ]
    summary = results.summarize(recorded)
    q = summary["rows"]["gpu_s0_4096"]["quantities"]
    assert near(q["roofline"], 0.005 / 0.010) and near(q["host microseconds"], 30), q
    assert q["fastest peer"] == "torch gpu graphs" and near(q["speedup"], 1.5), q
    assert {b["quantity"]: b["reached"] for b in summary["bars"]} == {"speedup": True, "roofline": True}, summary
    assert "roofline" in table.render(summary)
    # A row in bfloat16: of two peers, the one that computes so.
    summary = results.summarize([*events("gpu_s0_bf16", 0, "tandem", [0.002]),
                                 *events("gpu_s0_bf16", 0, "torch gpu graphs", [0.001]),
                                 *events("gpu_s0_bf16", 0, "torch gpu graphs bf16", [0.005])])
    q = summary["rows"]["gpu_s0_bf16"]["quantities"]
    assert q["fastest peer"] == "torch gpu graphs bf16" and near(q["speedup"], 2.5), q
    # Its memory traffic against the bandwidth: the rate of a float32 product says nothing about its arithmetic.
    summary = results.summarize([{**e, "row": "gpu_resnet50_bf16"} for e in recorded])
    q = summary["rows"]["gpu_resnet50_bf16"]["quantities"]
    assert near(q["bandwidth"], 0.31e9 / 1e11 / 0.010) and "roofline" not in q, q


def drive(*flags, expect=0, program="run"):
    run = subprocess.run([sys.executable, "-B", os.path.join(PEERS, program), *flags], capture_output=True, text=True)
    assert run.returncode == expect, (run.returncode, run.stdout, run.stderr)
    return run.stdout + run.stderr


def recording_gives_its_table():
    with open(os.path.join(PEERS, "testdata", "table.txt"), encoding="utf-8") as file:
        wanted = file.read()
    got = drive("--replay=" + os.path.join(PEERS, "testdata", "recording.json"))
    assert got == wanted, got


def bad_flags():
    assert '"s9" is none of s0' in drive("--models=s9", expect=2)
    assert '"mxnet" is none of tf.estimator' in drive("--peers=mxnet", expect=2)
    assert "invalid choice: 'tpu'" in drive("--device=tpu", expect=2)
    assert "is not built" in drive("--model_bench=/nowhere", expect=2)


def what_fails_is_recorded():
    """A program that ends at once fails its row, and the file says so; the rows behind it have their turn."""
    path = os.path.join(os.environ["TEST_TMPDIR"], "failed.json")
    out = drive("--models=linear,mlp", "--peers=none", "--model_bench=/bin/false", "--json=" + path, expect=1)
    with open(path, encoding="utf-8") as file:
        written = json.load(file)
    for row in ("linear", "mlp"):
        assert f"{row}: matmul, tandem" in out, out
        assert set(written["rows"][row]["workers"]) == {"matmul", "tandem"}, written["rows"]
        assert "ended with 1" in written["rows"][row]["workers"]["tandem"]["failed"], written["rows"]


def what_has_no_time_is_told():
    path = os.path.join(os.environ["TEST_TMPDIR"], "late.json")
    out = drive("--models=linear,mlp", "--peers=none", "--seconds=1", "--json=" + path, "--model_bench=/bin/false",
                expect=3)
    assert "no time was left for mlp: matmul, tandem" in out, out
    with open(path, encoding="utf-8") as file:
        assert json.load(file)["left_out"] == ["linear: matmul, tandem", "mlp: matmul, tandem"]


def groups_fit_a_gpu():
    """One peer at a time beside Tandem, and one measurement of the machine; a CPU's yardstick is in every group."""
    driver = load_driver()
    row = rows.ROWS["gpu_s0"]
    groups = driver.groups_of(row, ["jax gpu", "torch gpu graphs"], 0)
    assert groups == [["roofline", "tandem", "jax gpu"], ["tandem", "torch gpu graphs"]]
    assert driver.groups_of(row, ["jax gpu", "torch gpu graphs"], 2) == [["roofline", "tandem", "jax gpu",
                                                                          "torch gpu graphs"]]
    assert all(rows.PEERS[p].bf16 for p in rows.ROWS["gpu_s0_bf16"].peers())
    assert not any(rows.PEERS[p].bf16 for p in row.peers())
    assert rows.ROWS["gpu_s0_tf32"].peers() == ["torch gpu compile tf32", "torch gpu graphs tf32", "jax gpu tf32"]
    assert driver.groups_of(rows.ROWS["mlp"], ["jax", "torch eager"], 0) == [["matmul", "tandem", "jax", "torch eager"]]
    assert driver.groups_of(rows.ROWS["mlp"], [], 0) == [["matmul", "tandem"]]


def workers_share_a_gpu():
    """What keeps a peer from taking the GPU's memory for itself reaches it."""
    command = [sys.executable, "-c", "import os, json; print(json.dumps({'event': 'ready', **os.environ}))"]
    worker = workers.Worker("fake", command, LOG, lambda message, after: None)
    try:
        said = worker.wait_for("ready", 60)
    finally:
        worker.stop()
    assert said["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false", said
    assert said["PYTORCH_CUDA_ALLOC_CONF"] == "expandable_segments:True", said


def two_workers_by_hand():
    """The ratio is one of turns, against the peer with the greatest median."""
    driver = load_driver("two_workers")
    row = rows.ROWS_TOGETHER["s4"]
    rates = {"ours": [100, 210, 150], "tf.estimator": [40, 100, 60], "torch eager": [90, 50, 50]}
    assert driver.compare(rates) == ("tf.estimator", [2.5, 2.1, 2.5])
    peers = list(rates)[1:]
    line, reached = driver.table_line(row, peers, rates)
    assert line == "| S4, 64 | 150 | 60 | 50 | tf.estimator | 2.50 (2.10 to 2.50) | 2.0, reached |" and reached, line
    assert line.count("|") == driver.table_head(peers).split("\n")[0].count("|")
    line, reached = driver.table_line(row, peers, {**rates, "torch eager": [100, 110, 75]})
    assert line.endswith("| torch eager | 1.91 (1.00 to 2.00) | 2.0, missed |") and reached is False, line
    for left in ("ours", "tf.estimator"):  # who failed has no rate, and is in no ratio
        line, reached = driver.table_line(row, ["tf.estimator"], {left: rates[left]})
        assert "| - |" in line and line.endswith("| - | - | 2.0 |") and reached is None, line


def two_workers_know_their_cluster():
    driver = load_driver("two_workers")
    config = json.loads(driver.variables("ours", [7, 8], 1)["TF_CONFIG"])
    assert config == {"cluster": {"worker": ["127.0.0.1:7", "127.0.0.1:8"]}, "task": {"type": "worker", "index": 1}}
    torch = driver.variables("torch eager", [7, 8], 1)
    assert (torch["MASTER_PORT"], torch["RANK"], torch["WORLD_SIZE"]) == ("7", "1", "2") and "TF_CONFIG" not in torch


def fake_program(name, *flags):
    """The fake worker as a program that takes no notice of its flags."""
    path = os.path.join(os.environ["TEST_TMPDIR"], name)
    with open(path, "w", encoding="utf-8") as file:
        fake = os.path.join(PEERS, "testdata", "fake_worker.py")
        file.write(f"#!/bin/sh\nexec '{sys.executable}' -B '{fake}' {' '.join(flags)}\n")
    os.chmod(path, 0o755)
    return path


def two_workers_take_turns():
    """With programs that only sleep: figures, bars, what is missing, and the exit codes; also by `run`."""
    fast, slow = fake_program("fast", "--step=0.002"), fake_program("slow", "--step=0.02")
    common = ("--seconds=0.05", "--rounds=3", "--logs=" + os.environ["TEST_TMPDIR"])

    def two(*flags, expect):
        return drive(*common, *flags, expect=expect, program="two_workers")
    out = two("--models=s4", "--peers=torch eager,tf.function", "--cluster_bench=" + fast, "--python=" + slow, expect=0)
    assert "| model, batch a worker | ours, examples/s | torch eager | tf.function | fastest peer |" in out, out
    assert re.search(r"\| S4, 64 \| [\d.e+]+ \| [\d.e+]+ \| [\d.e+]+ \| t\S+( eager)? \| \S+ \(\S+ to \S+\) \| "
                     r"2.0, reached \|", out), out
    out = two("--models=mlp,s4", "--peers=torch channels_last", "--cluster_bench=" + slow, "--python=" + fast, expect=1)
    assert re.search(r"MLP, 64 \| \S+ \| - \| - \| - \| 2.0 \|", out) and "2.0, missed" in out, out
    # Nothing is installed: that is told, and an error where there is nothing else, or where it was asked for.
    for flags in ((), ("--peers=tf.estimator",)):
        out = two("--models=s4", "--environments=/nowhere", "--cluster_bench=" + fast, *flags, expect=2)
        assert "tf.estimator is left out: it is not installed: benchmarks/peers/setup tensorflow" in out, out
    two("--models=s4", "--peers=none", "--cluster_bench=" + fast, expect=0)
    ends = fake_program("ends", "--fail=run")
    out = two("--models=s4", "--peers=torch eager", "--cluster_bench=" + ends, "--python=" + fast, expect=2)
    assert "S4: ours: ended with 1: lost my way" in out, out
    assert "cluster_bench is not built" in two("--cluster_bench=/nowhere", expect=2)
    assert '"s9" is none of s0' in two("--models=s9", expect=2)
    assert '"jax" is none of tf.estimator' in two("--peers=jax", expect=2)
    out = drive("--models=workers", "--rounds=1", "--peers=none", "--logs=" + os.environ["TEST_TMPDIR"],
                "--cluster_bench=" + ends, expect=2)
    assert "ResNet-50: ours: ended with 1" in out, out
    assert '"workers" goes alone' in drive("--models=workers,s0", expect=2)


def two_workers_measure_tandem():
    out = drive("--models=s4", "--peers=none", "--rounds=1", "--seconds=0.1", "--logs=" + os.environ["TEST_TMPDIR"],
                "--cluster_bench=" + os.path.abspath("benchmarks/cluster_bench"), program="two_workers")
    assert re.search(r"\| S4, 64 \| [\d.e+]+ \| - \| - \| 2.0 \|", out), out


def measures_tandem():
    """The driver with a real program: the linear model, and a peer that is not there to be started."""
    path = os.path.join(os.environ["TEST_TMPDIR"], "results.json")
    out = drive("--models=linear", "--peers=none", "--rounds=2", "--threads=1", "--json=" + path,
                "--model_bench=" + os.path.abspath("benchmarks/model_bench"))
    assert re.search(r"tandem +[\d.]+ us", out) and "1024^3 matmul" in out, out
    with open(path, encoding="utf-8") as file:
        written = json.load(file)
    linear = written["rows"]["linear"]
    assert len(linear["workers"]["tandem"]["seconds"]) == 2 and linear["matmul_gflops_per_second"] > 0, linear
    assert near(linear["quantities"]["microseconds"], 1e6 * linear["workers"]["tandem"]["median"])
    assert written["machine"]["cores"] >= 1 and written["rounds"] == 2
    # The file is a recording too.
    assert table.render(results.summarize(written["events"])) == drive("--replay=" + path)


xunit.run("peers", [(f.__name__, f) for f in (
    protocol_works, worker_ends_at_end_of_input, failures_have_reasons, lines_are_parsed, quantities_by_hand,
    bars_know_their_side, turns_last_as_long_as_asked, differing_models_are_told, startup_by_hand, rows_are_consistent,
    input_rows_by_hand, gpu_rows_by_hand,
    recording_gives_its_table, bad_flags, what_fails_is_recorded, what_has_no_time_is_told, groups_fit_a_gpu,
    workers_share_a_gpu, cluster_runs_as_one, two_workers_by_hand, two_workers_know_their_cluster,
    two_workers_take_turns, two_workers_measure_tandem, measures_tandem)])

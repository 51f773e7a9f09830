"""tandem-scale on real executables: the forecast has its parts, and mistakes are named."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import fashion  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

SCALE = os.path.abspath("tools/tandem-scale")
LAUNCH = os.path.abspath("tools/tandem-launch")
ALL_REDUCE = os.path.abspath("benchmarks/all_reduce")
models = {}


def model(devices):
    if devices not in models:
        data = fashion.make(sample.fresh_dir("data"), train=64, test=16)
        models[devices] = sample.fresh_dir("model" + str(len(models)))
        sample.run(f"--devices={devices}", "--batch_size=16", f"--data_dir={data}", f"--model_dir={models[devices]}",
                   "--max_steps=1")
    return models[devices]


def served_model():
    """Of a training by a worker and two parameter servers."""
    if "served" not in models:
        data = fashion.make(sample.fresh_dir("served_data"), train=64, test=16)
        models["served"] = sample.fresh_dir("served_model")
        done = subprocess.run(
            [LAUNCH, "-n", "1", "--ps=2", "--", sample.BINARY, "--strategy=parameter_server", "--devices=cpu:0",
             "--batch_size=16", "--data_dir=" + data, "--model_dir=" + models["served"], "--max_steps=2",
             "--eval_examples=train:16"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
        assert done.returncode == 0, done.stdout
        models["parameters"] = int(re.search(r"total (\d+) parameters", done.stdout).group(1))
    return models["served"]


def table(text):
    path = os.path.join(sample.fresh_dir("table"), "times.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write("bytes,processes,communication,seconds\n" + text)
    return path


def scale(*flags, expect=0):
    result = subprocess.run([SCALE, *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert result.returncode == expect, result.stdout
    return result.stdout


def forecast_and_check():
    output = scale(model("cpu:0,cpu:1"), "--runs=2", "--max_devices=1024", "--network=10gbe", "--devices_per_host=8",
                   "--check=" + next(os.path.join(model("cpu:0"), "compiled", f)
                                     for f in sorted(os.listdir(os.path.join(model("cpu:0"), "compiled")))
                                     if f.startswith("train")))
    rows = re.findall(r"^ *(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)%", output, re.M)
    assert [int(r[0]) for r in rows] == [2 ** i for i in range(11)], output
    assert float(rows[0][4]) == 100 and float(rows[0][2]) == 0, output
    for before, after in zip(rows, rows[1:]):
        assert float(after[1]) >= float(before[1]), output  # more devices never make a step shorter
    assert "bucket 0" in output, output
    assert re.search(r"check: one device [\d.]+ ms; 2 devices: forecast [\d.]+ ms, measured [\d.]+ ms", output), output


def given_computation():
    output = scale(model("cpu:0,cpu:1"), "--runs=1", "--max_devices=1", "--compute_ms=50")
    assert re.search(r"^ *1 +50\.000 +0\.000", output, re.M), output


def one_device_is_refused():
    output = scale(model("cpu:0"), "--runs=1", expect=2)
    assert "no collectives" in output and "--devices=cpu:0,cpu:1" in output, output


def algorithms_differ():
    """With 8 processes halving sends 6 messages of 1 ms one after another, a ring 14."""
    times = {}
    for algorithm in ("auto", "direct", "halving", "ring", "tree"):
        output = scale(model("cpu:0,cpu:1"), "--runs=1", "--max_devices=8", "--network=0.01,1000,500",
                       "--algorithm=" + algorithm)
        times[algorithm] = [float(x) for x in re.findall(r"^ *\d+ +[\d.]+ +([\d.]+) +[\d.]+ +[\d.]+%", output, re.M)]
    assert times["auto"] == times["direct"], times
    buckets = output.count("KiB, ready")
    assert abs(times["ring"][3] - times["halving"][3] - buckets * 8) < 1, times
    assert times["ring"][3] > times["direct"][3] > times["direct"][0] == 0, times


def measured_times_are_taken():
    """Those that two processes took: seconds of any bytes are 250 ms there, whatever the formulas say."""
    path = table("1000,2,tcp,0.25\n100000000,2,tcp,0.25\n")
    output = scale(model("cpu:0,cpu:1"), "--runs=1", "--max_devices=4", "--nooverlap", "--measured=" + path)
    buckets = output.count("KiB, ready")
    # One more is the meeting before a step.
    assert re.search(r"^ *2 +[\d.]+ +%.3f " % (250 * (buckets + 1)), output, re.M), output
    assert "measured: 2 times of tcp, 2 processes; as direct they fit" in output, output
    assert "by the fitted link, because there are no measured times: 4 devices" in output, output


def processes_are_measured():
    path = os.path.join(sample.fresh_dir("processes"), "times.csv")
    subprocess.run([ALL_REDUCE, "--processes=2", "--transport=shared,tcp,ring", "--bytes=1024,65536,1048576",
                    "--seconds=0.05", "--csv=" + path], check=True, stdout=subprocess.DEVNULL, timeout=200)
    with open(path, encoding="utf-8") as file:
        assert len(file.readlines()) == 1 + 9
    for communication, algorithm in (("shared_memory", "direct"), ("tcp", "direct"), ("ring", "ring")):
        output = scale(model("cpu:0,cpu:1"), "--runs=1", "--max_devices=2", "--measured=" + path,
                       "--communication=" + communication)
        assert f"measured: 3 times of {communication}, 2 processes; as {algorithm} they fit" in output, output
        assert "by the fitted link" not in output, output
    assert "choose one with --communication" in scale(model("cpu:0,cpu:1"), "--measured=" + path, expect=2)


def cores_are_shared():
    output = scale(model("cpu:0,cpu:1"), "--runs=1", "--max_devices=8", "--compute_ms=50", "--cores=2",
                   "--network=1000000,0")
    for devices, milliseconds in ((1, 50), (2, 50), (4, 100), (8, 200)):
        assert re.search(r"^ *%d +%d\.0" % (devices, milliseconds), output, re.M), output


def served_bytes(output):
    """KiB of (gradients, values) of each server."""
    units = {"B": 1 / 1024, "KiB": 1, "MiB": 1024}
    return [(float(a) * units[b], float(c) * units[d])
            for a, b, c, d in re.findall(r"ps \d+: gets ([\d.]+) (\w+), returns ([\d.]+) (\w+),", output)]


def parameter_servers():
    output = scale(served_model(), "--runs=2", "--network=0.001,10", "--compute_ms=20")
    servers = served_bytes(output)
    assert len(servers) == 2, output
    for i in (0, 1):
        assert abs(sum(s[i] for s in servers) - 4 * models["parameters"] / 1024) < 0.2, output
    rows = re.findall(r"^ *(\d+) +([\d.]+) +([\d.]+) +([\d.]+)% +(\d+)  (.*)$", output, re.M)
    assert [int(r[0]) for r in rows] == [2 ** i for i in range(11)], output
    assert [int(r[4]) for r in rows] == [2 ** i - 1 for i in range(11)], output
    # 1 MB/s: a worker alone waits for all bytes in both directions, many for those of the larger server.
    both = 1024 * sum(map(sum, servers)) / 1e6
    assert rows[0][5] == "the workers" and abs(float(rows[0][1]) * (0.020 + both) - 1) < 0.05, output
    largest = 1024 * max(max(s) for s in servers) / 1e6
    assert "the link of ps" in rows[-1][5] and abs(float(rows[-1][1]) * largest - 1) < 0.01, output
    # The servers of a program that has none: the compiler's placement.
    whole = scale(model("cpu:0,cpu:1"), "--runs=2", "--servers=2")
    assert served_bytes(whole) == servers, whole + output


def parameter_servers_mistakes():
    assert "was compiled for 2 parameter servers" in scale(served_model(), "--servers=3", expect=2)
    for flag in ("--devices_per_host=2", "--check=x", "--algorithm=ring"):
        assert "do not go together" in scale(served_model(), flag, expect=2)
    alone = sample.fresh_dir("alone")
    compiled = os.path.join(served_model(), "compiled")
    for name in os.listdir(compiled):
        if name.startswith("train-") and name.endswith(".tdx"):
            os.link(os.path.join(compiled, name), os.path.join(alone, name))
    assert "train_ps0" in scale(alone, expect=66)


def crossovers():
    # B l is 1 MB: see the formulas of docs/guide/scaling.md.
    output = scale("--crossovers", "--network=1,1000", "--max_devices=6")
    assert re.findall(r"^ *(\d+)  ", output, re.M) == ["2", "4", "6"], output
    assert re.search(r"^ *2 +512.0 KiB +one hop$", output, re.M), output
    assert re.search(r"^ *4 +170.7 KiB +one hop, from 651.0 KiB two hops$", output, re.M), output
    path = table("1000000,2,tcp,0.001\n")
    assert "measured: 1 times of tcp" in scale("--crossovers", "--measured=" + path)


def mistakes_are_named():
    assert "nvlink4" in scale(model("cpu:0,cpu:1"), "--network=carrier_pigeon", expect=2)
    assert "ring or tree" in scale(model("cpu:0,cpu:1"), "--algorithm=star", expect=2)
    for flag in ("--runs=0", "--cores=-1", "--servers=-1", "--max_devices=0", "--devices_per_host=0"):
        assert flag.split("=")[0] in scale(model("cpu:0,cpu:1"), flag, expect=2)
    path = table("1000,2,tcp,0.25\n")
    for flags in (["--measured=" + path, "--network=10gbe"], ["--communication=tcp"]):
        assert "do not go together" in scale(model("cpu:0,cpu:1"), *flags, expect=2)
    for flags in (["model"], ["--algorithm=ring"], ["--servers=2"]):
        assert "do not go together" in scale("--crossovers", *flags, expect=2)
    broken = table("1000,2,tcp,soon\n")
    output = scale(model("cpu:0,cpu:1"), "--measured=" + broken, expect=65)
    assert f"{broken}:2: seconds is \"soon\"" in output, output
    assert "times.csv" in scale(model("cpu:0,cpu:1"), "--measured=/nowhere/times.csv", expect=66)
    assert "usage" in scale(expect=2)


xunit.run("tandem_scale", [(f.__name__, f) for f in
                           (forecast_and_check, given_computation, one_device_is_refused, algorithms_differ,
                            measured_times_are_taken, processes_are_measured, cores_are_shared, parameter_servers,
                            parameter_servers_mistakes, crossovers, mistakes_are_named)])

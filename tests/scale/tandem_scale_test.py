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
models = {}


def model(devices):
    if devices not in models:
        data = fashion.make(sample.fresh_dir("data"), train=64, test=16)
        models[devices] = sample.fresh_dir("model" + str(len(models)))
        sample.run(f"--devices={devices}", "--batch_size=16", f"--data_dir={data}", f"--model_dir={models[devices]}",
                   "--max_steps=1")
    return models[devices]


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


def mistakes_are_named():
    assert "nvlink4" in scale(model("cpu:0,cpu:1"), "--network=carrier_pigeon", expect=2)
    assert "ring or tree" in scale(model("cpu:0,cpu:1"), "--algorithm=star", expect=2)
    assert "--runs" in scale(model("cpu:0,cpu:1"), "--runs=0", expect=2)


xunit.run("tandem_scale", [(f.__name__, f) for f in
                           (forecast_and_check, given_computation, one_device_is_refused, mistakes_are_named)])

"""Exports of export_models, and what Tandem predicts with them."""
import json
import os
import subprocess
import sys

import numpy as np

# Where programs lie: "bazel-bin" outside of Bazel's tests.
ROOT = ""
# An output may be wrong by so much of the largest prediction of it.
TOLERANCE = 1e-5


def run(program, *arguments):
    command = [os.path.join(ROOT, program), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode} of {' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def names():
    return run("tests/exported_models/export_models").split()


def export(folder, name, full=False):
    """The folder of the exported model."""
    return run("tests/exported_models/export_models", *["--full"] * full, folder, name).split("\n")[0]


def translated(tool, exported, name, *flags):
    """The path of the file that `tool` ("tandem-onnx") makes of an exported model."""
    path = os.path.join(exported, name)
    run("tools/" + tool, exported, "--output=" + path, *flags)
    return path


def random_inputs(exported, rows, seed=0):
    with open(os.path.join(exported, "signature.json")) as f:
        signature = json.load(f)
    random = np.random.default_rng(seed)
    inputs = {}
    for spec in signature["inputs"]:
        shape, dtype = [rows] + spec["shape"][1:], spec["dtype"]
        inputs[spec["name"]] = (random.uniform(-1, 1, shape) if dtype.startswith("float") else
                                random.integers(0, 256 if dtype == "uint8" else 7, shape)).astype(dtype)
    return inputs


def predictions(exported, inputs):
    files = [os.path.join(exported, name) for name in ("inputs.npz", "outputs.npz")]
    np.savez(files[0], **inputs)
    run("tools/tandem-run", exported, "--inputs=" + files[0], "--outputs=" + files[1])
    with np.load(files[1]) as outputs:
        return dict(outputs)


def largest_error(expected, got):
    """Of all outputs, relative to the largest number of each; raises if an output differs by more than TOLERANCE."""
    assert set(expected) == set(got), (sorted(expected), sorted(got))
    worst = 0
    for name, want in expected.items():
        have = np.asarray(got[name])
        assert have.dtype == want.dtype and have.shape == want.shape, (name, have.dtype, have.shape, want.shape)
        want, have = want.astype(np.float64), have.astype(np.float64)
        same = (want == have) | (np.isnan(want) & np.isnan(have))
        difference = np.where(same, 0, np.abs(want - have))
        error = difference.max(initial=0) / max(np.abs(want[np.isfinite(want)]).max(initial=0), 1e-30)
        assert error <= TOLERANCE, f"{name} differs by {error} of its largest number"
        worst = max(worst, error)
    return worst


if __name__ == "__main__":
    sys.exit("exported.py is for tests")

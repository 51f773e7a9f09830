"""Runs the fashion_mnist sample."""
import os
import shutil
import subprocess
import sys

BINARY = os.path.abspath("samples/fashion_mnist")
DATA = os.path.abspath("tests/data")


def fresh_dir(name):
    path = os.path.join(os.environ["TEST_TMPDIR"], name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def run(*flags, expect=0, timeout=600):
    """The sample's output (stdout and stderr); raises unless it exits with `expect`."""
    result = subprocess.run([BINARY, *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=timeout)
    if result.returncode != expect:
        raise AssertionError(f"exit code {result.returncode} instead of {expect} of fashion_mnist {' '.join(flags)}:\n"
                             + result.stdout[-3000:])
    return result.stdout


def initial_weights(name):
    """The file of a reference's initial weights: stored, or written by tests/data/initial_weights.py."""
    stored = os.path.join(DATA, name + ".init.safetensors")
    if os.path.exists(stored):
        return stored
    model = "multi_gpu" if name.startswith("multi_gpu") else name.split("_")[0]
    path = os.path.join(os.environ["TEST_TMPDIR"], model + ".init.safetensors")
    if not os.path.exists(path):
        subprocess.run([sys.executable, os.path.join(DATA, "initial_weights.py"), model, path], check=True)
    return path

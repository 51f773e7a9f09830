"""make_references.py DATA_DIR NAME...: computes tests/data/NAME.losses.json (see REFERENCES), in float64 and float32."""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import files
import models
from optimizers import Adam, Momentum, Sgd

REFERENCES = {  # name: model, optimizer's name, its maker, learning rate, batch, steps
    "zalando_adam": ("zalando", "adam", Adam, 1e-3, 64, 60),
    "zalando_momentum": ("zalando", "momentum", Momentum, 0.01, 64, 60),
    "multi_gpu_sgd": ("multi_gpu", "sgd", Sgd, 3e-4, 32, 10),
}

REORDERED_RUNS = 3


def reordered(batch, steps, seed):
    """Row indices of the first `steps` batches, each batch's rows permuted: the same sums, added in another order."""
    random = np.random.default_rng(seed)
    return np.concatenate([step * batch + random.permutation(batch) for step in range(steps)])


def running_gap(losses, reference):
    return np.maximum.accumulate([abs(a - b) / b for a, b in zip(losses, reference)])


def main():
    images, labels = files.read_fashion_mnist(sys.argv[1], "train")
    for name in sys.argv[2:]:
        model, kind, optimizer, rate, batch, steps = REFERENCES[name]
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "init.safetensors")
            subprocess.run([sys.executable, os.path.join(files.DATA, "initial_weights.py"), model, path], check=True)
            weights = files.read_safetensors(path)
            with open(path, "rb") as f:
                digest = hashlib.sha256(f.read()).hexdigest()
        losses, evals = {}, {}
        for dtype in (np.float64, np.float32):
            start = time.time()
            log = lambda step, loss: print(f"{name} {dtype.__name__} step {step} loss {loss:.6f} "
                                           f"({time.time() - start:.0f} s)", flush=True)
            losses[dtype], params, state = models.train(model, optimizer(rate), weights, images, labels, batch, steps,
                                                        dtype, log)
            evals[dtype] = models.evaluate(model, params, state, images[:1000], labels[:1000], dtype)
        gaps = running_gap(losses[np.float32], losses[np.float64])
        others = []
        for seed in range(REORDERED_RUNS):
            rows = reordered(batch, steps, seed)
            curve, _, _ = models.train(model, optimizer(rate), weights, images[rows], labels[rows], batch, steps,
                                       np.float32)
            others.append(running_gap(curve, losses[np.float64]))
        loss, accuracy = evals[np.float64]
        result = {
            "model": name,
            "optimizer": kind,
            "learning_rate": rate,
            "batch": batch,
            "steps": steps,
            "losses": losses[np.float64],
            "losses_float32": losses[np.float32],
            "float32_gap": gaps.tolist(),
            "float32_gap_reordered": np.max(others, axis=0).tolist(),
            "eval_first_1000_train": {
                "loss": loss,
                "accuracy": accuracy,
                "float32_gap": abs(evals[np.float32][0] - loss) / loss,
            },
            "source": f"NumPy {np.__version__}, losses computed in float64 from float32 initial weights (tests/oracle)",
            "init_sha256": digest,
        }
        with open(os.path.join(files.DATA, name + ".losses.json"), "w") as f:
            json.dump(result, f, indent=1)
            f.write("\n")
        print(f"{name}: float32_gap {gaps[-1]:.2e}, evaluation {loss:.6f} {accuracy}, "
              f"float32 {evals[np.float32]}")


if __name__ == "__main__":
    main()

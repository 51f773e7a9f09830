"""make_optimizers.py FILE: writes what 1,000 steps of every optimizer make of two variables, in NumPy's float64
(tests/golden/optimizers.safetensors).

The loss is the mean over a batch of sum_j c_j (w_j - x_j)^2 / 2, c_j = 1/2 + j/4, of nine weights: "kernel" [2, 3] and
"bias" [3]. Row r of step s (from 0) has x_j = ((37 s + 11 r + 7 j) mod 41 - 20) / 16 + (j - 4) / 4; there are 5 rows in
even steps and 6 in odd ones. Weights start from (j mod 3 - 1) / 2 and 0. "<optimizer>" [4, 9]: all weights after 1, 10, 100 and 1000
steps. The formulas are those of Keras 2.15's optimizers and of the papers that frontends/optimizers.h names. With --keras
those that Keras has are run in it as well; it keeps its rate in float32, and differs by 3e-6 at most. Run with NumPy 1.26.4 and TensorFlow 2.15.1.
"""
import sys

import golden
import numpy as np

STEPS, MARKS = 1000, (1, 10, 100, 1000)
C = 0.5 + 0.25 * np.arange(9)
KERNEL = slice(0, 6)
BIAS = slice(6, 9)


def gradient(w, step):
    rows = 5 + step % 2
    r, j = np.arange(rows)[:, None], np.arange(9)[None]
    return C * (w - (((37 * step + 11 * r + 7 * j) % 41 - 20) / 16 + (j - 4) / 4).mean(0))


def initial():
    w = np.zeros(9)
    w[KERNEL] = (np.arange(6) % 3 - 1) / 2
    return w


class Slots(dict):
    """Slots by name, from zeros or a number."""

    def get(self, name, like, start=0.0):
        return self.setdefault(name, np.full_like(like, start))


def adamw(w, g, s, t, bias, lr=0.01, wd=0.1, b1=0.9, b2=0.999, eps=1e-7):
    s["m"] = b1 * s.get("m", w) + (1 - b1) * g
    s["v"] = b2 * s.get("v", w) + (1 - b2) * g * g
    decayed = w if bias else w - lr * wd * w
    return decayed - lr * np.sqrt(1 - b2**t) / (1 - b1**t) * s["m"] / (np.sqrt(s["v"]) + eps)


def adagrad(w, g, s, t, bias, lr=0.2, eps=1e-7):
    s["a"] = s.get("a", w, 0.1) + g * g
    return w - lr * g / np.sqrt(s["a"] + eps)


def adadelta(w, g, s, t, bias, lr=1.0, rho=0.9, eps=1e-4):
    s["a"] = rho * s.get("a", w) + (1 - rho) * g * g
    d = -np.sqrt(s.get("u", w) + eps) / np.sqrt(s["a"] + eps) * g
    s["u"] = rho * s["u"] + (1 - rho) * d * d
    return w + lr * d


def adamax(w, g, s, t, bias, lr=0.01, b1=0.9, b2=0.99, eps=1e-7):
    s["m"] = b1 * s.get("m", w) + (1 - b1) * g
    s["u"] = np.maximum(b2 * s.get("u", w), np.abs(g))
    return w - lr * s["m"] / ((1 - b1**t) * (s["u"] + eps))


def nadam(w, g, s, t, bias, lr=0.01, b1=0.9, b2=0.99, eps=1e-7):
    now, ahead = b1 * (1 - 0.5 * 0.96**t), b1 * (1 - 0.5 * 0.96**(t + 1))
    s["p"] = s.get("p", w, 1.0) * now
    s["m"] = b1 * s.get("m", w) + (1 - b1) * g
    s["v"] = b2 * s.get("v", w) + (1 - b2) * g * g
    m = ahead * s["m"] / (1 - s["p"] * ahead) + (1 - now) * g / (1 - s["p"])
    return w - lr * m / (np.sqrt(s["v"] / (1 - b2**t)) + eps)


def ftrl(w, g, s, t, bias, lr=0.3, power=-0.5, l1=0.05, l2=0.02, shrinkage=0.1, beta=0.1):
    n = s.get("n", w, 0.1)
    s["n"] = n + g * g
    s["z"] = s.get("z", w) + g + 2 * shrinkage * w - (s["n"]**-power - n**-power) / lr * w
    quadratic = s["n"]**-power / lr + 2 * (l2 + beta / (2 * lr))
    return (np.clip(s["z"], -l1, l1) - s["z"]) / quadratic


def lion(w, g, s, t, bias, lr=0.001, wd=0.1, b1=0.9, b2=0.99):
    change = np.sign(b1 * s.get("m", w) + (1 - b1) * g)
    s["m"] = b2 * s["m"] + (1 - b2) * g
    return w - lr * (change if bias else change + wd * w)


def lamb(w, g, s, t, bias, lr=0.01, wd=0.1, b1=0.9, b2=0.99, eps=1e-6):
    s["m"] = b1 * s.get("m", w) + (1 - b1) * g
    s["v"] = b2 * s.get("v", w) + (1 - b2) * g * g
    r = s["m"] / (1 - b1**t) / (np.sqrt(s["v"] / (1 - b2**t)) + eps)
    if bias:
        return w - lr * r
    r = r + wd * w
    norms = np.linalg.norm(w), np.linalg.norm(r)
    return w - lr * (norms[0] / norms[1] if min(norms) > 0 else 1) * r


def lars(w, g, s, t, bias, lr=0.02, wd=0.01, momentum=0.9, trust=0.5):
    rate = lr
    if not bias:
        norms = np.linalg.norm(w), np.linalg.norm(g)
        rate *= trust * norms[0] / (norms[1] + wd * norms[0]) if min(norms) > 0 else 1
        g = g + wd * w
    s["a"] = momentum * s.get("a", w) + rate * g
    return w - s["a"]


OPTIMIZERS = {
    "adamw": adamw, "adagrad": adagrad, "adadelta": adadelta, "adamax": adamax, "nadam": nadam, "ftrl": ftrl,
    "lion": lion, "lamb": lamb, "lars": lars
}


def run(update):
    w, slots, marks = initial(), {KERNEL.start: Slots(), BIAS.start: Slots()}, []
    for step in range(STEPS):
        g = gradient(w, step)
        for part in (KERNEL, BIAS):
            w[part] = update(w[part].copy(), g[part], slots[part.start], step + 1, part is BIAS)
        if step + 1 in MARKS:
            marks.append(w.copy())
    return np.array(marks)


def check_with_keras(found):
    import tensorflow as tf
    tf.keras.backend.set_floatx("float64")
    K = tf.keras.optimizers
    adamw_of_keras = K.AdamW(0.01, weight_decay=0.1)
    adamw_of_keras.exclude_from_weight_decay(var_names=["bias"])
    lion_of_keras = K.Lion(0.001, weight_decay=0.1)
    lion_of_keras.exclude_from_weight_decay(var_names=["bias"])
    known = {
        "adamw": adamw_of_keras, "adagrad": K.Adagrad(0.2), "adadelta": K.Adadelta(1.0, rho=0.9, epsilon=1e-4),
        "adamax": K.Adamax(0.01, beta_2=0.99), "nadam": K.Nadam(0.01, beta_2=0.99),
        "ftrl": K.Ftrl(0.3, l1_regularization_strength=0.05, l2_regularization_strength=0.02,
                       l2_shrinkage_regularization_strength=0.1, beta=0.1),
        "lion": lion_of_keras
    }
    for name, optimizer in known.items():
        w = initial()
        kernel, bias = tf.Variable(w[KERNEL], name="kernel"), tf.Variable(w[BIAS], name="bias")
        marks = []
        for step in range(STEPS):
            g = gradient(np.concatenate([kernel.numpy(), bias.numpy()]), step)
            optimizer.apply_gradients([(tf.constant(g[KERNEL]), kernel), (tf.constant(g[BIAS]), bias)])
            if step + 1 in MARKS:
                marks.append(np.concatenate([kernel.numpy(), bias.numpy()]))
        print(name, "differs from Keras by", np.abs(found[name] - marks).max())


def main(path):
    found = {name: run(update) for name, update in OPTIMIZERS.items()}
    golden.write(path, found, "tests/golden/make_optimizers.py, NumPy " + np.__version__)
    if "--keras" in sys.argv:
        check_with_keras(found)


main(sys.argv[1])

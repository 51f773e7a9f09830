"""make_optimizers.py FILE: writes what 1,000 steps of every optimizer make of two variables, in NumPy's float64
(tests/golden/optimizers.safetensors).

The loss is the mean over a batch of sum_j c_j (w_j - x_j)^2 / 2, c_j = 1/2 + j/4, of nine weights: "kernel" [2, 3] and
"bias" [3]. Row r of step s (from 0) has x_j = ((37 s + 11 r + 7 j) mod 41 - 20) / 16 + (j - 4) / 4; there are 5 rows in
even steps and 6 in odd ones. Weights start from (j mod 3 - 1) / 2 and 0. "<optimizer>" [4, 9]: all weights after 1, 10, 100 and 1000
steps. The formulas are in optimizer_formulas.py. With --keras
those that Keras has are run in it as well; it keeps its rate in float32, and differs by 3e-6 at most. Run with NumPy 1.26.4 and TensorFlow 2.15.1.
"""
import sys

import golden
import numpy as np
import optimizer_formulas as f

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


def without(update, **options):
    """`update` for kernels; for biases with these options."""
    return lambda w, g, s, t, bias: update(w, g, s, t, **(options if bias else {}))


OPTIMIZERS = {
    "adamw": without(f.adamw, wd=0), "adagrad": without(f.adagrad), "adadelta": without(f.adadelta),
    "adamax": without(f.adamax), "nadam": without(f.nadam), "ftrl": without(f.ftrl), "lion": without(f.lion, wd=0),
    "lamb": without(f.lamb, wd=0, excluded=True), "lars": without(f.lars, wd=0, excluded=True)
}


def run(update):
    w, slots, marks = initial(), {KERNEL.start: f.Slots(), BIAS.start: f.Slots()}, []
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

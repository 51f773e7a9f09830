"""make_losses.py FILE: writes losses and their gradients as TensorFlow's Keras computes them (tests/golden/losses.safetensors).

200 random cases of 1 to 4 examples and 3 classes, the same for every loss. Among them: weights that are all 0 or partly
0, labels of one class only, logits up to some 200, probabilities of exactly 0 and 1. Rows of all cases lie one after
another; "rows" has their numbers. Of every loss "<loss>/loss" [200] and "<loss>/gradient" [rows, 3], with regard to the
predictions, both in float32 as TensorFlow computes it. Run with TensorFlow 2.15.1.
"""
import sys

import golden
import numpy as np
import tensorflow as tf

CASES, ROWS, CLASSES = 200, 4, 3
K = tf.keras.losses
SUM = tf.keras.losses.Reduction.SUM


def case(number, rng):
    """The inputs of one case."""
    n = int(rng.integers(1, ROWS + 1))
    shape = (n, CLASSES)
    logits = rng.normal(size=shape) * (60 if number % 5 == 1 else 2)
    weight = rng.uniform(0, 2, n)
    if number % 4 == 2:
        weight *= rng.integers(0, 2, n)
    if number % 20 == 3:
        weight[:] = 0
    share = np.exp(logits - logits.max(-1, keepdims=True))
    share /= share.sum(-1, keepdims=True)
    probability = rng.uniform(0, 1, shape)
    if number % 5 == 4:
        probability = np.where(rng.uniform(size=shape) < 0.5, rng.choice([0, 1, 1e-8, 1 - 1e-6], shape), probability)
    label = rng.integers(0, CLASSES, n)
    if number % 5 == 0:
        label[:] = label[0]
    binary = rng.integers(0, 2, shape)
    if number % 7 == 0:
        binary[:] = binary[0, 0]
    soft = rng.uniform(0, 1, shape)
    return {
        "logits": logits, "probability": probability, "share": share, "rate": np.exp(rng.normal(size=shape)),
        "binary": binary, "soft": soft / soft.sum(-1, keepdims=True), "real": rng.normal(size=shape) * 2,
        "weight": weight, "label": label
    }


def class_weighted(y, p, sample_weight):
    weight = tf.gather(tf.constant([0.5, 1.0, 20.0]), y["label"]) * sample_weight
    return K.SparseCategoricalCrossentropy(from_logits=True)(y["label"], p, sample_weight=weight)


def of(loss, labels):
    """`loss` of the inputs called `labels` ("hot": the one-hot labels, "sign": binary ones as -1 and 1)."""
    return lambda y, p, sample_weight: loss(y[labels], p, sample_weight=sample_weight)


# Name: predictions, loss.
LOSSES = {
    "mse": ("logits", of(K.MeanSquaredError(), "real")),
    "mae": ("logits", of(K.MeanAbsoluteError(), "real")),
    "huber": ("logits", of(K.Huber(), "real")),
    "huber_3": ("logits", of(K.Huber(delta=3, reduction=SUM), "real")),
    "log_cosh": ("logits", of(K.LogCosh(), "real")),
    "poisson": ("rate", of(K.Poisson(), "soft")),
    "hinge": ("logits", of(K.Hinge(), "sign")),
    "hinge_binary": ("logits", of(K.Hinge(), "binary")),
    "squared_hinge": ("logits", of(K.SquaredHinge(), "binary")),
    "categorical_hinge": ("logits", of(K.CategoricalHinge(), "hot")),
    "kl_divergence": ("share", of(K.KLDivergence(), "soft")),
    "cosine_similarity": ("logits", of(K.CosineSimilarity(), "real")),
    "binary": ("probability", of(K.BinaryCrossentropy(), "binary")),
    "binary_smoothed": ("probability", of(K.BinaryCrossentropy(label_smoothing=0.1, reduction=SUM), "binary")),
    "binary_logits": ("logits", of(K.BinaryCrossentropy(from_logits=True), "binary")),
    "binary_logits_smoothed": ("logits", of(K.BinaryCrossentropy(from_logits=True, label_smoothing=0.2), "soft")),
    "binary_focal": ("probability", of(K.BinaryFocalCrossentropy(), "binary")),
    "binary_focal_logits":
        ("logits",
         of(K.BinaryFocalCrossentropy(apply_class_balancing=True, alpha=0.3, gamma=1.5, from_logits=True,
                                      label_smoothing=0.1), "binary")),
    "categorical": ("share", of(K.CategoricalCrossentropy(label_smoothing=0.1), "hot")),
    "categorical_logits": ("logits", of(K.CategoricalCrossentropy(from_logits=True), "soft")),
    "categorical_focal": ("share", of(K.CategoricalFocalCrossentropy(), "hot")),
    "categorical_focal_logits":
        ("logits",
         of(K.CategoricalFocalCrossentropy(alpha=0.5, gamma=1.5, from_logits=True, label_smoothing=0.1), "hot")),
    "sparse_categorical": ("share", of(K.SparseCategoricalCrossentropy(), "label")),
    "sparse_categorical_logits": ("logits", of(K.SparseCategoricalCrossentropy(from_logits=True, reduction=SUM), "label")),
    "class_weights": ("logits", class_weighted),
}


def main(path):
    rng = np.random.default_rng(20261123)
    cases = []
    for number in range(CASES):
        inputs = case(number, rng)
        cases.append({k: v.astype(np.int32 if v.dtype == np.int64 else np.float32) for k, v in inputs.items()})
    tensors = {name: np.concatenate([c[name] for c in cases]) for name in cases[0]}
    tensors["rows"] = np.array([len(c["label"]) for c in cases], np.int32)
    for name, (predictions, loss) in LOSSES.items():
        values, gradients = [], []
        for c in cases:
            y = {k: tf.constant(v) for k, v in c.items()}
            y["hot"] = tf.one_hot(y["label"], CLASSES)
            y["binary"] = tf.cast(y["binary"], tf.float32)
            y["sign"] = 2 * y["binary"] - 1
            p = tf.constant(c[predictions])
            with tf.GradientTape() as tape:
                tape.watch(p)
                value = loss(y, p, y["weight"])
            values.append(value.numpy())
            gradients.append(tape.gradient(value, p).numpy())
        tensors[name + "/loss"] = np.array(values, np.float32)
        tensors[name + "/gradient"] = np.concatenate(gradients)
        assert np.isfinite(tensors[name + "/gradient"]).all(), name
    golden.write(path, tensors, "tests/golden/make_losses.py, TensorFlow " + tf.__version__)


main(sys.argv[1])

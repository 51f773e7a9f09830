"""make_metrics.py FILE: writes metrics as TensorFlow's Keras, tf.compat.v1.metrics, scikit-learn and NumPy compute them
(tests/golden/metrics.safetensors).

200 random sets of 1 to 16 examples, the same for every metric. Among them: weights that are all 0 or partly 0, labels of
one class only, probabilities of exactly 0 and 1. Rows of all sets lie one after another; "rows" has their numbers. Of
every metric "<metric>/value", one row for each set. A mean over no weight is NaN, which is what Tandem reports.
Run with TensorFlow 2.15.1, scikit-learn 1.9.1 and NumPy 1.26.4.
"""
import sys

import golden
import numpy as np
import sklearn
import tensorflow as tf
from sklearn import metrics as sk

SETS, ROWS, CLASSES, LABELS = 200, 16, 4, 3
M = tf.keras.metrics


def case(number, rng):
    """The inputs of one set."""
    n = int(rng.integers(1, ROWS + 1))
    weight = rng.uniform(0, 2, n)
    if number % 4 == 2:
        weight *= rng.integers(0, 2, n)
    if number % 20 == 3:
        weight[:] = 0
    binary = rng.integers(0, 2, (n, LABELS))
    if number % 7 == 0:
        binary[:] = binary[0, 0]
    # Better than chance, so that curves are no diagonals.
    probability = rng.beta(1.5, 1.5, (n, LABELS)) * 0.7 + 0.3 * binary * rng.uniform(size=(n, LABELS))
    if number % 5 == 4:
        probability = np.where(rng.uniform(size=probability.shape) < 0.4, rng.integers(0, 2, probability.shape),
                               probability)
    label = rng.integers(0, CLASSES, n)
    if number % 6 == 0:
        label[:] = label[0]
    logits = rng.normal(size=(n, CLASSES)) + 1.5 * np.eye(CLASSES)[label] * rng.integers(0, 2, (n, 1))
    return {
        "weight": weight, "binary": binary, "probability": probability, "label": label, "logits": logits,
        "real": rng.normal(size=(n, LABELS)) * 2, "predicted": rng.normal(size=(n, LABELS)) * 2
    }


def keras(metric, labels, predictions):
    def value(c):
        metric.reset_state()
        metric.update_state(c[labels], c[predictions], sample_weight=c["weight"])
        return float(metric.result())
    return value


def mean(metric, labels, predictions):
    of = keras(metric, labels, predictions)
    return lambda c: of(c) if c["weight"].sum() > 0 else np.nan


def mean_per_class_accuracy():
    graph = tf.Graph()
    with graph.as_default():
        labels, predictions = tf.compat.v1.placeholder(tf.int64, [None]), tf.compat.v1.placeholder(tf.int64, [None])
        weights = tf.compat.v1.placeholder(tf.float32, [None])
        value, update = tf.compat.v1.metrics.mean_per_class_accuracy(labels, predictions, CLASSES, weights)
        session = tf.compat.v1.Session(graph=graph)
        reset = tf.compat.v1.local_variables_initializer()

    def of(c):
        session.run(reset)
        session.run(update, {labels: c["label"], predictions: c["logits"].argmax(-1), weights: c["weight"]})
        return session.run(value)
    return of


def mean_iou(c):
    metric = M.MeanIoU(CLASSES)
    metric.update_state(c["label"], c["logits"].argmax(-1), sample_weight=c["weight"])
    return float(metric.result())


def weighted(score):
    """`score`, which scikit-learn refuses to compute of weights that are all 0: 0 as in Keras."""
    def of(c):
        value = np.asarray(score({**c, "weight": c["weight"] if c["weight"].any() else c["weight"] + 1}))
        return value if c["weight"].any() else np.zeros_like(value)
    return of


def classes(score, **options):
    """A score of scikit-learn of class numbers."""
    return weighted(lambda c: score(c["label"], c["logits"].argmax(-1), labels=np.arange(CLASSES), zero_division=0,
                                    sample_weight=c["weight"], **options))


def labels(score, **options):
    """A score of scikit-learn of several labels."""
    return weighted(
        lambda c: score(c["binary"], c["probability"] > 0.5, zero_division=0, sample_weight=c["weight"], **options))


METRICS = {
    "accuracy": mean(M.SparseCategoricalAccuracy(), "label", "logits"),
    "top_2": mean(M.SparseTopKCategoricalAccuracy(k=2), "label", "logits"),
    "confusion":
        weighted(lambda c: sk.confusion_matrix(c["label"], c["logits"].argmax(-1), labels=np.arange(CLASSES),
                                               sample_weight=c["weight"]).ravel()),
    "confusion_plain":
        lambda c: sk.confusion_matrix(c["label"], c["logits"].argmax(-1), labels=np.arange(CLASSES)).ravel(),
    "mean_per_class_accuracy": mean_per_class_accuracy(),
    "mean_iou": mean_iou,
    "mae": mean(M.MeanAbsoluteError(), "real", "predicted"),
    "mse": mean(M.MeanSquaredError(), "real", "predicted"),
    "rmse": mean(M.RootMeanSquaredError(), "real", "predicted"),
    "cosine": mean(M.CosineSimilarity(), "real", "predicted"),
    "binary_accuracy": mean(M.BinaryAccuracy(threshold=0.4), "binary", "probability"),
    "true_positives": keras(M.TruePositives(), "binary", "probability"),
    "false_positives": keras(M.FalsePositives(), "binary", "probability"),
    "true_negatives": keras(M.TrueNegatives(thresholds=0.3), "binary", "probability"),
    "false_negatives": keras(M.FalseNegatives(), "binary", "probability"),
    "precision": keras(M.Precision(), "binary", "probability"),
    "recall": keras(M.Recall(thresholds=0.6), "binary", "probability"),
    "precision_macro": classes(sk.precision_score, average="macro"),
    "recall_by_label": labels(sk.recall_score, average=None),
    "f1_micro": labels(sk.f1_score, average="micro"),
    "f1_macro": classes(sk.f1_score, average="macro"),
    "f2_weighted": classes(sk.fbeta_score, average="weighted", beta=2),
    "f1_labels": labels(sk.f1_score, average="macro"),
    "auc": keras(M.AUC(), "binary", "probability"),
    "auc_minoring": keras(M.AUC(summation_method="minoring", num_thresholds=20), "binary", "probability"),
    "auc_majoring": keras(M.AUC(summation_method="majoring", num_thresholds=20), "binary", "probability"),
    "auc_pr": keras(M.AUC(curve="PR"), "binary", "probability"),
    "auc_pr_minoring": keras(M.AUC(curve="PR", summation_method="minoring"), "binary", "probability"),
    "auc_labels": keras(M.AUC(multi_label=True, num_labels=LABELS), "binary", "probability"),
    "auc_labels_weighted":
        keras(M.AUC(curve="PR", multi_label=True, num_labels=LABELS, label_weights=[1.0, 2.0, 0.5]), "binary",
              "probability"),
    "precision_at_recall": keras(M.PrecisionAtRecall(0.7), "binary", "probability"),
    "recall_at_precision": keras(M.RecallAtPrecision(0.6, num_thresholds=50), "binary", "probability"),
    "percentiles": lambda c: np.percentile(c["real"], [0, 10, 50, 90, 100], method="inverted_cdf"),
}


def main(path):
    rng = np.random.default_rng(20261124)
    cases = []
    for number in range(SETS):
        inputs = case(number, rng)
        cases.append({k: v.astype(np.int32 if v.dtype == np.int64 else np.float32) for k, v in inputs.items()})
    tensors = {name: np.concatenate([c[name] for c in cases]) for name in cases[0]}
    tensors["rows"] = np.array([len(c["label"]) for c in cases], np.int32)
    for name, metric in METRICS.items():
        tensors[name + "/value"] = np.array([np.atleast_1d(metric(c)) for c in cases], np.float32)
    golden.write(path, tensors, "tests/golden/make_metrics.py, TensorFlow %s, scikit-learn %s, NumPy %s" %
                 (tf.__version__, sklearn.__version__, np.__version__))


main(sys.argv[1])

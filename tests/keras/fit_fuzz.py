"""fit_fuzz.py [FIRST [COUNT]]: random models that TensorFlow 2.15 makes, compiles, saves and fits are loaded and fitted
by keras_model: History, weights and predictions must be TensorFlow's. Each number from FIRST on is a case: layers, with
branches, several inputs and outputs; loss, metrics, optimizer, clipping, schedules; class and sample weights;
validation; batches that do not divide the examples; one or two devices. Prints each case that differs, and exits with 1
where one does. By hand: needs TensorFlow (docs/developers/testing.md).
"""
import json
import os
import random
import subprocess
import sys
import tempfile

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from safetensors.numpy import load_file, save_file  # noqa: E402

TOOL = os.environ.get("KERAS_MODEL", "bazel-bin/tests/keras/keras_model")
# Of the largest number of a tensor; a few steps of optimizers that divide by small numbers make more of a rounding.
TOLERANCE = 2e-3
L = tf.keras.layers


def regularizer(pick):
    return pick.choice([None, None, tf.keras.regularizers.L2(0.01), tf.keras.regularizers.L1(0.003)])


def activation(pick):
    return pick.choice(["linear", "relu", "tanh", "sigmoid", "elu", "softplus", "swish", "gelu", "selu", "softsign"])


def image_layer(pick, x):
    kind = pick.randrange(9)
    padding = pick.choice(["same", "valid"]) if min(x.shape[1:3]) > 3 else "same"
    if kind == 0:
        return L.Conv2D(pick.randint(1, 6), pick.randint(1, 3), padding=padding, strides=pick.randint(1, 2),
                        activation=activation(pick), use_bias=pick.random() < 0.7,
                        kernel_regularizer=regularizer(pick))(x)
    if kind == 1:
        return L.DepthwiseConv2D(pick.randint(1, 3), padding=padding, depth_multiplier=pick.randint(1, 2),
                                 activation=activation(pick))(x)
    if kind == 2:
        return L.SeparableConv2D(pick.randint(1, 5), pick.randint(1, 3), padding=padding,
                                 activation=activation(pick))(x)
    if kind == 3:
        pool = pick.choice([L.MaxPooling2D, L.AveragePooling2D])
        return pool(pick.randint(1, 3), strides=pick.choice([None, 1, 2]), padding=padding)(x)
    if kind == 4:
        return L.BatchNormalization(momentum=pick.choice([0.9, 0.99]), epsilon=pick.choice([1e-3, 1e-2]),
                                    center=pick.random() < 0.8, scale=pick.random() < 0.8)(x)
    if kind == 5:
        return L.LayerNormalization(epsilon=1e-2)(x)
    if kind == 6:
        return L.ZeroPadding2D(((1, 0), (0, 2)))(x)
    if kind == 7:
        return L.UpSampling2D(2)(x) if x.shape[1] < 8 else L.Cropping2D(((1, 0), (0, 1)))(x)
    return pick.choice([L.LeakyReLU(alpha=0.2), L.ReLU(max_value=2.0), L.ELU(0.5), L.Activation(activation(pick))])(x)


def vector_layer(pick, x):
    kind = pick.randrange(6)
    if kind < 3:
        return L.Dense(pick.randint(2, 8), activation=activation(pick), kernel_regularizer=regularizer(pick),
                       bias_regularizer=regularizer(pick))(x)
    if kind == 3:
        return L.BatchNormalization(momentum=0.9, epsilon=1e-2)(x)
    if kind == 4:
        return L.LayerNormalization(epsilon=1e-2)(x)
    y = L.Dense(x.shape[-1], activation=activation(pick))(x)
    merge = pick.choice([L.Add, L.Subtract, L.Multiply, L.Average, L.Maximum, L.Minimum, L.Concatenate])
    return merge()([x, y])


def body(pick):
    """(inputs, the last vector)."""
    inputs, parts = [], []
    for _ in range(pick.choice([1, 1, 2])):
        kind = pick.randrange(3)
        if kind == 0:
            x = L.Input((pick.randint(4, 8), pick.randint(4, 8), pick.randint(1, 3)))
            inputs.append(x)
            for _ in range(pick.randint(1, 4)):
                x = image_layer(pick, x)
            x = pick.choice([L.Flatten(), L.GlobalAveragePooling2D(), L.GlobalMaxPooling2D()])(x)
        elif kind == 1:
            x = L.Input((pick.randint(1, 6),))
            inputs.append(x)
        else:
            x = L.Input((pick.randint(2, 4),), dtype="int32")
            inputs.append(x)
            x = L.Flatten()(L.Embedding(7, pick.randint(1, 4))(x))
        parts.append(x)
    x = parts[0] if len(parts) == 1 else L.Concatenate()(parts)
    for _ in range(pick.randint(1, 3)):
        x = vector_layer(pick, x)
    return inputs, x


# Losses by what the output is; and what makes targets for them.
KINDS = {
    "numbers": (["mse", "mae", "mean_squared_logarithmic_error", "huber", "log_cosh", "cosine_similarity"],
                ["mae", "mse", "cosine_similarity"]),
    "binary": (["binary_crossentropy", "mse", "hinge", "squared_hinge"], ["accuracy", "mae"]),
    "classes": (["sparse_categorical_crossentropy"], ["accuracy"]),
    "one_hot": (["categorical_crossentropy", "kl_divergence", "categorical_hinge", "poisson"], ["accuracy"]),
}


def targets(kind, rows, width, rng):
    if kind == "numbers":
        return rng.standard_normal((rows, width)).astype("f4")
    if kind == "binary":
        return rng.integers(0, 2, (rows, width)).astype("f4")
    if kind == "classes":
        return rng.integers(0, width, (rows,)).astype("i4")
    return np.eye(width, dtype="f4")[rng.integers(0, width, rows)]


def head(pick, x, name):
    kind = pick.choice(list(KINDS))
    width = pick.randint(1, 4) if kind in ("numbers", "binary") else pick.randint(2, 5)
    ends = {"numbers": "linear", "binary": "sigmoid", "classes": "softmax", "one_hot": "softmax"}[kind]
    return kind, width, L.Dense(width, activation=ends, name=name)(x)


def optimizer(pick, clips):
    o = tf.keras.optimizers
    rate = pick.choice([0.01, 0.003, o.schedules.ExponentialDecay(0.01, 2, 0.5), o.schedules.CosineDecay(0.01, 6),
                        o.schedules.InverseTimeDecay(0.01, 2, 0.5), o.schedules.PolynomialDecay(0.01, 5, 0.001),
                        o.schedules.PiecewiseConstantDecay([1, 3], [0.01, 0.005, 0.001])])
    clip = pick.choice([{}, {}, {"clipnorm": 0.1}, {"clipvalue": 0.01}, {"global_clipnorm": 0.2}]) if clips else {}
    make = pick.choice([
        lambda: o.SGD(rate, **clip), lambda: o.SGD(rate, momentum=0.9, **clip),
        lambda: o.SGD(rate, momentum=0.9, nesterov=True, **clip), lambda: o.RMSprop(rate, epsilon=1e-3, **clip),
        lambda: o.RMSprop(rate, momentum=0.5, centered=True, epsilon=1e-2, **clip),
        lambda: o.Adam(rate, epsilon=1e-3, **clip), lambda: o.Adam(rate, epsilon=1e-3, amsgrad=True, **clip),
        lambda: o.AdamW(rate, weight_decay=0.02, epsilon=1e-3, **clip), lambda: o.Adamax(rate, epsilon=1e-3, **clip),
        lambda: o.Adagrad(rate, **clip), lambda: o.Adadelta(rate, epsilon=1e-3, **clip),
        lambda: o.Ftrl(rate, l1_regularization_strength=0.01, **clip)])
    return make()


def make_case(number):
    """(model, x, y, sample weights, options, validation)."""
    pick, rng = random.Random(number), np.random.default_rng(number)
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(number)
    inputs, x = body(pick)
    outputs = [head(pick, x, "first")] + ([head(pick, x, "second")] if pick.random() < 0.3 else [])
    model = tf.keras.Model(inputs, [o[2] for o in outputs])
    for layer in model.layers:
        if pick.random() < 0.1:
            layer.trainable = False
    losses = [pick.choice(KINDS[kind][0]) for kind, _, _ in outputs]
    metrics = [[pick.choice(KINDS[kind][1])] if pick.random() < 0.7 else [] for kind, _, _ in outputs]
    weights = [1.0, pick.choice([0.3, 2.0])][:len(outputs)] if len(outputs) > 1 else None
    # TensorFlow clips the gradients of an embedding's rows before it adds up those of one row.
    embeds = any(isinstance(layer, L.Embedding) for layer in model.layers)
    model.compile(optimizer=optimizer(pick, not embeds), loss=losses if len(losses) > 1 else losses[0],
                  metrics=metrics if len(metrics) > 1 else metrics[0], loss_weights=weights)
    rows = pick.randint(5, 14)

    def some(count):
        xs = [rng.integers(0, 7, (count,) + tuple(i.shape[1:])).astype("i4") if i.dtype == tf.int32 else
              rng.standard_normal((count,) + tuple(i.shape[1:])).astype("f4") for i in inputs]
        return xs, [targets(kind, count, width, rng) for kind, width, _ in outputs]

    xs, ys = some(rows)
    # Batch norm takes the statistics of each device's part, so TensorFlow on one device has others.
    norms = any(isinstance(layer, L.BatchNormalization) for layer in model.layers)
    options = {"batch_size": pick.randint(2, 8), "epochs": pick.randint(1, 3), "class_weight": {},
               "devices": ["cpu:0"] if norms else pick.choice([["cpu:0"], ["cpu:0", "cpu:1"]])}
    sample_weight = None
    if len(outputs) == 1 and outputs[0][0] in ("classes", "one_hot") and pick.random() < 0.4:
        options["class_weight"] = {str(k): pick.choice([0.5, 1.0, 3.0]) for k in range(outputs[0][1])}
    elif pick.random() < 0.3:
        sample_weight = rng.uniform(0, 2, rows).astype("f4")
    return model, xs, ys, sample_weight, options, some(pick.randint(1, 6)) if pick.random() < 0.5 else None


def difference(ours, theirs):
    ours, theirs = np.asarray(ours, "f8"), np.asarray(theirs, "f8")
    if ours.shape != theirs.shape:
        return "shapes %s and %s" % (ours.shape, theirs.shape)
    if np.array_equal(np.isnan(ours), np.isnan(theirs)):
        ours, theirs = np.nan_to_num(ours), np.nan_to_num(theirs)
    error = np.abs(ours - theirs).max(initial=0) / max(np.abs(theirs).max(initial=0), 0.05)
    return "" if error <= TOLERANCE else "by %.3g" % error


def run(number, folder):
    # Saved by a twin: what a model is saved with, "accuracy" becomes another metric in it than in one that is trained.
    path = os.path.join(folder, "model.h5")
    make_case(number)[0].save(path)
    model, xs, ys, sample_weight, options, validation = make_case(number)
    data = {"x%d" % i: x for i, x in enumerate(xs)} | {"y%d" % i: y for i, y in enumerate(ys)}
    if validation:
        data |= {"val_x%d" % i: x for i, x in enumerate(validation[0])}
        data |= {"val_y%d" % i: y for i, y in enumerate(validation[1])}
    if sample_weight is not None:
        data["sample_weight"] = sample_weight
    save_file({k: np.ascontiguousarray(v) for k, v in data.items()}, os.path.join(folder, "data.safetensors"))
    with open(os.path.join(folder, "data.json"), "w", encoding="utf-8") as file:
        json.dump(options, file)
    done = subprocess.run([TOOL, "fit", path, os.path.join(folder, "data"), os.path.join(folder, "told.safetensors")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return ["keras_model ends with %d: %s" % (done.returncode, done.stderr[-1500:])]
    told = load_file(os.path.join(folder, "told.safetensors"))
    one = lambda values: values if len(values) > 1 else values[0]  # noqa: E731
    history = model.fit(one(xs), one(ys), batch_size=options["batch_size"], epochs=options["epochs"], verbose=0,
                        shuffle=False, sample_weight=sample_weight,
                        class_weight={int(k): v for k, v in options["class_weight"].items()} or None,
                        validation_data=validation and (one(validation[0]), one(validation[1]))).history
    expected = {"history/" + name: np.array(values, "f8") for name, values in history.items() if name != "lr"}
    expected |= {"weights/%d" % i: w for i, w in enumerate(model.get_weights())}
    predicted = model.predict(one(xs), verbose=0)
    predicted = predicted if isinstance(predicted, list) else [predicted]
    expected |= {"predictions/" + name: p for name, p in zip(model.output_names, predicted)}
    problems = ["only one has " + name for name in sorted(set(expected) ^ set(told))]
    for name in sorted(set(expected) & set(told)):
        wrong = difference(told[name], expected[name])
        if wrong:
            problems.append("%s differs %s: %s instead of %s" % (
                name, wrong, told[name].ravel()[:4], expected[name].ravel()[:4]))
    return problems


def main():
    first, count = (int(a) for a in (sys.argv[1:] + ["1", "50"][len(sys.argv) - 1:]))
    bad = []
    for number in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            problems = run(number, folder)
        if problems:
            bad.append(number)
            print("case %d: %s" % (number, "\n  ".join(problems)), flush=True)
    print("%d cases, %d differ: %s" % (count, len(bad), bad))
    sys.exit(bool(bad))


main()

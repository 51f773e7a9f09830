"""make_optimizer_cases.py FILE [--tensorflow]: writes 200 random cases of every optimizer with groups, clipping and
moving averages (tests/golden/optimizer_cases.safetensors), computed in NumPy's float64 by optimizer_formulas.py.

A case has two variables, "kernel" [rows, columns] and "bias" [units], options of the optimizer, and six steps. The
gradient of element j (of both variables together) is the mean over the rows r of a batch of scale x, with
x = ((37 s + 11 r + 7 j + 13 k) mod 41 - 20 + 1/16) / 16 in step s (from 0) of case k; there are 5 rows in odd steps and
6 in even ones. The 1/16 keeps means away from 0, where optimizers that divide a gradient by its size would show
rounding alone. Element j starts from ((5 j + 3 k) mod 17 - 8) / 8.

"<optimizer>/options" [200, .]: the options, in the order of OPTIMIZERS. "<optimizer>/case" [200, 15]: what CASE names.
"<optimizer>/weights": all variables after the last step, case after case, kernel before bias; and then for every case
that has averages those of what is trained.

With --tensorflow the optimizers of TensorFlow 2.15.1 and its tf.train.ExponentialMovingAverage run the same cases, and
the script prints how far they are off, at most 4e-6: they keep rates in float32. LAMB and LARS are not in it. Its
RMSprop adds epsilon below the root; the legacy one adds it to the root where it has no momentum, and is left out where
it has. Run with NumPy 1.26.4 and TensorFlow 2.15.1.
"""
import sys
import zlib

import golden
import numpy as np
import optimizer_formulas as f

CASES, STEPS = 200, 6
NO_GROUP, FACTOR, RATE, DECAY, OWN_CLIP, FROZEN, ALL = range(7)
# scale: a power of two, by its exponent. clip: 0 none, 1 global norm, 2 value. excluded: whether the bias has neither
# the optimizer's decay nor a layer's rate. group: of the bias, but FROZEN of the kernel; RATE and ALL have `rate` of
# their own, FACTOR and ALL the factor, DECAY and ALL the decay, OWN_CLIP clips by value and ALL by norm. average: 0
# none, 1 with a constant decay, 2 with num_updates.
CASE = ["rows", "columns", "units", "scale", "clip", "limit", "excluded", "group", "factor", "rate", "decay",
        "group_limit", "average", "average_decay", "weight_decay"]


def log(low, high):
    return lambda r: float(np.exp(r.uniform(np.log(low), np.log(high))))


def share(low=0.0, high=0.999):
    return lambda r: float(r.uniform(low, high))


RATE_OF, EPSILON, INITIAL = log(1e-3, 0.3), log(1e-7, 1e-2), log(1e-2, 1)
OPTIMIZERS = {
    "sgd": (f.sgd, {"lr": RATE_OF}),
    "momentum": (f.momentum, {"lr": RATE_OF, "momentum": share(), "nesterov": lambda r: float(r.integers(2))}),
    "adam": (f.adam, {"lr": RATE_OF, "b1": share(), "b2": share(0.5), "eps": EPSILON}),
    "rmsprop": (f.rmsprop, {"lr": RATE_OF, "rho": share(),
                            "momentum": lambda r: float(r.choice([0.0, r.uniform(0.1, 0.999)])),
                            "eps": EPSILON, "in_root": lambda r: float(r.integers(2))}),
    "adamw": (f.adamw, {"lr": RATE_OF, "b1": share(), "b2": share(0.5), "eps": EPSILON}),
    "adagrad": (f.adagrad, {"lr": RATE_OF, "initial": INITIAL, "eps": EPSILON}),
    "adadelta": (f.adadelta, {"lr": log(0.1, 2), "rho": share(), "eps": log(1e-5, 1e-2)}),
    "adamax": (f.adamax, {"lr": RATE_OF, "b1": share(), "b2": share(0.5), "eps": EPSILON}),
    "nadam": (f.nadam, {"lr": RATE_OF, "b1": share(), "b2": share(0.5), "eps": EPSILON}),
    "ftrl": (f.ftrl, {"lr": log(0.03, 0.3), "power": lambda r: -float(r.choice([0.3, 0.5, 0.5, 0.8])),
                      "initial": INITIAL, "l1": log(1e-3, 0.3), "l2": log(1e-3, 0.3),
                      "shrinkage": log(1e-3, 0.3), "beta": log(1e-2, 1)}),
    "lion": (f.lion, {"lr": RATE_OF, "b1": share(), "b2": share()}),
    "lamb": (f.lamb, {"lr": RATE_OF, "b1": share(), "b2": share(0.5), "eps": EPSILON}),
    "lars": (f.lars, {"lr": RATE_OF, "momentum": share(), "trust": log(1e-3, 0.5)}),
}
OWN_DECAY, LAYERWISE = ("adamw", "lion", "lamb", "lars"), ("lamb", "lars")


def draw_case(r):
    return {
        "rows": r.integers(1, 5), "columns": r.integers(1, 5), "units": r.integers(1, 5), "scale": r.integers(-3, 3),
        "clip": r.integers(3), "limit": log(0.05, 2)(r), "excluded": r.integers(2), "group": r.integers(7),
        "factor": r.uniform(0, 2), "rate": log(1e-2, 0.3)(r), "decay": log(1e-2, 0.5)(r),
        "group_limit": log(0.05, 2)(r), "average": r.integers(3), "average_decay": r.uniform(0, 0.999),
        "weight_decay": log(1e-2, 0.5)(r)
    }


def gradients(case, k, step, n):
    rows = 6 - step % 2
    r, j = np.arange(rows)[:, None], np.arange(n)[None]
    return 2.0**case["scale"] * (((37 * step + 11 * r + 7 * j + 13 * k) % 41 - 20 + 1 / 16) / 16).mean(0)


def clip_norm(grads, limit):
    norm = np.sqrt(sum((g * g).sum() for g in grads))
    return [g * limit / max(norm, limit) for g in grads]


def clip(case, kernel, bias):
    """The gradients clipped; the bias has its group's clipping, if that has its own."""
    own = {OWN_CLIP: lambda g: np.clip(g, -case["group_limit"], case["group_limit"]),
           ALL: lambda g: clip_norm([g], case["group_limit"])[0]}.get(case["group"])
    grads = [kernel] if own else [kernel, bias]
    if case["group"] == FROZEN:
        grads = [bias]
    if case["clip"] == 1:
        grads = clip_norm(grads, case["limit"])
    elif case["clip"] == 2:
        grads = [np.clip(g, -case["limit"], case["limit"]) for g in grads]
    if own:
        grads.append(own(bias))
    return [np.zeros_like(kernel)] + grads if case["group"] == FROZEN else grads


def parts(name, case, options):
    """For kernel and bias: options of the update, and the decay that is taken off afterwards; None: frozen."""
    result = []
    for bias in (False, True):
        o, decay = dict(options), 0.0
        excluded = bool(bias and case["excluded"] and name in OWN_DECAY)
        if name in OWN_DECAY:
            o["wd"] = 0.0 if excluded else case["weight_decay"]
        if name in LAYERWISE:
            o["excluded"] = excluded
        group = case["group"] if bias else NO_GROUP
        if group in (RATE, ALL):
            o["lr"] = case["rate"]
        if group in (FACTOR, ALL):
            o["lr"] *= case["factor"]
        if group in (DECAY, ALL):
            if name in OWN_DECAY:
                o["wd"] = case["decay"]
            else:
                decay = o["lr"] * case["decay"]
        result.append(None if not bias and case["group"] == FROZEN else (o, decay))
    return result


def run(name, case, k, options, make_update, make_average):
    shapes = [(case["rows"], case["columns"]), (case["units"],)]
    n = [int(np.prod(s)) for s in shapes]
    start = ((5 * np.arange(sum(n)) + 3 * k) % 17 - 8) / 8
    weights = [start[:n[0]].reshape(shapes[0]), start[n[0]:]]
    of = parts(name, case, options)
    updates = [make_update(name, w, p) if p else None for w, p in zip(weights, of)]
    averages = [make_average(case, w) for w in weights]
    shadows = list(weights)
    for step in range(STEPS):
        g = gradients(case, k, step, sum(n))
        clipped = clip(case, g[:n[0]].reshape(shapes[0]), g[n[0]:])
        for i in (0, 1):
            if of[i] is None:
                continue
            before = weights[i]
            weights[i] = updates[i](before, clipped[i], step + 1) - of[i][1] * before
            shadows[i] = averages[i](shadows[i], weights[i], step + 1)
    return weights, [s for s, p in zip(shadows, of) if p and case["average"]]


def numpy_update(name, _, part):
    slots = f.Slots()
    return lambda w, g, t: OPTIMIZERS[name][0](w, g, slots, t, **part[0])


def numpy_average(case, _):
    return lambda shadow, w, t: f.average(shadow, w, t, case["average_decay"], case["average"] == 2)


def tensorflow_parts():
    import tensorflow as tf
    tf.keras.backend.set_floatx("float64")
    K, v1 = tf.keras.optimizers, tf.compat.v1.train

    def of(name, o):
        lr = o["lr"]
        return {
            "sgd": lambda: v1.GradientDescentOptimizer(lr),
            "momentum": lambda: v1.MomentumOptimizer(lr, o["momentum"], use_nesterov=bool(o["nesterov"])),
            "adam": lambda: v1.AdamOptimizer(lr, o["b1"], o["b2"], o["eps"]),
            "rmsprop": lambda: (K.RMSprop if o["in_root"] else K.legacy.RMSprop)(lr, o["rho"], o["momentum"],
                                                                                 o["eps"]),
            "adamw": lambda: K.AdamW(lr, o["wd"], o["b1"], o["b2"], o["eps"]),
            "adagrad": lambda: K.Adagrad(lr, o["initial"], o["eps"]),
            "adadelta": lambda: K.Adadelta(lr, o["rho"], o["eps"]),
            "adamax": lambda: K.Adamax(lr, o["b1"], o["b2"], o["eps"]),
            "nadam": lambda: K.Nadam(lr, o["b1"], o["b2"], o["eps"]),
            "ftrl": lambda: K.Ftrl(lr, o["power"], o["initial"], o["l1"], o["l2"], o["shrinkage"], o["beta"]),
            "lion": lambda: K.Lion(lr, o["b1"], o["b2"], weight_decay=o["wd"]),
        }[name]()

    def make_update(name, w, part):
        optimizer, variable = of(name, part[0]), tf.Variable(w)

        def update(w, g, t):
            variable.assign(w)
            optimizer.apply_gradients([(tf.constant(g), variable)])
            return variable.numpy()

        return update

    def make_average(case, w):
        if not case["average"]:
            return lambda shadow, w, t: shadow
        updates = tf.Variable(0.0, dtype=tf.float64) if case["average"] == 2 else None
        ema, variable = tf.train.ExponentialMovingAverage(case["average_decay"], updates), tf.Variable(w)
        ema.apply([variable])  # the shadow starts from the first value

        def average(shadow, w, t):
            variable.assign(w)
            if updates is not None:
                updates.assign(t)
            ema.apply([variable])
            return ema.average(variable).numpy()

        return average

    return make_update, make_average


def main(path):
    tensors, tensorflow = {}, tensorflow_parts() if "--tensorflow" in sys.argv else None
    for name, (_, ranges) in OPTIMIZERS.items():
        random = np.random.default_rng(zlib.crc32(name.encode()))
        options, cases, weights, averages, worst = [], [], [], [], 0.0
        for k in range(CASES):
            case, option = draw_case(random), {key: draw(random) for key, draw in ranges.items()}
            cases.append([float(case[c]) for c in CASE])
            options.append([option[o] for o in ranges])
            found = run(name, case, k, option, numpy_update, numpy_average)
            weights += [w.ravel() for w in found[0]]
            averages += [a.ravel() for a in found[1]]
            if tensorflow and name not in LAYERWISE and not (
                    name == "rmsprop" and option["momentum"] and not option["in_root"]):
                theirs = run(name, case, k, option, *tensorflow)
                for a, b in zip(found[0] + found[1], theirs[0] + theirs[1]):
                    worst = max(worst, (np.abs(a - b) / (1 + np.abs(a))).max())
        tensors[name + "/options"], tensors[name + "/case"] = np.array(options), np.array(cases)
        tensors[name + "/weights"] = np.concatenate(weights + averages)
        print(name, "differs from TensorFlow by", worst) if tensorflow and name not in LAYERWISE else None
    golden.write(path, tensors, "tests/golden/make_optimizer_cases.py, NumPy " + np.__version__)


main(sys.argv[1])

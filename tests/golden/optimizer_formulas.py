"""One step of every optimizer for one variable, in NumPy's float64: the formulas of tf.compat.v1.train (gradient
descent, momentum, Adam), of Keras 2.15's optimizers, and of the papers that frontends/optimizers.h names (LAMB, LARS).

Each takes the variable, its gradient, its slots (a Slots, which it changes), the number of the step from 1, and
options, and gives the variable after the step. `wd` is what decays this variable; `excluded` keeps a layer's rate from
it.
"""
import numpy as np


class Slots(dict):
    """Slots by name, from zeros or a number."""

    def get(self, name, like, start=0.0):
        return self.setdefault(name, np.full_like(like, start))


def sgd(w, g, s, t, lr=0.01):
    return w - lr * g


def momentum(w, g, s, t, lr=0.01, momentum=0.9, nesterov=False):
    s["a"] = momentum * s.get("a", w) + g
    return w - lr * (g + momentum * s["a"] if nesterov else s["a"])


def adam(w, g, s, t, lr=0.001, b1=0.9, b2=0.999, eps=1e-8):
    s["m"] = b1 * s.get("m", w) + (1 - b1) * g
    s["v"] = b2 * s.get("v", w) + (1 - b2) * g * g
    return w - lr * np.sqrt(1 - b2**t) / (1 - b1**t) * s["m"] / (np.sqrt(s["v"]) + eps)


def rmsprop(w, g, s, t, lr=0.001, rho=0.9, momentum=0.0, eps=1e-7, in_root=False):
    s["s"] = rho * s.get("s", w) + (1 - rho) * g * g
    s["a"] = momentum * s.get("a", w) + lr * g / (np.sqrt(s["s"] + eps) if in_root else np.sqrt(s["s"]) + eps)
    return w - s["a"]


def adamw(w, g, s, t, lr=0.01, wd=0.1, b1=0.9, b2=0.999, eps=1e-7):
    return adam(w, g, s, t, lr, b1, b2, eps) - lr * wd * w


def adagrad(w, g, s, t, lr=0.2, initial=0.1, eps=1e-7):
    s["a"] = s.get("a", w, initial) + g * g
    return w - lr * g / np.sqrt(s["a"] + eps)


def adadelta(w, g, s, t, lr=1.0, rho=0.9, eps=1e-4):
    s["a"] = rho * s.get("a", w) + (1 - rho) * g * g
    d = -np.sqrt(s.get("u", w) + eps) / np.sqrt(s["a"] + eps) * g
    s["u"] = rho * s["u"] + (1 - rho) * d * d
    return w + lr * d


def adamax(w, g, s, t, lr=0.01, b1=0.9, b2=0.99, eps=1e-7):
    s["m"] = b1 * s.get("m", w) + (1 - b1) * g
    s["u"] = np.maximum(b2 * s.get("u", w), np.abs(g))
    return w - lr * s["m"] / ((1 - b1**t) * (s["u"] + eps))


def nadam(w, g, s, t, lr=0.01, b1=0.9, b2=0.99, eps=1e-7):
    now, ahead = b1 * (1 - 0.5 * 0.96**t), b1 * (1 - 0.5 * 0.96**(t + 1))
    s["p"] = s.get("p", w, 1.0) * now
    s["m"] = b1 * s.get("m", w) + (1 - b1) * g
    s["v"] = b2 * s.get("v", w) + (1 - b2) * g * g
    m = ahead * s["m"] / (1 - s["p"] * ahead) + (1 - now) * g / (1 - s["p"])
    return w - lr * m / (np.sqrt(s["v"] / (1 - b2**t)) + eps)


def ftrl(w, g, s, t, lr=0.3, power=-0.5, initial=0.1, l1=0.05, l2=0.02, shrinkage=0.1, beta=0.1):
    n = s.get("n", w, initial)
    s["n"] = n + g * g
    s["z"] = s.get("z", w) + g + 2 * shrinkage * w - (s["n"]**-power - n**-power) / lr * w
    quadratic = s["n"]**-power / lr + 2 * (l2 + beta / (2 * lr))
    return (np.clip(s["z"], -l1, l1) - s["z"]) / quadratic


def lion(w, g, s, t, lr=0.001, wd=0.1, b1=0.9, b2=0.99):
    change = np.sign(b1 * s.get("m", w) + (1 - b1) * g)
    s["m"] = b2 * s["m"] + (1 - b2) * g
    return w - lr * (change + wd * w)


def lamb(w, g, s, t, excluded=False, lr=0.01, wd=0.1, b1=0.9, b2=0.99, eps=1e-6):
    s["m"] = b1 * s.get("m", w) + (1 - b1) * g
    s["v"] = b2 * s.get("v", w) + (1 - b2) * g * g
    r = s["m"] / (1 - b1**t) / (np.sqrt(s["v"] / (1 - b2**t)) + eps) + wd * w
    norms = np.linalg.norm(w), np.linalg.norm(r)
    return w - lr * (norms[0] / norms[1] if min(norms) > 0 and not excluded else 1) * r


def lars(w, g, s, t, excluded=False, lr=0.02, wd=0.01, momentum=0.9, trust=0.5):
    norms = np.linalg.norm(w), np.linalg.norm(g)
    if min(norms) > 0 and not excluded:
        lr *= trust * norms[0] / (norms[1] + wd * norms[0])
    s["a"] = momentum * s.get("a", w) + lr * (g + wd * w)
    return w - s["a"]


def average(shadow, w, t, decay, num_updates):
    """tf.train.ExponentialMovingAverage after step t."""
    if num_updates:
        decay = min(decay, (1 + t) / (10 + t))
    return shadow - (1 - decay) * (shadow - w)

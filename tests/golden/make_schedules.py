"""make_schedules.py FILE: writes learning rates at some steps (tests/golden/schedules.safetensors).

50 random sets of options of each schedule, "<schedule>/options" [50, options], and the rates "<schedule>" [50, steps] at
"steps", in float64. inverse_time and cosine_restarts are Keras', natural_exp is tf.compat.v1.train's (options: initial
rate, decay steps, decay rate, staircase; initial rate, first decay steps, t_mul, m_mul, alpha). one_cycle is computed
here, from the formula of frontends/schedules.h (options: maximal rate, total steps, share that rises, first and last
divisors). Run with TensorFlow 2.15.1 and NumPy 1.26.4.
"""
import sys

import golden
import numpy as np
import tensorflow as tf

SETS = 50
STEPS = np.array([0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597], np.int64)
S = tf.keras.optimizers.schedules


def decays(rng):
    return [rng.uniform(0.001, 1), rng.uniform(1, 60), rng.uniform(0.01, 2), float(rng.integers(0, 2))]


def inverse_time(o):
    schedule = S.InverseTimeDecay(np.float64(o[0]), np.float64(o[1]), np.float64(o[2]), staircase=bool(o[3]))
    return [float(schedule(tf.constant(s))) for s in STEPS]


def natural_exp(o):
    return [float(tf.compat.v1.train.natural_exp_decay(np.float64(o[0]), tf.constant(s), np.float64(o[1]),
                                                       np.float64(o[2]), staircase=bool(o[3]))()) for s in STEPS]


def restarts(rng):
    return [rng.uniform(0.001, 1), rng.uniform(2, 60), rng.choice([1, rng.uniform(1.1, 3)]), rng.uniform(0.3, 1),
            rng.choice([0, rng.uniform(0, 0.5)])]


def cosine_restarts(o):
    schedule = S.CosineDecayRestarts(np.float64(o[0]), np.float64(o[1]), o[2], o[3], o[4])
    return [float(schedule(tf.constant(s))) for s in STEPS]


def cycles(rng):
    return [rng.uniform(0.01, 1), rng.uniform(10, 1500), rng.uniform(0.1, 0.9), rng.uniform(2, 50), rng.uniform(10, 1e4)]


def one_cycle(o):
    top, total, share, first, last = o

    def between(start, end, part):
        return end + (start - end) * (1 + np.cos(np.pi * part)) / 2

    rise = share * total
    return [between(top / first, top, s / rise) if s < rise else
            between(top, top / first / last, min((s - rise) / (total - rise), 1)) for s in STEPS]


def main(path):
    rng = np.random.default_rng(20261125)
    tensors = {"steps": STEPS}
    for schedule, options in ((inverse_time, decays), (natural_exp, decays), (cosine_restarts, restarts),
                              (one_cycle, cycles)):
        sets = [options(rng) for _ in range(SETS)]
        tensors[schedule.__name__ + "/options"] = np.array(sets, np.float64)
        tensors[schedule.__name__] = np.array([schedule(o) for o in sets], np.float64)
    golden.write(path, tensors, "tests/golden/make_schedules.py, TensorFlow %s, NumPy %s" %
                 (tf.__version__, np.__version__))


main(sys.argv[1])

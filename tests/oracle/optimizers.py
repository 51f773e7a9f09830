"""Optimizers by the formulas of the libraries they are named after; `update` changes the parameters in place.

Learning rates and coefficients are rounded to float32 first, in float64 as well: a float32 program holds them so, and
TensorFlow's float64 losses are then met to 1e-12.
"""
import numpy as np


def f32(value):
    return float(np.float32(value))


class Sgd:

    def __init__(self, learning_rate):
        self.learning_rate = learning_rate

    def update(self, params, grads):
        for name, g in grads.items():
            params[name] -= g.dtype.type(f32(self.learning_rate)) * g


class Momentum:
    """tf.compat.v1.train.MomentumOptimizer: the learning rate is outside the accumulator."""

    def __init__(self, learning_rate, momentum=0.9):
        self.learning_rate, self.momentum, self.accumulators = learning_rate, momentum, {}

    def update(self, params, grads):
        for name, g in grads.items():
            kind = g.dtype.type
            a = self.accumulators[name] = kind(f32(self.momentum)) * self.accumulators.get(name, np.zeros_like(g)) + g
            params[name] -= kind(f32(self.learning_rate)) * a


class Adam:
    """tf.compat.v1.train.AdamOptimizer: epsilon is added to the square root that is not corrected for bias."""

    def __init__(self, learning_rate, beta1=0.9, beta2=0.999, epsilon=1e-8):
        self.learning_rate, self.beta1, self.beta2, self.epsilon = learning_rate, beta1, beta2, epsilon
        self.step, self.m, self.v = 0, {}, {}

    def update(self, params, grads):
        self.step += 1
        for name, g in grads.items():
            kind = g.dtype.type
            one, b1, b2 = kind(1), kind(f32(self.beta1)), kind(f32(self.beta2))
            alpha = kind(f32(self.learning_rate)) * np.sqrt(one - b2**self.step) / (one - b1**self.step)
            m = self.m[name] = b1 * self.m.get(name, np.zeros_like(g)) + (one - b1) * g
            v = self.v[name] = b2 * self.v.get(name, np.zeros_like(g)) + (one - b2) * g * g
            params[name] -= alpha * m / (np.sqrt(v) + kind(f32(self.epsilon)))


class RmsProp:
    """Keras' RMSprop: epsilon is added to the square root, accumulators start at 0."""

    def __init__(self, learning_rate, rho=0.9, epsilon=1e-7):
        self.learning_rate, self.rho, self.epsilon, self.v = learning_rate, rho, epsilon, {}

    def update(self, params, grads):
        for name, g in grads.items():
            kind = g.dtype.type
            rho = kind(f32(self.rho))
            v = self.v[name] = rho * self.v.get(name, np.zeros_like(g)) + (kind(1) - rho) * g * g
            params[name] -= kind(f32(self.learning_rate)) * g / (np.sqrt(v) + kind(f32(self.epsilon)))

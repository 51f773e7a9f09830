"""Layers with hand-written gradients in NumPy, in whatever float type their inputs have.

Written from the formulas alone, so that agreement with Tandem means something. Activations are NHWC, convolution kernels
HWIO, dense kernels [in, out]. Each layer is (forward -> output, saved) and (backward of saved and output gradient ->
input gradient, parameter gradients by name).
"""
import numpy as np


def sum_rows(x):
    """Sum over all axes but the last, pairwise in float32 as well (NumPy's own sum over leading axes is not)."""
    return np.ascontiguousarray(x.reshape(-1, x.shape[-1]).T).sum(1)


class Conv2D:
    """Stride 1, VALID, by im2col; optional relu."""

    def __init__(self, name, relu=True):
        self.kernel, self.bias, self.relu = name + "/kernel", name + "/bias", relu

    def forward(self, x, params, state, training):
        w = params[self.kernel]
        kh, kw, cin, cout = w.shape
        n, h, wd, _ = x.shape
        oh, ow = h - kh + 1, wd - kw + 1
        windows = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), axis=(1, 2))  # n oh ow cin kh kw
        columns = np.ascontiguousarray(windows.transpose(0, 1, 2, 4, 5, 3)).reshape(n * oh * ow, kh * kw * cin)
        y = (columns @ w.reshape(-1, cout) + params[self.bias]).reshape(n, oh, ow, cout)
        if self.relu:
            y = np.maximum(y, 0)
        return y, (x.shape, columns, y)

    def backward(self, saved, dy, params, grads, need_dx):
        shape, columns, y = saved
        w = params[self.kernel]
        kh, kw, cin, cout = w.shape
        n, oh, ow, _ = y.shape
        if self.relu:
            dy = dy * (y > 0)
        flat = dy.reshape(-1, cout)
        grads[self.kernel] = (columns.T @ flat).reshape(w.shape)
        grads[self.bias] = sum_rows(flat)
        if not need_dx:
            return None
        dcolumns = (flat @ w.reshape(-1, cout).T).reshape(n, oh, ow, kh, kw, cin)
        dx = np.zeros(shape, dy.dtype)
        for i in range(kh):
            for j in range(kw):
                dx[:, i:i + oh, j:j + ow] += dcolumns[:, :, :, i, j]
        return dx


class MaxPool2x2:
    """2x2, stride 2, VALID (an odd last row or column is dropped). The gradient goes to the first maximum."""

    def forward(self, x, params, state, training):
        n, h, w, c = x.shape
        oh, ow = h // 2, w // 2
        windows = x[:, :2 * oh, :2 * ow].reshape(n, oh, 2, ow, 2, c).transpose(0, 1, 3, 5, 2, 4).reshape(n, oh, ow, c, 4)
        first = windows.argmax(-1)[..., None]
        return np.take_along_axis(windows, first, -1)[..., 0], (x.shape, first)

    def backward(self, saved, dy, params, grads, need_dx):
        (n, h, w, c), first = saved
        oh, ow = h // 2, w // 2
        windows = np.zeros((n, oh, ow, c, 4), dy.dtype)
        np.put_along_axis(windows, first, dy[..., None], -1)
        dx = np.zeros((n, h, w, c), dy.dtype)
        dx[:, :2 * oh, :2 * ow] = windows.reshape(n, oh, ow, c, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(
            n, 2 * oh, 2 * ow, c)
        return dx


class BatchNormalization:
    """Keras' defaults over the last axis: epsilon 1e-3, momentum 0.99.

    Normalises with the batch's biased variance; the moving variance takes the unbiased one, as Keras' fused layer does.
    """
    EPSILON, MOMENTUM = 1e-3, 0.99

    def __init__(self, name):
        self.gamma, self.beta = name + "/gamma", name + "/beta"
        self.mean, self.variance = name + "/moving_mean", name + "/moving_variance"

    def forward(self, x, params, state, training):
        kind = x.dtype.type
        if not training:
            scale = params[self.gamma] / np.sqrt(state[self.variance] + kind(self.EPSILON))
            return (x - state[self.mean]) * scale + params[self.beta], None
        count = x.size // x.shape[-1]
        mean = sum_rows(x) / kind(count)
        variance = sum_rows((x - mean)**2) / kind(count)
        inverse = 1 / np.sqrt(variance + kind(self.EPSILON))
        normal = (x - mean) * inverse
        for name, value in ((self.mean, mean), (self.variance, variance * kind(count / (count - 1)))):
            state[name] = state[name] * kind(self.MOMENTUM) + value * kind(1 - self.MOMENTUM)
        return normal * params[self.gamma] + params[self.beta], (normal, inverse)

    def backward(self, saved, dy, params, grads, need_dx):
        normal, inverse = saved
        count = dy.dtype.type(dy.size // dy.shape[-1])
        grads[self.beta] = sum_rows(dy)
        grads[self.gamma] = sum_rows(dy * normal)
        dn = dy * params[self.gamma]
        return inverse * (dn - sum_rows(dn) / count - normal * (sum_rows(dn * normal) / count))


class Flatten:

    def forward(self, x, params, state, training):
        return x.reshape(len(x), -1), x.shape

    def backward(self, saved, dy, params, grads, need_dx):
        return dy.reshape(saved)


class Dense:

    def __init__(self, name, relu):
        self.kernel, self.bias, self.relu = name + "/kernel", name + "/bias", relu

    def forward(self, x, params, state, training):
        y = x @ params[self.kernel] + params[self.bias]
        if self.relu:
            y = np.maximum(y, 0)
        return y, (x, y)

    def backward(self, saved, dy, params, grads, need_dx):
        x, y = saved
        if self.relu:
            dy = dy * (y > 0)
        grads[self.kernel] = x.T @ dy
        grads[self.bias] = sum_rows(dy)
        return dy @ params[self.kernel].T


def softmax_cross_entropy(logits, labels):
    """logits [n, classes], labels int [n] -> losses [n], gradient of their sum by the logits."""
    shifted = logits - logits.max(1, keepdims=True)
    exps = np.exp(shifted)
    sums = exps.sum(1, keepdims=True)
    rows = np.arange(len(labels))
    losses = np.log(sums[:, 0]) - shifted[rows, labels]
    gradient = exps / sums
    gradient[rows, labels] -= 1
    return losses, gradient

"""What ONNX's ops of opset 17 compute, written down from their specification, with NumPy. Each function gets the inputs
and the attributes of a node."""
import math

import numpy as np

from onnx_file import DTYPES

erf = np.vectorize(math.erf, otypes=[np.float64])


def taps(x, window, strides, pads, fill):
    """(ky, kx, the elements under that place of all windows) of an image [b, c, h, w]."""
    top, left, bottom, right = pads
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    out = [(x.shape[2 + i] - window[i]) // strides[i] + 1 for i in range(2)]
    for ky in range(window[0]):
        for kx in range(window[1]):
            yield ky, kx, x[:, :, ky:ky + (out[0] - 1) * strides[0] + 1:strides[0],
                            kx:kx + (out[1] - 1) * strides[1] + 1:strides[1]]


def conv(x, k, bias=None, *, kernel_shape, strides, pads, group=1):
    assert list(k.shape[2:]) == kernel_shape and x.shape[1] == k.shape[1] * group
    parts = []
    for xs, ks in zip(np.split(x.astype(np.float64), group, 1), np.split(k.astype(np.float64), group, 0)):
        parts.append(sum(np.einsum("bchw,oc->bohw", tap, ks[:, :, ky, kx], optimize=True)
                         for ky, kx, tap in taps(xs, kernel_shape, strides, pads, 0)))
    y = np.concatenate(parts, 1)
    return (y if bias is None else y + bias.reshape(1, -1, 1, 1)).astype(x.dtype)


def conv_transpose(x, k, *, kernel_shape, strides, pads, output_padding):
    top, left, bottom, right = pads
    size = [(x.shape[2 + i] - 1) * strides[i] + kernel_shape[i] + output_padding[i] for i in range(2)]
    y = np.zeros([x.shape[0], k.shape[1]] + size)
    for ky in range(kernel_shape[0]):
        for kx in range(kernel_shape[1]):
            y[:, :, ky:ky + (x.shape[2] - 1) * strides[0] + 1:strides[0],
              kx:kx + (x.shape[3] - 1) * strides[1] + 1:strides[1]] += np.einsum("bchw,co->bohw", x, k[:, :, ky, kx])
    return y[:, :, top:size[0] - bottom, left:size[1] - right].astype(x.dtype)


def max_pool(x, *, kernel_shape, strides, pads):
    return np.max([tap for _, _, tap in taps(x, kernel_shape, strides, pads, -np.inf)], axis=0)


def average_pool(x, *, kernel_shape, strides, pads, count_include_pad):
    assert count_include_pad == 0
    sums = sum(tap for _, _, tap in taps(x.astype(np.float64), kernel_shape, strides, pads, 0))
    counts = sum(tap for _, _, tap in taps(np.ones_like(x), kernel_shape, strides, pads, 0))
    return (sums / counts).astype(x.dtype)


def batch_normalization(x, scale, bias, mean, variance, *, epsilon):
    def along(v):
        return v.reshape(-1, *[1] * (x.ndim - 2))
    return (x - along(mean)) / np.sqrt(along(variance) + np.float32(epsilon)) * along(scale) + along(bias)


def layer_normalization(x, scale, bias=0, *, axis, epsilon):
    assert axis == -1
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + np.float32(epsilon)) * scale + bias


def softmax(x, *, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, *, axis):
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def reshape(x, shape):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape)])


def expand(x, shape):
    return x * np.ones(shape, x.dtype) if x.dtype != bool else x & np.ones(shape, bool)


def slice_(x, starts, ends, axes):
    index = [slice(None)] * x.ndim
    for start, end, axis in zip(starts, ends, axes):
        index[axis] = slice(start, end)
    return x[tuple(index)]


def pad(x, pads, value):
    rank = x.ndim
    return np.pad(x, [(pads[i], pads[rank + i]) for i in range(rank)], constant_values=value)


def cast(x, *, to):
    x = np.trunc(x) if np.issubdtype(DTYPES[to], np.integer) and x.dtype != bool else x
    return x.astype(DTYPES[to])


def reduced(function):
    return lambda x, axes_input=None, *, keepdims, axes=None: function(
        x, axis=tuple(axes_input if axes is None else axes), keepdims=bool(keepdims)).astype(x.dtype)


def gather(x, indices, *, axis):
    assert axis == 0 and (indices >= 0).all() and (indices < len(x)).all()
    return x[indices]


OPS = {
    "Identity": lambda x: x, "Neg": np.negative, "Abs": np.abs, "Sign": np.sign, "Exp": np.exp, "Log": np.log,
    "Sqrt": np.sqrt, "Reciprocal": lambda x: 1 / x, "Tanh": np.tanh, "Sin": np.sin, "Cos": np.cos,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Relu": lambda x: np.maximum(x, 0), "Floor": np.floor,
    "Erf": lambda x: erf(x).astype(x.dtype), "Not": np.logical_not, "And": np.logical_and, "Or": np.logical_or,
    "IsNaN": np.isnan, "IsInf": np.isinf, "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide,
    "Max": np.maximum, "Min": np.minimum, "Pow": np.power, "Where": np.where, "Equal": np.equal, "Less": np.less,
    "LessOrEqual": np.less_equal, "Greater": np.greater, "GreaterOrEqual": np.greater_equal, "Cast": cast,
    "Transpose": lambda x, *, perm: x.transpose(perm), "Reshape": reshape, "Expand": expand, "Slice": slice_,
    "Pad": pad, "Concat": lambda *xs, axis: np.concatenate(xs, axis),
    "Unsqueeze": lambda x, axes: np.expand_dims(x, tuple(axes)),
    "Shape": lambda x, *, start, end: np.array(x.shape[start:end], np.int64),
    "Range": lambda start, limit, delta: np.arange(start, limit, delta), "Gather": gather,
    "ReduceSum": reduced(np.sum), "ReduceMax": reduced(np.max), "ReduceMin": reduced(np.min),
    "ReduceProd": reduced(np.prod), "ArgMax": lambda x, *, axis, keepdims: np.argmax(x, axis), "MatMul": np.matmul,
    "Gemm": lambda a, b, c: a @ b + c, "Conv": conv, "ConvTranspose": conv_transpose,
    "MaxPool": max_pool, "AveragePool": average_pool,
    "BatchNormalization": batch_normalization, "LayerNormalization": layer_normalization, "Softmax": softmax,
    "LogSoftmax": log_softmax,
}


def evaluate(model, inputs):
    """The outputs by name of an onnx_file.Model."""
    values = dict(model.constants, **inputs)
    with np.errstate(all="ignore"):
        for node in model.nodes:
            assert len(node.outputs) == 1, node.op
            values[node.outputs[0]] = np.asarray(
                OPS[node.op](*[values[name] for name in node.inputs], **node.attributes))
    for name, dtype, shape in model.outputs:
        value = values[name]
        assert value.dtype == dtype and list(value.shape[1:]) == shape[1:], (name, value.dtype, value.shape, shape)
    return {name: values[name] for name, _, _ in model.outputs}

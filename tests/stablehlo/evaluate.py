"""What StableHLO's ops compute, written down from their specification, with NumPy, as far as exported models have them.
"""
import re

import numpy as np

COMPARE = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater,
           "GE": np.greater_equal}
ELEMENTWISE = {
    "negate": np.negative, "abs": np.abs, "sign": np.sign, "exponential": np.exp, "log": np.log, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "tanh": np.tanh, "sine": np.sin, "cosine": np.cos,
    "logistic": lambda x: 1 / (1 + np.exp(-x)), "floor": np.floor, "is_finite": np.isfinite, "not": np.logical_not,
    "and": np.logical_and, "or": np.logical_or, "add": np.add, "subtract": np.subtract, "multiply": np.multiply,
    "divide": np.divide, "maximum": np.maximum, "minimum": np.minimum, "power": np.power, "select": np.where,
    "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
}


def convert(op, x):
    dtype = op.types[0][0]
    return (np.trunc(x) if np.issubdtype(dtype, np.integer) and x.dtype.kind == "f" else x).astype(dtype)


def broadcast_in_dim(op, x):
    shape, dims = op.types[0][1], op.ints("broadcast_dimensions")
    ones = [1] * len(shape)
    for i, dim in enumerate(dims):
        assert x.shape[i] in (1, shape[dim]), (x.shape, shape, dims)
        ones[dim] = x.shape[i]
    return np.broadcast_to(x.reshape(ones), shape)


def iota(op):
    dtype, shape = op.types[0]
    ones = [1] * len(shape)
    dim = op.ints("iota_dimension")
    ones[dim] = shape[dim]
    return np.broadcast_to(np.arange(shape[dim]).astype(dtype).reshape(ones), shape)


def slice_(op, x):
    boxes = zip(op.ints("start_indices"), op.ints("limit_indices"), op.ints("strides"))
    return x[tuple(slice(*box) for box in boxes)]


def padded(x, low, high, value):
    """Negative pads cut elements off."""
    x = np.pad(x, [(max(a, 0), max(b, 0)) for a, b in zip(low, high)], constant_values=value)
    return x[tuple(slice(max(-a, 0), x.shape[i] - max(-b, 0)) for i, (a, b) in enumerate(zip(low, high)))]


def pad(op, x, value):
    assert not any(op.ints("interior_padding"))
    return padded(x, op.ints("edge_padding_low"), op.ints("edge_padding_high"), value)


def dot_general(op, a, b):
    letters = "abcdefghijklmnopqrstuvwxyz"
    left, right = list(letters[:a.ndim]), list(letters[a.ndim:a.ndim + b.ndim])
    batching = list(zip(op.ints("lhs_batching_dimensions"), op.ints("rhs_batching_dimensions")))
    contracting = list(zip(op.ints("lhs_contracting_dimensions"), op.ints("rhs_contracting_dimensions")))
    for i, j in batching + contracting:
        right[j] = left[i]
    out = [left[i] for i, _ in batching]
    shared = set(out) | {left[i] for i, _ in contracting}
    out += [c for c in left + right if c not in shared]
    return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", a.astype(np.float64), b.astype(np.float64),
                     optimize=True).astype(a.dtype)


def padding(op):
    pairs = re.search(r"padding = dense<(.*?)> : tensor<(\d+)x2xi64>", op.attributes)
    numbers = [int(n) for n in re.findall(r"-?\d+", pairs[1])]
    numbers = numbers * (2 * int(pairs[2])) if len(numbers) == 1 else numbers
    return numbers[::2], numbers[1::2]


def taps(x, window, strides):
    """(ky, kx, the elements under that place of all windows) of an image [b, h, w, c]."""
    out = [(x.shape[1 + i] - window[i]) // strides[i] + 1 for i in range(2)]
    for ky in range(window[0]):
        for kx in range(window[1]):
            yield ky, kx, x[:, ky:ky + (out[0] - 1) * strides[0] + 1:strides[0],
                            kx:kx + (out[1] - 1) * strides[1] + 1:strides[1]]


def convolution(op, x, kernel):
    if "[0, 1, o, i]" in op.attributes:
        kernel = kernel.transpose(0, 1, 3, 2)
    if "window_reversal = array<i1: true, true>" in op.attributes:
        kernel = kernel[::-1, ::-1]
    dilation, groups, (low, high) = op.ints("lhs_dilation"), op.ints("feature_group_count"), padding(op)
    spread = np.zeros([x.shape[0]] + [(x.shape[1 + i] - 1) * dilation[i] + 1 for i in range(2)] + [x.shape[3]])
    spread[:, ::dilation[0], ::dilation[1]] = x
    spread = padded(spread, [0, *low, 0], [0, *high, 0], 0)
    assert x.shape[3] == kernel.shape[2] * groups
    parts = [sum(np.einsum("bhwi,io->bhwo", tap, ks[ky, kx], optimize=True)
                 for ky, kx, tap in taps(xs, kernel.shape[:2], op.ints("window_strides")))
             for xs, ks in zip(np.split(spread, groups, 3), np.split(kernel.astype(np.float64), groups, 3))]
    return np.concatenate(parts, 3).astype(x.dtype)


def reduced(op, parts, initial):
    """Folds `parts`, tuples of arrays, by the op's region."""
    so_far = [np.broadcast_to(value, part.shape) for value, part in zip(initial, parts[0])]
    for part in parts:
        so_far = run(op.body, dict(zip(op.parameters, [*so_far, *part])))
    return so_far


def reduce(op, *operands):
    values, initial = operands[:len(operands) // 2], operands[len(operands) // 2:]
    dims = op.ints("dimensions")
    kept = [i for i in range(values[0].ndim) if i not in dims]
    rows = [value.transpose(dims + kept).reshape([-1] + [value.shape[i] for i in kept]) for value in values]
    return reduced(op, list(zip(*rows)), initial)


def reduce_window(op, x, initial):
    low, high = padding(op)
    window, strides = op.ints("window_dimensions"), op.ints("window_strides")
    parts = [(tap,) for _, _, tap in taps(padded(x, low, high, initial), window[1:3], strides[1:3])]
    return reduced(op, parts, [initial])[0]


def gather(op, params, indices):
    """Rows by number, of which one out of range is the nearest."""
    assert "collapsed_slice_dims = [0], start_index_map = [0]" in op.attributes
    return params[np.clip(indices, 0, len(params) - 1)]


OPS = {
    "convert": convert, "broadcast_in_dim": broadcast_in_dim, "iota": iota, "slice": slice_, "pad": pad,
    "reshape": lambda op, x: x.reshape(op.types[0][1]), "transpose": lambda op, x: x.transpose(op.ints("permutation")),
    "concatenate": lambda op, *xs: np.concatenate(xs, op.ints("dimension")), "dot_general": dot_general,
    "convolution": convolution, "reduce": reduce, "reduce_window": reduce_window, "gather": gather,
    "compare": lambda op, x, y: COMPARE[re.search(r"comparison_direction (\w\w)", op.attributes)[1]](x, y),
}


def run(ops, values):
    """The operands of the return; `values` are those of the ops' arguments, by name."""
    from stablehlo_text import constant
    for op in ops:
        operands = [values[name] for name in op.operands]
        if op.name == "return":
            return operands
        if op.name == "constant":
            result = constant(op.attributes)
        elif op.name in ELEMENTWISE:
            result = ELEMENTWISE[op.name](*operands)
        else:
            result = OPS[op.name](op, *operands)
        results = result if isinstance(result, list) else [result]
        for i, (value, (dtype, shape)) in enumerate(zip(results, op.types)):
            assert op.types[i][1] == [] or list(np.shape(value)) == shape, (op.name, np.shape(value), shape)
            value = np.asarray(value).astype(dtype)
            values[op.results if len(results) == 1 else f"{op.results}#{i}"] = value
    return []


def evaluate(module, inputs, weights):
    """The outputs by name of a stablehlo_text.Module; `weights` by name."""
    given = [inputs[name] for name in module.inputs] + [weights[name] for name in module.variables]
    values = dict(zip(module.arguments, given))
    with np.errstate(all="ignore"):
        run(module.ops, values)
    return dict(zip(module.outputs, [values[name] for name in module.returned]))

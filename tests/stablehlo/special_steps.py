"""Steps of td ops for numbers that formats treat differently, and what the descriptions in graph/ir/*.td say of them:
(name, step, inputs, result)."""
import os

import exported
import numpy as np

NAN, INF = np.nan, np.inf


def step(inputs, result, op):
    arguments = ", ".join(f'%{name}: {kind} {{td.input = "{name}"}}' for name, kind in inputs)
    return (f'func.func @step({arguments}) -> ({result} {{td.output = "y"}}) {{\n  {op}\n  return %y : {result}\n}}\n')


def translated(step, rows, folder):
    """The text of the module."""
    path = os.path.join(folder, "step.mlir")
    with open(path, "w", encoding="utf-8") as f:
        f.write(step)
    return exported.run("tools/tandem-opt", path, "-allow-unregistered-dialect", f"-td-to-stablehlo=rows={rows}")


def check(name, got, expected):
    same = got.dtype == expected.dtype and np.array_equal(got, expected, equal_nan=got.dtype.kind == "f")
    assert same, f"{name} gives {got} instead of {expected}"


def f32(*numbers):
    return np.array(numbers, np.float32)


def binary(op, expected):
    return (op, step([("a", "tensor<?xf32>"), ("b", "tensor<?xf32>")], "tensor<?xf32>",
                     f"%y = td.{op} %a, %b : tensor<?xf32>"),
            [f32(NAN, 1, -2, 3), f32(1, NAN, -3, 4)], expected)


TABLE = "dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>"
CASES = [
    binary("max", f32(NAN, NAN, -2, 4)),
    binary("min", f32(NAN, NAN, -3, 3)),
    ("relu", step([("x", "tensor<?xf32>")], "tensor<?xf32>", "%y = td.relu %x : tensor<?xf32>"),
     [f32(NAN, -1, 2, -INF)], f32(NAN, 0, 2, 0)),
    ("cast_to_bool", step([("x", "tensor<?xf32>")], "tensor<?xi1>",
                          "%y = td.cast %x : tensor<?xf32> -> tensor<?xi1>"),
     [f32(NAN, 0, -0.0, 1e-30, -2)], np.array([True, False, False, True, True])),
    ("cast_to_integer", step([("x", "tensor<?xf32>")], "tensor<?xi32>",
                             "%y = td.cast %x : tensor<?xf32> -> tensor<?xi32>"),
     [f32(1.9, -1.9, 0.5, -0.5)], np.array([1, -1, 0, 0], np.int32)),
    ("sign", step([("x", "tensor<?xf32>")], "tensor<?xf32>", "%y = td.sign %x : tensor<?xf32>"),
     [f32(NAN, -3, 0, 7)], f32(NAN, -1, 0, 1)),
    # A NaN is the largest as the first element, and never behind it.
    ("argmax", step([("x", "tensor<?x3xf32>")], "tensor<?xi64>",
                    "%y = td.argmax %x axis 1 : tensor<?x3xf32> -> tensor<?xi64>"),
     [np.stack([f32(1, 2, 2), f32(NAN, 5, INF), f32(1, NAN, 3), f32(-INF, NAN, -INF), f32(2, NAN, 1)])],
     np.array([1, 0, 2, 0, 0])),
    ("argmax_of_integers", step([("x", "tensor<?x3xi32>")], "tensor<?xi64>",
                                "%y = td.argmax %x axis 1 : tensor<?x3xi32> -> tensor<?xi64>"),
     [np.array([[3, 7, 7], [-2**31, -2**31, -2**31]], np.int32)], np.array([1, 0])),
    ("max_pool", step([("x", "tensor<?x1x4x1xf32>")], "tensor<?x1x2x1xf32>",
                      "%y = td.max_pool %x window [1, 2] strides [1, 2] low [0, 0] high [0, 0] : "
                      "tensor<?x1x4x1xf32> -> tensor<?x1x2x1xf32>"),
     [f32(NAN, 1, -2, -INF).reshape(1, 1, 4, 1)], f32(NAN, -2).reshape(1, 1, 2, 1)),
    ("reduce_max", step([("x", "tensor<?x2xf32>")], "tensor<?xf32>",
                        "%y = td.reduce max, %x axes [1] : tensor<?x2xf32> -> tensor<?xf32>"),
     [np.stack([f32(NAN, 1), f32(1, NAN), f32(-INF, -INF)])], f32(NAN, NAN, -INF)),
    ("gather", step([("i", "tensor<?xi32>")], "tensor<?x2xf32>",
                    f"%t = td.constant {TABLE}\n"
                    "  %y = td.gather %t, %i : (tensor<3x2xf32>, tensor<?xi32>) -> tensor<?x2xf32>"),
     [np.array([2, -1, 0, 3, -2**31], np.int32)], np.stack([f32(5, 6), f32(NAN, NAN), f32(1, 2), *[f32(NAN, NAN)] * 2])),
    ("gather_of_integers", step([("i", "tensor<?xi64>")], "tensor<?xi32>",
                                "%t = td.constant dense<[7, 8, 9]> : tensor<3xi32>\n"
                                "  %y = td.gather %t, %i : (tensor<3xi32>, tensor<?xi64>) -> tensor<?xi32>"),
     [np.array([1, -5, 40])], np.array([8, 7, 9], np.int32)),
    ("one_hot", step([("i", "tensor<?xi64>")], "tensor<?x3xf32>",
                     "%y = td.one_hot %i : tensor<?xi64> -> tensor<?x3xf32>"),
     [np.array([1, -1, 3])], np.stack([f32(0, 1, 0), f32(0, 0, 0), f32(0, 0, 0)])),
    ("softmax", step([("x", "tensor<?x2xf32>")], "tensor<?x2xf32>", "%y = td.softmax %x : tensor<?x2xf32>"),
     [np.stack([f32(1e30, 0), f32(-INF, 3), f32(NAN, 0)])], np.stack([f32(1, 0), f32(0, 1), f32(NAN, NAN)])),
    ("erf", step([("x", "tensor<?xf32>")], "tensor<?xf32>", "%y = td.erf %x : tensor<?xf32>"),
     [f32(NAN, 0)], f32(NAN, 0)),
]

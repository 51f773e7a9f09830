"""The text of the library kernels against NumPy, element by element, in an interpreter: run with the text as argument."""
import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../testing"))
import ptx_interpreter  # noqa: E402

ENTRIES = ptx_interpreter.parse(open(sys.argv.pop(1)).read())
SPECIAL = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-40, 3.4e38, 1.00390625, 1.01171875, -1.01171875]


def to_bfloat16(x):
    """Round to nearest even; the bits of a quiet NaN stay quiet."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), (bits >> 16) | 0x40, rounded).astype(np.uint16)


def from_bfloat16(b):
    return (b.astype(np.uint32) << 16).view(np.float32)


def numbers(n, seed):
    x = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
    x[:len(SPECIAL)] = np.array(SPECIAL, np.float32)[:n]
    return x


def run(name, grid, arrays, scalars):
    return ptx_interpreter.run(ENTRIES[name], grid, arrays + scalars)


class LibraryKernelsTest(unittest.TestCase):
    def test_transpose(self):
        for rows, columns in ((1, 1), (5, 3), (32, 32), (33, 70), (72, 31)):
            x = numbers(rows * columns, rows)
            for source in ("f32", "bf16"):
                for result in ("f32", "bf16"):
                    data = x if source == "f32" else to_bfloat16(x)
                    exact = x if source == "f32" else from_bfloat16(data)
                    want = exact.reshape(rows, columns).T.reshape(-1)
                    want = want if result == "f32" else to_bfloat16(want)
                    out = np.zeros_like(want)
                    grid = -(-rows // 32) * -(-columns // 32)
                    got = run("td_transpose_%s_%s" % (source, result), grid, [data, out], [rows, columns])[1]
                    np.testing.assert_array_equal(got, want)

    def test_convert(self):
        for n in (1, 255, 256, 300):
            x = numbers(n, n)
            got = run("td_convert_f32_bf16", -(-n // 256), [x, np.zeros(n, np.uint16)], [n])[1]
            np.testing.assert_array_equal(got, to_bfloat16(x))
            got = run("td_convert_bf16_f32", -(-n // 256), [to_bfloat16(x), np.zeros(n, np.float32)], [n])[1]
            np.testing.assert_array_equal(got, from_bfloat16(to_bfloat16(x)))

    def test_combine_and_divide(self):
        for name, dtype in (("f32", np.float32), ("f64", np.float64), ("s32", np.int32), ("s64", np.int64)):
            n = 300
            if name[0] == "f":
                a, b = numbers(n, 1).astype(dtype), numbers(n, 2)[::-1].astype(dtype)
            else:
                limits = np.iinfo(dtype)
                rng = np.random.default_rng(3)
                a, b = (rng.integers(limits.min, limits.max, n, dtype=dtype) for _ in range(2))
            with np.errstate(all="ignore"):
                got = run("td_add_" + name, 2, [a, b], [n])
                np.testing.assert_array_equal(got[0], a + b)
                np.testing.assert_array_equal(got[1], b)
                got = run("td_max_" + name, 2, [a, b], [n])[0]
                np.testing.assert_array_equal(got, np.where((a > b) | (a != a), a, b))
                if name[0] == "f":
                    np.testing.assert_array_equal(run("td_divide_" + name, 2, [a], [3, n])[0], a / dtype(3))

    def test_matrix_addresses(self):
        for inner, outer in ((1, 1), (4, 3), (7, 100)):
            n = inner * outer
            grids = [(1 << 40, 64, 64 * inner), (3, 4096, 8), (1 << 47, 0, 1 << 33)]
            want = [[base + i % inner * step + i // inner * leap for i in range(n)] for base, step, leap in grids]
            got = run("td_matrix_addresses", -(-n // 256), [np.zeros(3 * n, np.uint64)],
                      [v for grid in grids for v in grid] + [inner, n])[0]
            np.testing.assert_array_equal(got, np.array(want, np.uint64).reshape(-1))

    def test_epilogues(self):
        for rows, columns in ((1, 1), (3, 8), (5, 21), (2, 130)):
            n, stride = rows * columns, -(-columns // 128) * 16
            for kind in ("f32", "bf16"):
                y = numbers(n, n) if kind == "f32" else to_bfloat16(numbers(n, n))
                exact = y if kind == "f32" else from_bfloat16(y)
                stored = (lambda v: v.astype(np.float32)) if kind == "f32" else (lambda v: to_bfloat16(v.astype(np.float32)))
                grid = -(-n // 256)
                bias = numbers(columns, 5)
                with np.errstate(all="ignore"):
                    want = (exact.reshape(rows, columns) + bias).reshape(-1)
                np.testing.assert_array_equal(run("td_add_bias_" + kind, grid, [y, bias], [columns, n])[0], stored(want))
                if kind == "f32":
                    y[n // 2] = np.nan
                positive = exact > 0
                want = stored(np.where(exact <= 0, np.float32(0), exact))
                np.testing.assert_array_equal(run("td_relu_" + kind, grid, [y], [n])[0], want)
                mask = np.zeros((rows, stride), np.uint8)
                bits = np.packbits(positive.reshape(rows, columns), axis=1, bitorder="little")
                mask[:, :bits.shape[1]] = bits
                mask = mask.reshape(-1)
                got = run("td_relu_mask_" + kind, -(-rows * bits.shape[1] // 256), [y, np.zeros_like(mask)],
                          [columns, stride, rows * bits.shape[1]])
                np.testing.assert_array_equal(got[0], want)
                np.testing.assert_array_equal(got[1], mask)
                other = numbers(n, 9)[::-1].copy()
                data = other if kind == "f32" else to_bfloat16(other)
                want = np.where(positive, data, data.dtype.type(0))
                np.testing.assert_array_equal(run("td_relu_grad_" + kind, grid, [data, mask], [columns, stride, n])[0], want)

    def test_gelu(self):
        """Against double precision, and a difference quotient."""
        def gelu(x):
            return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
        x = np.concatenate([np.linspace(-12, 12, 300), [0.0, 1e-6, -1e-6, 50.0, -50.0]]).astype(np.float32)
        n, wide = len(x), x.astype(np.float64)
        slope = (gelu(wide + 1e-6) - gelu(wide - 1e-6)) / 2e-6
        y = np.random.default_rng(4).standard_normal(n).astype(np.float32)
        np.testing.assert_allclose(run("td_gelu_f32", 2, [x], [n])[0], gelu(wide), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(run("td_gelu_grad_f32", 2, [y, x], [n])[0], y * slope, rtol=1e-5, atol=4e-6)
        narrow, scale = to_bfloat16(x), to_bfloat16(y)
        at, wanted = from_bfloat16(narrow).astype(np.float64), from_bfloat16(scale)
        got = from_bfloat16(run("td_gelu_bf16", 2, [narrow], [n])[0])
        np.testing.assert_allclose(got, gelu(at), rtol=2**-8, atol=1e-6)
        slope = (gelu(at + 1e-6) - gelu(at - 1e-6)) / 2e-6
        got = from_bfloat16(run("td_gelu_grad_bf16", 2, [scale, narrow], [n])[0])
        np.testing.assert_allclose(got, wanted * slope, rtol=2**-8, atol=4e-6)

    def test_column_sums(self):
        for rows, columns in ((1, 1), (0, 3), (7, 5), (40, 300)):
            x = np.random.default_rng(rows).standard_normal((rows, columns)).astype(np.float32)
            got = run("td_column_sums_f32", -(-columns // 256), [x.reshape(-1), np.ones(columns, np.float32)],
                      [rows, columns])[1]
            np.testing.assert_allclose(got, x.sum(axis=0, dtype=np.float64), rtol=1e-5, atol=1e-5)

    def test_no_entry_is_untested(self):
        kinds = {e.split("_")[1] for e in ENTRIES}
        self.assertEqual(kinds, {"transpose", "convert", "add", "max", "divide", "matrix", "relu", "gelu", "column"})
        self.assertEqual(len(ENTRIES), 30)


if __name__ == "__main__":
    unittest.main()

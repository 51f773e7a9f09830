"""The text of the library kernels against NumPy, element by element, in an interpreter: run with the text as argument."""
import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "testing"))
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

    def test_no_entry_is_untested(self):
        kinds = {e.split("_")[1] for e in ENTRIES}
        self.assertEqual(kinds, {"transpose", "convert", "add", "max", "divide", "matrix"})
        self.assertEqual(len(ENTRIES), 17)


if __name__ == "__main__":
    unittest.main()

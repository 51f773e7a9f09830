"""The text of the built-in kernels that look for infinities, sort, and add up rows against NumPy, in an interpreter."""
import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../testing"))
import ptx_interpreter  # noqa: E402

ENTRIES = ptx_interpreter.parse(open(sys.argv.pop(1)).read())
INDEX = {"s32": np.int32, "s64": np.int64}
NONE = 0xffffffff


def blocks(n):
    return -(-n // 256)


def sort(indices, kind):
    """The positions in order, as the host launches the kernels."""
    n = len(indices)
    order = ptx_interpreter.run(ENTRIES["td_sort_chunks_" + kind], blocks(n),
                                [indices, np.full(n, NONE, np.uint32), n])[1]
    run = 256
    while run < n:
        order = ptx_interpreter.run(ENTRIES["td_merge_runs_" + kind], blocks(n),
                                    [indices, order, np.full(n, NONE, np.uint32), n, run])[2]
        run *= 2
    return order


def all_indices(n, kind):
    """Many equal ones, negative ones, ones beyond the table, and for 64 bits some that differ in the upper half."""
    rng = np.random.default_rng(n)
    indices = rng.integers(-3, 12, n).astype(INDEX[kind])
    if kind == "s64":
        indices[rng.integers(0, n, n // 8)] += 1 << 32
    return indices


class FiniteTest(unittest.TestCase):
    # The type of the bits, and those of infinity.
    BITS = {"f32": (np.uint32, 0x7f800000), "f64": (np.uint64, 0x7ff << 52), "bf16": (np.uint16, 0x7f80)}

    def test_finds_an_infinity_in_any_place(self):
        for name, (bits, infinity) in self.BITS.items():
            for at in (None, 0, 255, 256, 299):
                data = np.random.default_rng(1).integers(0, infinity, 300).astype(bits)
                if at is not None:
                    data[at] |= bits(infinity)
                for grid in (1, 2):
                    flag = ptx_interpreter.run(ENTRIES["td_finite_" + name], grid, [data, 300, np.zeros(1, np.int32)])[1]
                    self.assertEqual(flag[0], at is not None, (name, at, grid))

    def test_a_block_looks_through_its_chunk(self):
        for name, (bits, infinity) in self.BITS.items():
            size = np.dtype(bits).itemsize
            # Of 700 elements chunks leave some out. In memory there is a gap of 64 bytes, the table, and the data.
            chunks = [(0, 300), (300, 1), (310, 256)]
            start = 64 + 16 * len(chunks)
            table = np.array([(start + first * size, count) for first, count in chunks], np.uint64)
            for at in (None, 0, 299, 300, 301, 309, 310, 565, 566, 699):
                data = np.random.default_rng(2).integers(0, infinity, 700).astype(bits)
                if at is not None:
                    data[at] |= bits(infinity)
                memory = np.frombuffer(table.tobytes() + data.tobytes(), np.uint8)
                flag = ptx_interpreter.run(ENTRIES["td_finite_chunks_" + name], len(chunks),
                                           [memory, np.zeros(1, np.int32)])[1]
                inside = at is not None and any(first <= at < first + count for first, count in chunks)
                self.assertEqual(flag[0], inside, (name, at))


class ScatterTest(unittest.TestCase):
    def test_sorting_is_stable(self):
        for kind in INDEX:
            for n in (1, 257, 600):
                indices = all_indices(n, kind)
                np.testing.assert_array_equal(sort(indices, kind), np.argsort(indices, kind="stable"))

    def test_sums_are_in_the_order_of_positions(self):
        rows, n = 10, 140
        for kind in INDEX:
            indices = all_indices(n, kind)
            order = np.argsort(indices, kind="stable").astype(np.uint32)
            for name, dtype in (("f32", np.float32), ("f64", np.float64)):
                width = 33
                updates = (np.random.default_rng(1).standard_normal((n, width)) * 1e3).astype(dtype)
                want = np.zeros((rows, width), dtype)
                for p in range(n):
                    if 0 <= indices[p] < rows:
                        want[indices[p]] += updates[p]
                column_blocks = -(-width // 32)
                items = rows * column_blocks
                entry = ENTRIES["td_scatter_sorted_%s_%s" % (name, kind)]
                # A grid that covers all items, and one of fewer threads, which loop.
                for grid in (blocks(items * 32), 1):
                    for guard in (0, 1):
                        table = np.full(rows * width, 7, dtype)
                        got = ptx_interpreter.run(
                            entry, grid, [updates.reshape(-1), indices, order, n, width, items, table,
                                          column_blocks, np.array([guard], np.int32)])[3]
                        np.testing.assert_array_equal(got, table if guard else want.reshape(-1))


if __name__ == "__main__":
    unittest.main()

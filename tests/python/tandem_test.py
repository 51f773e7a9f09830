"""The Python package, over a library with the functions of tandem_c.h. Where NumPy (python3-numpy) is not installed, the
cases are skipped."""
import os
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path[:0] = [os.path.abspath("tests/support"), os.path.abspath("frontends/python")]
import xunit  # noqa: E402

os.environ.setdefault("TANDEM_LIBRARY", os.path.abspath("tools/install/libtandem_rt.so.0.1"))
try:
    import numpy as np
    import tandem  # it looks for the library when it is imported
except ModuleNotFoundError:
    np = None


def make_model():
    global model_dir
    model_dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
    subprocess.run([os.path.abspath("tests/python/make_model"), model_dir], check=True,
                   stderr=subprocess.DEVNULL)


def inputs(rows):
    x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2) / 10
    return {"x": x, "id": np.arange(rows, dtype=np.int32) % 7}


class ModelTest(unittest.TestCase):

    def setUp(self):
        self.model = tandem.load(os.path.join(model_dir, "exports"))

    def expect_error(self, code, text, arrays):
        with self.assertRaises(tandem.TandemError) as caught:
            self.model.predict(arrays)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(text, caught.exception.message)

    def test_says_what_it_takes_and_gives(self):
        self.assertEqual(self.model.inputs["x"], ("x", np.dtype(np.float32), (None, 2)))
        self.assertEqual(self.model.inputs["id"], ("id", np.dtype(np.int32), (None,)))
        self.assertEqual(self.model.outputs["y"].shape, (None, 1))
        self.assertEqual(self.model.outputs["positive"].dtype, np.bool_)
        self.assertEqual(self.model.global_step, 4)
        self.assertEqual(list(self.model.metrics), ["loss"])
        self.assertTrue(self.model.path.startswith(os.path.join(model_dir, "exports")))

    def test_predicts_what_the_weights_say(self):
        checkpoint = tandem.checkpoint(model_dir)
        kernel, bias = checkpoint["dense/kernel"], checkpoint["dense/bias"]
        table = checkpoint[[name for name in checkpoint.variables if name.startswith("embedding")][0]]
        for rows in (0, 1, 5, 100):
            given = inputs(rows)
            outputs = self.model.predict(given)
            expected = np.concatenate([given["x"], table[given["id"]]], 1) @ kernel + bias
            np.testing.assert_allclose(outputs["y"], expected, rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(outputs["positive"], outputs["y"] > 0)

    def test_arrays_in_any_order_of_memory(self):
        given = inputs(6)
        expected = self.model.predict(given)["y"]
        np.testing.assert_array_equal(self.model.predict(dict(given, x=np.asfortranarray(given["x"])))["y"], expected)
        wide = np.zeros((6, 4), np.float32)
        wide[:, ::2] = given["x"]
        np.testing.assert_array_equal(self.model.predict(dict(given, x=wide[:, ::2]))["y"], expected)
        np.testing.assert_array_equal(self.model.predict(dict(given, x=given["x"].tolist()))["y"], expected)

    def test_a_row_does_not_depend_on_the_others(self):
        all_rows = self.model.predict(inputs(100))["y"]
        for rows in range(1, 100, 7):
            np.testing.assert_array_equal(self.model.predict(inputs(rows))["y"], all_rows[:rows])

    def test_several_threads(self):
        expected, failures = self.model.predict(inputs(50))["y"], []

        def call(rows):
            for _ in range(30):
                if not np.array_equal(self.model.predict(inputs(rows))["y"], expected[:rows]):
                    failures.append(rows)

        threads = [threading.Thread(target=call, args=(rows,)) for rows in (1, 7, 32, 50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_errors(self):
        given = inputs(3)
        self.expect_error("INVALID_ARGUMENT", "float64", dict(given, x=given["x"].astype(np.float64)))
        self.expect_error("INVALID_ARGUMENT", "float16", dict(given, x=given["x"].astype(np.float16)))
        self.expect_error("INVALID_ARGUMENT", "float32[3,1]", dict(given, x=given["x"][:, :1]))
        self.expect_error("INVALID_ARGUMENT", "no input \"id\"", {"x": given["x"]})
        self.expect_error("INVALID_ARGUMENT", "\"z\"", dict(given, z=given["x"]))
        self.expect_error("INVALID_ARGUMENT", "give a dict", given["x"])
        self.expect_error("INVALID_ARGUMENT", "\"x\"", dict(given, x="text"))
        self.expect_error("OUT_OF_RANGE", "7", dict(given, id=np.full(3, 7, np.int32)))
        with self.assertRaises(tandem.TandemError) as caught:
            tandem.load("/no/such/path")
        self.assertEqual((caught.exception.code, caught.exception.exit_code), ("NOT_FOUND", 66))
        with self.assertRaises(tandem.TandemError):
            tandem.load(os.path.join(model_dir, "exports"), threads=-1)


class FilesTest(unittest.TestCase):

    def test_checkpoints(self):
        checkpoint = tandem.checkpoint(model_dir)
        self.assertEqual(checkpoint.global_step, 4)
        self.assertIn("dense/kernel", checkpoint)
        self.assertEqual(checkpoint.shapes["dense/kernel"], (5, 1))
        self.assertEqual(checkpoint.dtypes["dense/kernel"], np.float32)
        self.assertIn("dense/kernel/Adam", " ".join(checkpoint.slots))
        self.assertEqual(len(dict(checkpoint)), len(checkpoint))
        with self.assertRaises(KeyError):
            checkpoint["absent"]

    def test_curves(self):
        curve = tandem.curves(model_dir)[("eval", "loss")]
        np.testing.assert_array_equal(curve.steps, [4])
        self.assertTrue(np.isfinite(curve.values).all())
        with self.assertRaises(tandem.TandemError):
            tandem.curves("/no/such/path")

    def test_a_library_without_tools(self):
        with self.assertRaises(tandem.TandemError) as caught:
            tandem.run_tool("dump", ["x"])
        self.assertEqual(caught.exception.code, "UNIMPLEMENTED")
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
        done = subprocess.run([sys.executable, "-m", "tandem", "dump"], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no tools", done.stderr)

    def test_a_library_that_is_not_there(self):
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), TANDEM_LIBRARY="/no/such/library.so")
        done = subprocess.run([sys.executable, "-c", "import tandem"], env=environment, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("TANDEM_LIBRARY", done.stderr)


def run_test(test):
    result = unittest.TestResult()
    test.run(result)
    for _, text in result.errors + result.failures:
        raise AssertionError(text)


def need_numpy():
    raise xunit.Skipped("NumPy is not installed")


def main():
    if np is None:
        return xunit.run("python", [("numpy", need_numpy)])
    make_model()
    tests = [test for suite in unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]) for test in suite]
    return xunit.run("python", [(test.id().split(".")[-1], lambda test=test: run_test(test)) for test in tests])


if __name__ == "__main__":
    main()

"""StableHLO of all models: what it computes by the ops' specification (evaluate.py), compared with Tandem's predictions.
against_jax.py, which needs other packages, compares with JAX."""
import os
import sys

for folder in ("tests/support", "tests/exported_models", "tests/stablehlo"):
    sys.path.insert(0, os.path.abspath(folder))
import evaluate  # noqa: E402
import exported  # noqa: E402
import special_steps  # noqa: E402
import stablehlo_text  # noqa: E402
import xunit  # noqa: E402

FOLDER = os.environ["TEST_TMPDIR"]
exports = {}


def export(name):
    if name not in exports:
        exports[name] = exported.export(FOLDER, name)
    return exports[name]


def translated(name, *flags):
    return exported.translated("tandem-stablehlo", export(name), "model%d.mlir" % len(flags), *flags)


def compare(name, rows, *flags):
    path = translated(name, f"--rows={rows}", *flags)
    module = stablehlo_text.Module(stablehlo_text.read(path))
    weights = {}
    if "--constants" not in flags:
        weights, order = stablehlo_text.weights(path + ".safetensors")
        assert order == module.variables and set(order) == set(weights), (order, module.variables)
    inputs = exported.random_inputs(export(name), rows)
    assert list(inputs) == module.inputs, (list(inputs), module.inputs)
    exported.largest_error(exported.predictions(export(name), inputs), evaluate.evaluate(module, inputs, weights))


def special(name, step, inputs, expected):
    module = stablehlo_text.Module(special_steps.translated(step, len(inputs[0]), FOLDER))
    results = evaluate.evaluate(module, dict(zip(module.inputs, inputs)), {})
    special_steps.check(name, results["y"], expected)


def weights_may_be_constants():
    for name in ("zalando", "sequences", "elementwise"):
        compare(name, 2, "--constants")


def large_weights_stay_arguments():
    try:
        translated("keras_resnet50", "--constants")
    except AssertionError as error:
        assert "leave it out, so that they are arguments" in str(error), error
    else:
        raise AssertionError("weights of 90 MB became a text")


CASES = [("computes_what_" + name + "_does", lambda name=name: compare(name, 3)) for name in exported.names()]
CASES += [("special_" + case[0], lambda case=case: special(*case)) for case in special_steps.CASES]
CASES += [(case.__name__, case) for case in (weights_may_be_constants, large_weights_stay_arguments)]
xunit.run("stablehlo", CASES)

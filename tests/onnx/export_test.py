"""ONNX files of all models: their structure, and what they compute by ONNX's specification (evaluate.py), compared with
Tandem's predictions. against_onnxruntime.py, which needs other packages, compares with ONNX Runtime."""
import os
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tests/exported_models"))
sys.path.insert(0, os.path.abspath("tests/onnx"))
import evaluate  # noqa: E402
import exported  # noqa: E402
import onnx_file  # noqa: E402
import xunit  # noqa: E402

FOLDER = os.environ["TEST_TMPDIR"]
exports = {}


def export(name):
    if name not in exports:
        exports[name] = exported.export(FOLDER, name)
    return exports[name]


def converted(name, *flags):
    """The path of a model's ONNX file, and its content, checked."""
    path = exported.translated("tandem-onnx", export(name), "model%d.onnx" % len(flags), *flags)
    model = onnx_file.Model(path)
    model.check()
    return path, model


def compare(name, *flags):
    _, model = converted(name, *flags)
    for rows in (1, 3):  # the same file for any number of rows
        inputs = exported.random_inputs(export(name), rows)
        exported.largest_error(exported.predictions(export(name), inputs), evaluate.evaluate(model, inputs))


def images_are_transposed_once():
    for name in ("zalando", "multi_gpu", "vgg16", "resnet50", "small_pictures"):
        _, model = converted(name)
        behind = [n.name for n in model.ops("Transpose")]
        assert len(behind) <= 1, (name, behind)
    _, model = converted("resnet50")
    assert len(model.ops("Conv")) == len(model.ops("BatchNormalization")) == 53
    assert not model.ops("Sub", "Mul"), "a batch norm is not one op"


def batch_norms_are_folded():
    compare("resnet50", "--fold_batch_norm")
    _, model = converted("resnet50", "--fold_batch_norm")
    assert len(model.ops("Conv")) == 53 and not model.ops("BatchNormalization")
    compare("images", "--fold_batch_norm")


def layers_are_their_ops():
    _, model = converted("transformer")
    assert len(model.ops("LayerNormalization")) == 4 and len(model.ops("Softmax")) == 2
    assert not model.ops("Expand", "Where")
    _, model = converted("mlp")
    assert [n.op for n in model.nodes] == ["Gemm", "Relu"] * 3 + ["Gemm"]


def weights_may_lie_in_a_second_file():
    path, inside = converted("mlp")
    other, model = converted("mlp", "--external_data", "--fold_batch_norm")
    assert os.path.getsize(other) < 20_000 < os.path.getsize(path)
    for name, value in inside.constants.items():
        assert (model.constants[name] == value).all(), name


def onnx_finds_no_fault():
    try:
        import onnx
    except ImportError:
        raise xunit.Skipped("the package onnx is not importable")
    for name in exported.names():
        path, _ = converted(name)
        onnx.checker.check_model(onnx.load(path), full_check=True)
    path, _ = converted("mlp", "--external_data", "--fold_batch_norm")
    onnx.checker.check_model(path, full_check=True)


CASES = [("computes_what_" + name + "_does", lambda name=name: compare(name)) for name in exported.names()]
CASES += [(case.__name__, case) for case in (images_are_transposed_once, batch_norms_are_folded, layers_are_their_ops,
                                             weights_may_lie_in_a_second_file, onnx_finds_no_fault)]
xunit.run("onnx", CASES)

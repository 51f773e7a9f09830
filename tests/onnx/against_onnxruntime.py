#!/usr/bin/env python3
"""against_onnxruntime.py [--full] [NAME...]: exports models, checks the ONNX files with onnx.checker, runs them with
ONNX Runtime, and prints how far its outputs are from Tandem's, relative to the largest number of each output. Needs the
packages onnx, onnxruntime and numpy, so that it is run by hand (docs/developers/testing.md)."""
import collections
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../exported_models"))
import exported  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402

exported.ROOT = "bazel-bin"


def error(path, folder, rows):
    inputs = exported.random_inputs(folder, rows)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    outputs = [output.name for output in session.get_outputs()]
    return exported.largest_error(exported.predictions(folder, inputs),
                                  dict(zip(outputs, session.run(outputs, inputs))))


def compare(name, full):
    with tempfile.TemporaryDirectory() as base:
        folder = exported.export(base, name, full)
        for flags in ([], ["--fold_batch_norm"], ["--external_data"]):
            path = exported.translated("tandem-onnx", folder, "model.onnx", *flags)
            onnx.checker.check_model(path, full_check=True)
            worst = max(error(path, folder, rows) for rows in (1, 3))
            nodes = onnx.load(path, load_external_data=False).graph.node
            ops = collections.Counter(node.op_type for node in nodes)
            counts = f"{sum(ops.values())} | {ops['Transpose']}"
            print(f"| {name} | {' '.join(flags)} | {counts} | {worst:.1e} |", flush=True)


def main(arguments):
    full = "--full" in arguments
    names = [a for a in arguments if a != "--full"] or exported.names()
    print(f"onnx {onnx.__version__}, ONNX Runtime {onnxruntime.__version__}")
    print("| model | flags | nodes | of them Transpose | largest difference |\n|---|---|---|---|---|")
    for name in names:
        compare(name, full)


main(sys.argv[1:])

#!/usr/bin/env python3
"""against_jax.py [--full] [--interpreter] [--tpu=TOPOLOGY] [NAME...]: exports models, runs their StableHLO with JAX on a
CPU, and prints how far its outputs are from Tandem's, relative to the largest number of each output. Without names it
also runs small steps of td ops with numbers that are special: NaN, equal ones, indices out of range. --interpreter: by
StableHLO's own interpreter, for small models. --tpu=v5e:2x2: compiles for a TPU too, with the package libtpu. Needs the
package jax, so that it is run by hand (docs/developers/testing.md)."""
import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../exported_models")]
import exported  # noqa: E402
import jax_readers  # noqa: E402
import special_steps  # noqa: E402
import stablehlo_text  # noqa: E402

exported.ROOT = "bazel-bin"


def error(run, path, folder, rows):
    text = stablehlo_text.read(path)
    module, weights = stablehlo_text.Module(text), stablehlo_text.weights(path + ".safetensors")[0]
    inputs = exported.random_inputs(folder, rows)
    results = run(text, [inputs[name] for name in module.inputs] + [weights[name] for name in module.variables])
    results = [value.reshape(shape).astype(dtype) for value, (dtype, shape) in zip(results, module.result_types)]
    return len(module.ops), exported.largest_error(exported.predictions(folder, inputs),
                                                   dict(zip(module.outputs, results)))


def compare(run, name, full, topology):
    with tempfile.TemporaryDirectory() as base:
        folder = exported.export(base, name, full)
        for rows in (1, 3):
            path = exported.translated("tandem-stablehlo", folder, "model.mlir", f"--rows={rows}")
            if topology:
                jax_readers.compile_for_tpu(stablehlo_text.read(path), topology)
            ops, worst = error(run, path, folder, rows)
            print(f"| {name} | {rows} | {ops} | {worst:.1e} |", flush=True)


def special(run, name, step, inputs, expected):
    with tempfile.TemporaryDirectory() as folder:
        text = special_steps.translated(step, len(inputs[0]), folder)
    special_steps.check(name, run(text, inputs)[0].reshape(expected.shape), expected)
    print(f"{name}: as it should be", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--interpreter", action="store_true")
    parser.add_argument("--tpu", default="")
    parser.add_argument("names", nargs="*")
    flags = parser.parse_args()
    run = jax_readers.by_interpreter if flags.interpreter else jax_readers.by_xla
    print(f"jax {jax_readers.jax.__version__}")
    for case in [] if flags.names else special_steps.CASES:
        special(run, *case)
    print("| model | rows | ops | largest difference |\n|---|---|---|---|")
    for name in flags.names or exported.names():
        compare(run, name, flags.full, flags.tpu)


main()

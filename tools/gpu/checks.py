"""Checks of Tandem on the devices of this machine, through the fashion_mnist sample: parity, determinism, precision.

Runs where bundle unpacked its files, or in a test, where `--device=cpu:0` stands for the GPU. Bars: losses of 60 steps
in float32 within 1e-3 of the references and of the CPU; three runs end in the same bytes; the accuracies of bfloat16 and
of TensorFloat-32 within half a point of float32's.
"""
import argparse
import json
import os
import sys

sys.path[:0] = [os.path.abspath("tests/support"), os.path.abspath("tests/parity")]
import curves  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

CHECKS = ("parity", "determinism", "bfloat16", "tf32")
HALF_A_POINT = 0.005
FILES = ("variables.safetensors", "slots.safetensors", "state.json")


def parity(args, name):
    """Against the reference and against this machine's CPU."""
    losses, evaluation = curves.train(name, [args.device], *args.sample_flags)
    curves.check_losses(name, f"{args.device} and the reference", losses, curves.reference(name)["losses"], floor=1e-3)
    curves.check_evaluation(name, evaluation)
    cpu, _ = curves.train(name, ["cpu:0", "cpu:1"], *args.sample_flags)
    curves.check_losses(name, f"{args.device} and two CPU devices", losses, cpu, floor=1e-3)


def determinism(args):
    """Three runs of S0's convnet, shuffled, end in the same bytes."""
    runs = []
    for number in range(3):
        directory = sample.fresh_dir(f"same_bits_{number}")
        sample.run(f"--devices={args.device}", f"--max_steps={args.steps}", f"--model_dir={directory}",
                   "--eval_examples=train:64", *args.sample_flags)
        contents = []
        for name in FILES:
            with open(os.path.join(directory, f"model.ckpt-{args.steps}", name), "rb") as f:
                contents.append(f.read())
        runs.append(contents)
    assert all(len(c) > 20 for c in runs[0]), "an empty checkpoint"
    for number, contents in enumerate(runs):
        for name, first, here in zip(FILES, runs[0], contents):
            assert first == here, f"run {number}: {name} differs from that of run 0"


ACCURACIES = {}


def accuracy(args, precision, *flags):
    """After some epochs of S0's convnet, over the whole test set; what two checks ask for is trained once."""
    key = (precision, *flags)
    if key not in ACCURACIES:
        directory = sample.fresh_dir("accuracy_" + "_".join(key).replace("--", ""))
        path = os.path.join(directory, "eval.json")
        sample.run(f"--devices={args.device}", f"--epochs={args.epochs}", "--learning_rate_schedule=cosine",
                   f"--precision={precision}", *flags, f"--model_dir={directory}/model", f"--eval_json={path}",
                   *args.sample_flags)
        with open(path) as f:
            ACCURACIES[key] = json.load(f)["accuracy"]
    return ACCURACIES[key]


def within_half_a_point(args, name, *key):
    single, rounded = accuracy(args, "strict_float32"), accuracy(args, *key)
    print(f"accuracy after {args.epochs} epochs: float32 {single:.4f}, {name} {rounded:.4f}")
    assert single > 0.6, f"float32 did not learn: accuracy {single}"
    assert rounded >= single - HALF_A_POINT, f"{name} {rounded} is more than half a point below float32 {single}"


def bfloat16(args):
    within_half_a_point(args, "mixed bfloat16", "mixed_bfloat16")


def tf32(args):
    """On a CPU the flag says nothing."""
    within_half_a_point(args, "TensorFloat-32", "float32", "--tf32")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="gpu:0")
    parser.add_argument("--data_dir", default="", help="Fashion-MNIST; empty: the sample's default")
    parser.add_argument("--steps", type=int, default=200, help="of each of the runs that must end in the same bytes")
    parser.add_argument("--epochs", type=int, default=5, help="of the comparison of precisions")
    parser.add_argument("--curves", default=",".join(curves.CURVES), help="references to check, by commas")
    parser.add_argument("--only", default=",".join(CHECKS), help="checks, by commas: " + ", ".join(CHECKS))
    args = parser.parse_args()
    unknown = set(args.curves.split(",")) - set(curves.CURVES)
    if unknown:
        parser.error(f"--curves: no reference called {', '.join(sorted(unknown))}")
    args.sample_flags = [f"--data_dir={args.data_dir}"] if args.data_dir else []
    cases = [(f"parity_{n}", lambda n=n: parity(args, n)) for n in args.curves.split(",")]
    cases += [("determinism", lambda: determinism(args)), ("bfloat16", lambda: bfloat16(args)), ("tf32", lambda: tf32(args))]
    xunit.run("checks", [(name, case) for name, case in cases if name.split("_")[0] in args.only.split(",")])


main()

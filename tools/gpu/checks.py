"""Checks of Tandem on the devices of this machine, through the fashion_mnist sample: parity, gradients, determinism,
precision.

Runs where bundle unpacked its files, or in a test, where `--device=cpu:0` stands for the GPU. Bars: losses of 60 steps
in float32 within 1e-3 of the references and of the CPU, and so the losses of every benchmark model's first steps; the
gradients of a step within 1e-4 of the CPU's; three runs end in the same bytes; the accuracies of bfloat16 and of
TensorFloat-32, means of --seeds trainings, at most 1.5 points below float32's. Two trainings of the bundle's 6000
images differ by half a point to a point by chance: the means of three by 0.3 to 0.6, which a bar of 1.5 leaves room for.

Where max pooling meets equal numbers (an image's black border behind a convolution), rounding decides which of them gets
the gradient, and algorithms that round differently from place to place decide differently: a GPU's, and Winograd's on a
CPU. Then gradients of the layers in front of the pooling are some thousandths apart, and losses more from step to step.
"""
import argparse
import array
import json
import math
import os
import struct
import subprocess
import sys

sys.path[:0] = [os.path.abspath("tests/support"), os.path.abspath("tests/parity")]
import curves  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

CHECKS = ("parity", "gradients", "models", "determinism", "bfloat16", "tf32")
MOST_LOST = 0.015  # of the accuracy, by rounding operands
MOST_APART = 1e-3  # relative, of losses in float32; of small ones to LEAST_LOSS
LEAST_LOSS = 0.1
# Benchmark models, as small as they come: no speed is measured here.
MODELS = {
    "s0": ["--batch=64"],
    "s2": ["--batch=16"],
    "s4": ["--batch=16"],
    "mlp": ["--batch=32"],
    "transformer": ["--batch=8"],
    "vgg16": ["--batch=8", "--image_size=64"],
    "resnet50": ["--batch=8", "--image_size=64"],
}
# Batch norms of few values make of a difference in the last bit six hundred times as much in two steps: on a CPU, losses
# by Winograd and by the direct algorithm are 3e-6 apart in the first step, 2e-3 in the third, and 2e-2 in the fourth.
# Two steps of these are compared, and the second less closely.
NORMALIZED = ("s2", "resnet50")
MOST_APART_NORMALIZED = 2e-2
# Models whose first two losses in mixed bfloat16 are compared with the CPU's in float32: how far the first may be apart,
# and the second. A rounded operand is off by up to 1/512, and a mean over a batch by less by far: on a CPU the losses are
# 2e-5 and 8e-5 apart (s0), 7e-5 and 1.4e-4 (transformer), 5e-3 and 3.4e-2 (resnet50, whose batch norms of few values make
# more of it). A kernel that is wrong is off by more than these bars, which leave room for another order of sums.
ROUNDED = {"s0": (1e-3, 2e-3), "transformer": (1e-3, 2e-3), "resnet50": (2e-2, 1e-1)}
# Curves with ties in max pooling: steps that are compared as closely as others, and how far the rest may be apart.
TIED = {"zalando_adam": 5, "zalando_momentum": 12}
MOST_APART_TIED = 0.05
# Model -> the layers behind the last max pooling, besides the dense ones. The gradients of all others depend on ties.
GRADIENTS = {"mnist": ("conv2d",), "zalando": ("conv2d_2",), "multi_gpu": ()}
MOST_APART_GRADIENT, MOST_APART_TIED_GRADIENT = 1e-4, 5e-3
FILES = ("variables.safetensors", "slots.safetensors", "state.json")


def parity(args, name):
    """Against the reference and against this machine's CPU."""
    losses, evaluation = curves.train(name, [args.device], *args.sample_flags)
    wanted = curves.reference(name)["losses"]
    if args.device.startswith("gpu") and name in TIED:
        check_tied(name, losses, wanted)
        return
    curves.check_losses(name, f"{args.device} and the reference", losses, wanted, floor=1e-3)
    curves.check_evaluation(name, evaluation)
    # Batch norms take the statistics of a device's own rows: as many devices then.
    cpus = ["cpu:0"] if name == "multi_gpu_sgd" else ["cpu:0", "cpu:1"]
    cpu, _ = curves.train(name, cpus, *args.sample_flags)
    curves.check_losses(name, f"{args.device} and {' and '.join(cpus)}", losses, cpu, floor=1e-3)


def check_tied(name, losses, wanted):
    apart = [abs(loss - w) / w for loss, w in zip(losses, wanted)]
    first = TIED[name]
    print(f"{name}: {first} steps at most {max(apart[:first]):.2g} apart, all {len(apart)} at most {max(apart):.2g}")
    assert len(losses) == len(wanted) and max(apart[:first]) <= MOST_APART and max(apart) <= MOST_APART_TIED, apart


def gradients_of(args, model, device, initial):
    """Variable -> what one step of gradient descent with rate 1 took off it."""
    name = f"{model}_{device}_{'from' if initial else 'zero'}".replace(":", "")
    directory = sample.fresh_dir("gradients_" + name)
    start = [f"--init_from={initial}", "--learning_rate=1"] if initial else ["--learning_rate=1e-30"]
    sample.run(f"--model={model}", f"--devices={device}", "--optimizer=sgd", "--max_steps=1", "--shuffle_buffer=0",
               "--dropout=0", "--precision=strict_float32", "--eval_examples=train:64", f"--model_dir={directory}",
               *start, *args.sample_flags)
    return os.path.join(directory, "model.ckpt-1", "variables.safetensors")


def floats_of(path):
    """Tensor -> its numbers, of a safetensors file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    found = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            found[name] = array.array("f", data[slice(*entry["data_offsets"])])
    return found


def gradients(args, model):
    """Of the first batch, against this machine's CPU: |difference| / |gradient| of every variable."""
    initial = gradients_of(args, model, "cpu:0", "")
    before, here, cpu = (floats_of(path) for path in (initial, gradients_of(args, model, args.device, initial),
                                                      gradients_of(args, model, "cpu:0", initial)))
    worst = {True: 0.0, False: 0.0}
    for name, values in before.items():
        if "moving_" in name:
            continue
        wanted = math.sqrt(sum((w - v) ** 2 for v, w in zip(values, cpu[name])))
        apart = math.sqrt(sum((g - w) ** 2 for g, w in zip(here[name], cpu[name])))
        assert wanted > 0, f"{model}: {name} has no gradient"
        layer = name.split("/")[0]
        exact = layer.startswith("dense") or layer in GRADIENTS[model]
        worst[exact] = max(worst[exact], apart / wanted)
        assert apart / wanted <= (MOST_APART_GRADIENT if exact else MOST_APART_TIED_GRADIENT), (name, apart / wanted)
    print(f"{model}, {args.device} and cpu:0: gradients at most {worst[True]:.2g} apart, {worst[False]:.2g} in front of "
          "a max pooling")


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


def losses_of(model, device, steps, precision="strict_float32"):
    """Of the first two steps of model_bench, and of `steps` more."""
    command = [os.path.abspath("benchmarks/model_bench"), "--worker", f"--model={model}", f"--devices={device}",
               f"--precision={precision}", "--deadline_secs=30", *MODELS[model]]
    run = subprocess.run(command, input="run 1\n" * steps + "quit\n", capture_output=True, text=True, timeout=200)
    if run.returncode != 0:
        raise AssertionError(f"{' '.join(command)} exits with {run.returncode}: {run.stderr[-2000:]}")
    said = [json.loads(line) for line in run.stdout.splitlines() if line.startswith('{"')]
    ready = next(m for m in said if m["event"] == "ready")
    return [ready["first_loss"], ready["second_loss"], *(m["loss"] for m in said if m["event"] == "ran")]


def computes_bfloat16(device):
    if device.startswith("gpu"):
        return True
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return "avx512f" in file.read()


def check_apart(title, got, wanted, most=MOST_APART, first=MOST_APART):
    """Step by step. Losses of random data: what is not finite, or does not move, compares nothing."""
    assert len(got) == len(wanted) > 1, f"{title}: {len(got)} and {len(wanted)} losses"
    assert all(math.isfinite(loss) for loss in wanted) and wanted[0] != wanted[-1], f"{title}: losses {wanted}"
    apart = [abs(a - b) / max(abs(b), LEAST_LOSS) if math.isfinite(a) else math.inf for a, b in zip(got, wanted)]
    print(f"{title}: {wanted[0]:.6f} -> {wanted[-1]:.6f}, at most {max(apart):.2g} apart")
    assert apart[0] <= first and max(apart) <= most, f"{title}: {got}, wanted {wanted}"


def models(args, name):
    """The same program for the GPU and for this machine's CPU."""
    normalized = name in NORMALIZED
    steps = 0 if normalized else args.model_steps - 1
    got, wanted = (losses_of(name, device, steps) for device in (args.device, "cpu:0"))
    check_apart(f"{name}, {args.device} and cpu:0", got, wanted, MOST_APART_NORMALIZED if normalized else MOST_APART)
    if name in ROUNDED and computes_bfloat16(args.device):
        got = losses_of(name, args.device, 0, "mixed_bfloat16")
        first, most = ROUNDED[name]
        check_apart(f"{name} in bfloat16, {args.device} and cpu:0 in float32", got, wanted[:2], most, first)


ACCURACIES = {}


def accuracy(args, precision, *flags):
    """Mean of --seeds trainings, some epochs of S0's convnet, over the whole test set. What two checks ask for is trained
    once."""
    key = (precision, *flags)
    if key not in ACCURACIES:
        found = []
        for seed in range(args.seeds):
            directory = sample.fresh_dir("_".join(["accuracy", *key, str(seed)]).replace("--", ""))
            path = os.path.join(directory, "eval.json")
            sample.run(f"--devices={args.device}", f"--epochs={args.epochs}", "--learning_rate_schedule=cosine",
                       f"--precision={precision}", *flags, f"--seed={seed}", f"--model_dir={directory}/model",
                       f"--eval_json={path}", *args.sample_flags)
            with open(path) as f:
                found.append(json.load(f)["accuracy"])
        ACCURACIES[key] = sum(found) / len(found)
    return ACCURACIES[key]


def check_accuracy(name, single, rounded):
    assert single > 0.6, f"float32 did not learn: accuracy {single}"
    assert rounded >= single - MOST_LOST, f"{name} {rounded} is more than {100 * MOST_LOST} points below float32 {single}"


def near_float32(args, name, *key):
    single, rounded = accuracy(args, "strict_float32"), accuracy(args, *key)
    print(f"accuracy after {args.epochs} epochs, mean of {args.seeds}: float32 {single:.4f}, {name} {rounded:.4f}")
    check_accuracy(name, single, rounded)


def bfloat16(args):
    near_float32(args, "mixed bfloat16", "mixed_bfloat16")


def tf32(args):
    """On a CPU the flag says nothing."""
    near_float32(args, "TensorFloat-32", "float32", "--tf32")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="gpu:0")
    parser.add_argument("--data_dir", default="", help="Fashion-MNIST; empty: the sample's default")
    parser.add_argument("--steps", type=int, default=200, help="of each of the runs that must end in the same bytes")
    parser.add_argument("--epochs", type=int, default=5, help="of the comparison of precisions")
    parser.add_argument("--seeds", type=int, default=3, help="trainings of each precision")
    parser.add_argument("--gradients", default=",".join(GRADIENTS), help="models to compare them of, by commas")
    parser.add_argument("--models", default=",".join(MODELS), help="to compare with the CPU, by commas")
    parser.add_argument("--model_steps", type=int, default=5, help="of each of them")
    parser.add_argument("--curves", default=",".join(curves.CURVES), help="references to check, by commas")
    parser.add_argument("--only", default=",".join(CHECKS), help="checks, by commas: " + ", ".join(CHECKS))
    args = parser.parse_args()
    if unknown := set(args.curves.split(",")) - set(curves.CURVES):
        parser.error(f"--curves: no reference called {', '.join(sorted(unknown))}")
    if unknown := set(args.gradients.split(",")) - set(GRADIENTS):
        parser.error(f"--gradients: {', '.join(sorted(unknown))} is none of {', '.join(GRADIENTS)}")
    if unknown := set(args.models.split(",")) - set(MODELS):
        parser.error(f"--models: {', '.join(sorted(unknown))} is none of {', '.join(MODELS)}")
    args.sample_flags = [f"--data_dir={args.data_dir}"] if args.data_dir else []
    cases = [(f"parity_{n}", lambda n=n: parity(args, n)) for n in args.curves.split(",")]
    cases += [(f"gradients_{n}", lambda n=n: gradients(args, n)) for n in args.gradients.split(",")]
    cases += [(f"models_{n}", lambda n=n: models(args, n)) for n in args.models.split(",")]
    cases += [("determinism", lambda: determinism(args)), ("bfloat16", lambda: bfloat16(args)), ("tf32", lambda: tf32(args))]
    xunit.run("checks", [(name, case) for name, case in cases if name.split("_")[0] in args.only.split(",")])


if __name__ == "__main__":
    main()

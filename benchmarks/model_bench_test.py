"""benchmarks/model_bench trains every model for some steps, and speaks the line protocol of benchmarks/peers."""
import json
import math
import os
import re
import subprocess
import sys

sys.path[:0] = [os.path.abspath("tests/support"), os.path.abspath("benchmarks/peers")]
import models  # noqa: E402
import xunit  # noqa: E402

BINARY = os.path.abspath("benchmarks/model_bench")
# Trainable and other variables, counted by hand; without the optimizer's slots.
PARAMETERS = {
    "s0": 93_322,
    "s2": 2_353_738 + 512,
    "s4": 347_146,
    "linear": 2,
    "mlp": 785 * 1024 + 2 * 1025 * 1024 + 1025 * 10,
    "transformer": 8192 * 256 + 2 * (4 * 257 * 256 + 4 * 256 + 257 * 1024 + 1025 * 256) + 2570,
    "vgg16": 14_714_688 + 512 * 4 + 4,
    "resnet50": 25_557_032 + 2 * 26_560,
}
# Keras' ResNet-50 has biases in its convolutions.
KERAS_PARAMETERS = {
    "keras_vgg16": PARAMETERS["vgg16"],
    "keras_resnet50": PARAMETERS["resnet50"] + 26_560,
}
ALL_PARAMETERS = {**PARAMETERS, **KERAS_PARAMETERS}


def start(*flags, **pipes):
    return subprocess.run([BINARY, "--threads=1", *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, **pipes)


def worker(commands, *flags):
    """The worker's answers."""
    run = start("--worker", *flags, input=commands)
    assert run.returncode == 0, run.stdout
    return [json.loads(line) for line in run.stdout.splitlines()]


def trains(model, *flags):
    first, ready, ran = worker("run 1\nquit\n", f"--model={model}", "--batch=2", "--image_size=32", *flags)
    assert first["event"] == "first_step" and first["seconds_since_start"] >= 0, first
    assert ready["event"] == "ready" and ready["batch"] == 2, ready
    assert ready["parameters"] == ALL_PARAMETERS[model], ready
    assert ready["flops_per_step"] > 0 and ready["peak_rss_bytes"] > 1e7, ready
    assert ready["work"] and all(flops >= 0 and size > 0 for flops, size in ready["work"]), ready
    assert ran["steps"] == 1 and ran["seconds_per_step"] > 0 and ran["host_seconds_per_step"] > 0, ran
    for loss in (ready["first_loss"], ran["loss"]):
        assert math.isfinite(loss) and loss > 0, (ready, ran)


def evaluates(model):
    """Nothing is updated: the loss stays."""
    _, ready, ran = worker("run 2\nquit\n", f"--model={model}", "--batch=2", "--image_size=32", "--mode=eval")
    assert ready["parameters"] == ALL_PARAMETERS[model], ready
    assert math.isfinite(ran["loss"]) and ran["loss"] == ready["first_loss"] > 0, (ready, ran)


def peers_train_the_same():
    """The description that the peers' workers build from has as many parameters."""
    for model, count in PARAMETERS.items():
        assert models.parameters(models.make(model, 32)) == count, model


def counts_work():
    """Operations of S0's convnet, and of VGG16 with and without its frozen layers, from the layers' sizes."""
    def flops(*flags):
        return worker("", "--batch=1", *flags)[1]["flops_per_step"]
    conv1, conv2, conv3 = 26 * 26 * 9 * 32, 11 * 11 * 9 * 32 * 64, 3 * 3 * 9 * 64 * 64
    assert flops("--model=s0", "--mode=eval") == 2 * (conv1 + conv2 + conv3 + 576 * 64 + 640)
    assert flops("--model=s0") == 2 * (2 * conv1 + 3 * (conv2 + conv3 + 576 * 64 + 640))
    sizes = [(32, 3, 64), (32, 64, 64), (16, 64, 128), (16, 128, 128), (8, 128, 256), (8, 256, 256), (8, 256, 256),
             (4, 256, 512), (4, 512, 512), (4, 512, 512)] + 3 * [(2, 512, 512)]
    macs = [9 * size * size * a * b for size, a, b in sizes] + [512 * 4]
    assert flops("--model=vgg16", "--image_size=32") == 2 * (sum(macs) + sum(macs[10:]) + sum(macs[11:]))
    assert flops("--model=vgg16", "--image_size=32", "--all_layers") == 2 * (3 * sum(macs) - macs[0])
    # The direct algorithm's program counts the same for its convolutions and products, and other work on top.
    ready = worker("", "--batch=8", "--precision=strict_float32")[1]
    assert 1 <= sum(flops for flops, _ in ready["work"]) / ready["flops_per_step"] < 1.2, ready


def devices_agree():
    """Two devices with half the rows each train on the same examples: the losses have the same bits."""
    one, two = (worker("run 3\n", "--model=mlp", "--batch=16", f"--devices={d}") for d in ("cpu:0", "cpu:0,cpu:1"))
    assert one[1]["first_loss"] == two[1]["first_loss"] and one[2]["loss"] == two[2]["loss"], (one, two)
    assert one[1]["flops_per_step"] == two[1]["flops_per_step"]


def report():
    run = start("--model=s4", "--batch=8", "--steps=2")
    assert run.returncode == 0, run.stdout
    assert re.search(r"s4 batch 8: [\d.]+ steps/s +[\d.]+ examples/s +[\d.]+ GFLOP/s .* peak RSS [\d.]+ MiB",
                     run.stdout), run.stdout


def matmul():
    _, ready, ran = worker("run 2\n", "--model=matmul")
    assert ready["flops_per_step"] == 2 * 1024**3 and ran["seconds_per_step"] > 0


def bad_flags():
    for flags, message in ((["--model=s9"], '"s9" is none of s0, s2'),
                           (["--model=keras_s0"], '"keras_s0" is none of keras_vgg16'),
                           (["--image_size=30"], "multiple of 32"),
                           (["--devices=cpu:0,cpu:1", "--batch=3"], "cannot be divided among 2 devices"),
                           (["--precision=float8"], "float8"), (["--deadline_secs=0"], "0 is not over 0"), (["--mode=test"], "neither train nor eval")):
        run = start(*flags)
        assert run.returncode == 2 and message in run.stdout, (flags, run.returncode, run.stdout)


def bad_command():
    run = start("--worker", "--model=linear", input="walk 3\n")
    assert run.returncode == 2 and '"walk 3" is neither' in run.stdout, run.stdout


xunit.run("model_bench", [(f"trains_{m}", lambda m=m: trains(m)) for m in ALL_PARAMETERS] + [
    (f"evaluates_{m}", lambda m=m: evaluates(m)) for m in ALL_PARAMETERS] + [
    ("trains_vgg16_all", lambda: trains("vgg16", "--all_layers")), ("peers_train_the_same", peers_train_the_same),
    ("counts_work", counts_work),
    ("devices_agree", devices_agree), ("report", report), ("matmul", matmul), ("bad_flags", bad_flags),
    ("bad_command", bad_command)])

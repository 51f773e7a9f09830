"""What the samples reach on the real Fashion-MNIST: S0 as ./train runs it, and S2 (batch norm, dropout, RMSprop) with
evaluations on the test images while it trains."""
import json
import os
import re
import shlex
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import sample  # noqa: E402
import xunit  # noqa: E402


def train_command():
    """The flags that ./train gives the sample, without those of files."""
    with open("train", encoding="utf-8") as f:
        text = f.read().replace("\\\n", " ")
    line = next(line for line in text.split("\n") if line.startswith("bazel-bin/samples/fashion_mnist"))
    return [word for word in shlex.split(line)[1:] if word.startswith("--") and "_dir=" not in word]


def accuracy_of(name, flags):
    directory = sample.fresh_dir(name)
    result = os.path.join(directory, "result.json")
    output = sample.run(*flags, f"--model_dir={directory}/model", f"--eval_json={result}", timeout=1500)
    with open(result) as f:
        return json.load(f)["accuracy"], output


def main_job():
    flags = train_command()
    assert "--epochs=5" in flags and "--devices=cpu:0,cpu:1" in flags, flags
    accuracy, _ = accuracy_of("s0", flags)
    print(f"S0, five epochs: accuracy {accuracy:.4f}")
    assert 0.90 <= accuracy < 0.95, accuracy


def multi_gpu():
    accuracy, output = accuracy_of(
        "s2", ["--model=multi_gpu", "--devices=cpu:0,cpu:1", "--batch_size=64", "--max_steps=400",
               "--eval_every_steps=200", "--optimizer=rmsprop"])
    losses = [float(loss) for loss in re.findall(r"global step (?:200|400): .*?loss = ([0-9.]+)", output)]
    print(f"S2, 400 steps: accuracy {accuracy:.4f}, losses of evaluations {losses}")
    assert 0.75 <= accuracy < 0.95, accuracy
    assert len(losses) == 2 and losses[1] < losses[0], (losses, output[-2000:])


CASES = [main_job, multi_gpu]
xunit.run("accuracy", [(f.__name__, f) for f in CASES])

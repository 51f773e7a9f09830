"""What the samples reach on the real Fashion-MNIST: S0 as ./train runs it, and S2 (batch norm, dropout, RMSprop) with
evaluations while it trains."""
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


def trained(name, flags):
    """The last evaluation, the loss of every step, and the output."""
    directory = sample.fresh_dir(name)
    result, losses = os.path.join(directory, "result.json"), os.path.join(directory, "losses.json")
    output = sample.run(*flags, f"--model_dir={directory}/model", f"--eval_json={result}", f"--loss_log={losses}",
                        timeout=1500)
    with open(result) as r, open(losses) as l:
        return json.load(r), [json.loads(line)["loss"] for line in l], output


def main_job():
    flags = train_command()
    assert "--epochs=5" in flags and "--devices=cpu:0,cpu:1" in flags, flags
    evaluation, _, _ = trained("s0", flags)
    print(f"S0, five epochs: accuracy {evaluation['accuracy']:.4f}")
    assert 0.90 <= evaluation["accuracy"] < 0.95, evaluation


def multi_gpu():
    # Its moving averages (momentum 0.99) need some hundred steps more to be good for evaluations, so the losses of
    # training are the judge.
    _, losses, output = trained(
        "s2", ["--model=multi_gpu", "--devices=cpu:0,cpu:1", "--batch_size=32", "--max_steps=80", "--optimizer=rmsprop",
               "--eval_every_steps=40", "--eval_examples=train:64"])
    first, last = sum(losses[:5]) / 5, sum(losses[-20:]) / 20
    print(f"S2, 80 steps of 64 images: loss {first:.3f} of the first 5, {last:.3f} of the last 20")
    assert len(losses) == 80 and last < 1.0 < first, losses
    assert re.findall(r"Saving dict for global step (\d+)", output) == ["40", "80"], output[-2000:]


CASES = [main_job, multi_gpu]
xunit.run("accuracy", [(f.__name__, f) for f in CASES])

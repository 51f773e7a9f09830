"""TensorBoard's own reader shows what a training wrote: every point once, also after a run that went on from an earlier
checkpoint, with the numbers that the log of losses and the evaluation have."""
import glob
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("../tensorboard"))
import fashion  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402
from tensorboard.backend.event_processing import event_accumulator, io_wrapper  # noqa: E402


def flags(data, model_dir, steps):
    return ["--model=zalando", "--optimizer=sgd", "--devices=cpu:0,cpu:1", "--batch_size=8",
            "--save_checkpoints_steps=50", "--eval_examples=train:32", f"--data_dir={data}",
            f"--model_dir={model_dir}", f"--max_steps={steps}",
            f"--loss_log={model_dir}/losses_{steps}.jsonl", f"--eval_json={model_dir}/eval.json"]


def scalars(directory):
    """{tag: [(step, value)]} of one run."""
    assert any(io_wrapper.IsSummaryEventsFile(path) for path in glob.glob(directory + "/*")), os.listdir(directory)
    run = event_accumulator.EventAccumulator(directory, size_guidance={event_accumulator.SCALARS: 0})
    run.Reload()
    return {tag: [(e.step, e.value) for e in run.Scalars(tag)] for tag in run.Tags()["scalars"]}


def losses(path):
    with open(path) as f:
        return {entry["step"]: entry["loss"] for entry in map(json.loads, f)}


def close(a, b):
    return abs(a - b) <= 1e-6 * (1 + abs(b))


def every_point_once():
    data, model_dir = fashion.make(sample.fresh_dir("data")), sample.fresh_dir("model")
    sample.run(*flags(data, model_dir, 250))
    # As if the process had died behind its last point and before its last checkpoint.
    shutil.rmtree(model_dir + "/model.ckpt-250")
    if os.path.exists(model_dir + "/DONE"):
        os.remove(model_dir + "/DONE")
    sample.run(*flags(data, model_dir, 420))
    train = scalars(model_dir)
    steps = [step for step, _ in train["loss"]]
    assert steps == [1, 101, 201, 301, 401], steps
    # Of the steps as the log of losses counts them: those before.
    logged = {**losses(model_dir + "/losses_250.jsonl"), **losses(model_dir + "/losses_420.jsonl")}
    for step, loss in train["loss"]:
        assert close(loss, logged[step - 1]), (step, loss, logged[step - 1])
    for tag in ("global_step/sec", "examples/sec", "input_wait"):
        assert [step for step, _ in train[tag]] == [101, 301, 401], (tag, train[tag])
    for (_, rate), (_, examples) in zip(train["global_step/sec"], train["examples/sec"]):
        assert 15.9 < examples / rate < 16.1, (rate, examples)
    assert all(0 <= wait <= 1 for _, wait in train["input_wait"]), train["input_wait"]

    evaluated = scalars(model_dir + "/eval")
    with open(model_dir + "/eval.json") as f:
        result = json.load(f)
    for tag in ("loss", "accuracy"):
        assert evaluated[tag][-1][0] == 420, evaluated
        assert close(evaluated[tag][-1][1], result[tag]), (tag, evaluated, result)


xunit.run("tensorboard", [("every_point_once", every_point_once)])

"""The tutorial's program, samples/mnist_estimator, with several processes: two and four workers have the bits of one
process with all their devices, and a chief, a worker and an evaluator share the work. Real processes."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tests/cluster"))
import fashion  # noqa: E402
import sample  # noqa: E402
import workers  # noqa: E402
import xunit  # noqa: E402

sample.BINARY = os.path.abspath("samples/mnist_estimator")
STEPS = 12
data = {}


def flags(model_dir, devices, *more):
    if not data:
        data["dir"] = fashion.make(sample.fresh_dir("data"), train=350, test=50)
    names = ",".join(f"cpu:{i}" for i in range(devices))
    return [f"--devices={names}", "--batch_size=8", "--shuffle_buffer=64", "--seed=5", f"--max_steps={STEPS}",
            "--learning_rate=0.1", "--save_checkpoints_steps=5", "--threads=1", f"--data_dir={data['dir']}",
            f"--model_dir={model_dir}", *more]


def evaluations(output):
    return re.findall(r"^accuracy = .*", output, re.M)


def one_process():
    if "whole" not in data:
        directory = sample.fresh_dir("whole")
        losses, result = os.path.join(directory, "losses.json"), os.path.join(directory, "result.json")
        output = sample.run(*flags(directory, 4, f"--loss_log={losses}", f"--eval_json={result}"))
        data["whole"] = directory, output, losses, result
    return data["whole"]


def flags_write_what_they_say():
    _, output, losses, result = one_process()
    with open(losses) as f:
        steps = [json.loads(line) for line in f]
    assert [step["step"] for step in steps] == list(range(STEPS)), steps
    assert all(step["loss"] > 0 for step in steps), steps
    with open(result) as f:
        values = json.load(f)
    assert values["global_step"] == STEPS and f"accuracy = {values['accuracy']:.3f}"[:15] in output, (values, output)


def has_bits_of_one_process(count):
    expected_dir, expected_output, _, _ = one_process()
    model_dir = sample.fresh_dir(f"workers_of_{count}")
    run = workers.Workers(f"mnist_{count}", count, flags(model_dir, 4 // count))
    run.expect(*[0] * count)
    for step in (5, STEPS):
        workers.assert_same(workers.contents(expected_dir, step), workers.contents(model_dir, step),
                            f"{count} workers, step {step}")
    expected = evaluations(expected_output)
    assert len(expected) == 1 and evaluations(run.output(0)) == expected, run.tails()
    assert not evaluations(run.output(1)), run.tails()


def two_workers():
    has_bits_of_one_process(2)


def four_workers():
    has_bits_of_one_process(4)


def chief_worker_and_evaluator():
    expected_dir, expected_output, _, _ = one_process()
    model_dir = sample.fresh_dir("evaluated")
    kinds = ("chief", "worker", "evaluator")
    cluster = {kind: [f"127.0.0.1:{port}"] for kind, port in zip(kinds, workers.free_ports(3))}
    environments = [{"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": 0}})}
                    for kind in kinds]
    result = os.path.join(model_dir, "result.json")
    run = workers.Workers("mnist_evaluated", 3,
                          flags(model_dir, 2, "--eval_start_delay_secs=0", "--eval_throttle_secs=0"),
                          {2: [f"--eval_json={result}"]}, environments)
    run.expect(0, 0, 0)
    workers.assert_same(workers.contents(expected_dir, STEPS), workers.contents(model_dir, STEPS), "chief and worker")
    # Who trains does not evaluate; the evaluator's last result is of the last step.
    assert not evaluations(run.output(0)) and not evaluations(run.output(1)), run.tails()
    assert evaluations(run.output(2))[-1:] == evaluations(expected_output), run.tails()
    with open(result) as f:
        assert json.load(f)["global_step"] == STEPS


def bad_flags():
    for flag, words in [("--shuffle_buffer=-1", "--shuffle_buffer must not be negative, got -1"),
                        ("--save_checkpoints_steps=-2", "--save_checkpoints_steps must not be negative, got -2"),
                        ("--eval_json=/nowhere/at/all.json", "--eval_json"), ("--devices=tpu:0", "tpu:0")]:
        output = sample.run(*flags(sample.fresh_dir("bad"), 1, flag), expect=2)
        assert words in output, output


CASES = [flags_write_what_they_say, two_workers, four_workers, chief_worker_and_evaluator, bad_flags]
xunit.run("mnist_estimator", [(f.__name__, f) for f in CASES])

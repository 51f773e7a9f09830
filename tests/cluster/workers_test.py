"""Several workers train as one process with all their devices would: the same bits, the same evaluations, and errors
that every worker ends with. Real processes, on one machine."""
import json
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tests/cluster"))
import fashion  # noqa: E402
import sample  # noqa: E402
import workers  # noqa: E402
import xunit  # noqa: E402

DEVICES = ["--devices=" + ",".join(f"cpu:{i}" for i in range(n)) for n in range(5)]
STEPS = 12
data = {}


def flags(model_dir, devices, steps=STEPS, save_every=5, model="zalando"):
    if not data:
        # Its last round of an epoch has a short batch, and replicas without one.
        data["dir"] = fashion.make(sample.fresh_dir("data"), train=350, test=50)
    return [f"--model={model}", "--optimizer=adam", DEVICES[devices], "--batch_size=8", "--shuffle_buffer=64",
            "--dropout=0.3", "--seed=5", f"--max_steps={steps}", f"--save_checkpoints_steps={save_every}",
            "--eval_examples=train:50", f"--data_dir={data['dir']}", f"--model_dir={model_dir}", "--threads=1"]


def one_process(name, steps=STEPS, model="zalando"):
    if (name, model) not in data:
        directory = sample.fresh_dir(name + "_" + model)
        data[name, model] = directory, sample.run(*flags(directory, 4, steps, model=model))
    return data[name, model]


def evaluation(output):
    """The result that the sample prints."""
    return re.findall(r"^accuracy = .*", output, re.M)


def train(name, count, own=(), model="zalando"):
    model_dir = sample.fresh_dir(name)
    run = workers.Workers(name, count, [*flags(model_dir, 4 // count, model=model), *own])
    run.expect(*[0] * count)
    return model_dir, run


def has_bits_of_one_process(name, count, own=(), model="zalando"):
    expected_dir, expected_output = one_process("whole", model=model)
    model_dir, run = train(name, count, own, model)
    for step in (5, STEPS):
        workers.assert_same(workers.contents(expected_dir, step), workers.contents(model_dir, step),
                            f"{count} workers, step {step}")
    expected = evaluation(expected_output)
    assert len(expected) == 1 and evaluation(run.output(0)) == expected, run.tails()
    assert f"x {4 // count} replica" in run.output(0) and f"x {count} workers = 32" in run.output(0), run.tails()
    return run


def two_workers():
    run = has_bits_of_one_process("two", 2)
    assert "shared memory" in run.output(0), run.tails()
    # The chief alone tells of the progress.
    assert "global_step/sec" not in run.output(1) and "Saving" not in run.output(1), run.tails()


def four_workers():
    has_bits_of_one_process("four", 4)


def over_tcp():
    run = has_bits_of_one_process("tcp", 2, ["--communication=tcp"])
    assert "TCP" in run.output(0), run.tails()


def four_over_tcp():
    has_bits_of_one_process("four_tcp", 4, ["--communication=tcp"])


def batch_norm_model():
    has_bits_of_one_process("multi_gpu", 2, model="multi_gpu")


def ring_trains():
    for dtype in ["float32", "bfloat16"]:
        _, run = train("ring_" + dtype, 2, ["--communication=ring", "--communication_dtype=" + dtype])
        assert len(evaluation(run.output(0))) == 1, run.tails()


def cross_device_ops():
    """Of two devices every order is the tree's; so is that of two groups of two."""
    run = has_bits_of_one_process("ops", 2, ["--cross_device_ops=ReductionToOneDevice"])
    assert "(cpu:0, cpu:1; ReductionToOneDevice)" in run.output(0), run.tails()
    expected, _ = one_process("whole")
    hierarchical = sample.fresh_dir("hierarchical")
    sample.run(*flags(hierarchical, 4), "--cross_device_ops=HierarchicalCopyAllReduce")
    workers.assert_same(workers.contents(expected, STEPS), workers.contents(hierarchical, STEPS), "hierarchical")


def bfloat16_gradients():
    """The bits of one process that rounds as well, which are not those of float32."""
    rounds = "--communication_dtype=bfloat16"
    alone = sample.fresh_dir("bfloat16_alone")
    sample.run(*flags(alone, 4), rounds)
    expected = workers.contents(alone, STEPS)
    for count, own in ((2, []), (4, ["--communication=tcp"])):
        model_dir, _ = train(f"bfloat16_{count}", count, [rounds, *own])
        workers.assert_same(expected, workers.contents(model_dir, STEPS), f"{count} workers")
    exact, _ = one_process("whole")
    assert workers.contents(exact, STEPS)["variables.safetensors"] != expected["variables.safetensors"]


def other_cross_device_ops():
    refused("other_ops", ["the workers differ in the program of mode train"], {1: ["--cross_device_ops=ReductionToOneDevice"]})


def goes_on_with_other_workers():
    """4 workers, then 2, then 1, each from the checkpoint before: the bits of one undisturbed run."""
    expected_dir, _ = one_process("whole")
    model_dir = sample.fresh_dir("resized")
    for count, steps in ((4, 4), (2, 8), (1, STEPS)):
        run = workers.Workers(f"resized_{count}", count, flags(model_dir, 4 // count, steps))
        run.expect(*[0] * count)
    workers.assert_same(workers.contents(expected_dir, STEPS), workers.contents(model_dir, STEPS), "resized")


def wait_for_checkpoint(run, model_dir, step):
    """Until the checkpoint of `step` or a later one is there."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        names = os.listdir(model_dir) if os.path.isdir(model_dir) else []
        if any(re.fullmatch(r"model\.ckpt-\d+", n) and int(n[11:]) >= step for n in names):
            return
        assert all(p.poll() is None for p in run.processes), run.tails()
        time.sleep(0.01)
    raise AssertionError("no checkpoint\n" + run.tails())


def accumulated_batches():
    """Two batches of 4 make one step of a batch of 8, on one process and on two."""
    expected_dir, _ = one_process("whole")
    for count in (1, 2):
        model_dir = sample.fresh_dir(f"accumulated_{count}")
        run = workers.Workers(f"accumulated_{count}", count, [*flags(model_dir, 4 // count), "--batch_size=4",
                                                              "--accumulate_batches=2"])
        run.expect(*[0] * count)
        workers.assert_same(workers.contents(expected_dir, STEPS), workers.contents(model_dir, STEPS),
                            f"{count} workers")


def evaluator(name, *own):
    """Two workers and a task that evaluates."""
    model_dir = sample.fresh_dir(name)
    ports = workers.free_ports(3)
    cluster = {"worker": [f"127.0.0.1:{p}" for p in ports[:2]], "evaluator": [f"127.0.0.1:{ports[2]}"]}
    environments = [{"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})}
                    for kind, index in (("worker", 0), ("worker", 1), ("evaluator", 0))]
    run = workers.Workers(name, 3, [*flags(model_dir, 2), *own], environments=environments)
    return model_dir, run


def evaluator_of_its_own():
    expected_dir, expected_output = one_process("whole")
    model_dir, run = evaluator("evaluator")  # which waits for 120 seconds unless training ends before
    run.expect(0, 0, 0)
    workers.assert_same(workers.contents(expected_dir, STEPS), workers.contents(model_dir, STEPS), "evaluator")
    # It has fewer devices than the workers together, so that its sums over batches are rounded otherwise.
    expected, got = (re.findall(r"(\w+) = ([\d.]+)", evaluation(text)[0]) for text in (expected_output, run.output(2)))
    assert [name for name, _ in expected] == [name for name, _ in got] and len(got) >= 2, run.tails()
    assert all(abs(float(a) - float(b)) < 1e-5 for (_, a), (_, b) in zip(expected, got)), (expected, got)
    assert not evaluation(run.output(0)) and "Starting evaluation" not in run.output(0), run.tails()


def evaluator_exports():
    """The task that evaluates exports, and nobody else does."""
    model_dir, run = evaluator("evaluator_exports", "--export")
    run.expect(0, 0, 0)
    for name in ("best", "final"):
        exports = os.listdir(os.path.join(model_dir, "export", name))
        assert len(exports) == 1 and re.fullmatch(r"\d{10}", exports[0]), exports
        with open(os.path.join(model_dir, "export", name, exports[0], "signature.json")) as f:
            assert json.load(f)["global_step"] == STEPS
    assert run.output(2).count("Exported the model") == 2, run.tails()
    assert all("Exported the model" not in run.output(rank) for rank in (0, 1)), run.tails()


def chief_exports():
    """Without such a task the chief does, one model for each exporter."""
    model_dir, run = train("chief_exports", 2, ["--export"])
    assert run.output(0).count("Exported the model") >= 2 and "Exported the model" not in run.output(1), run.tails()
    assert sorted(os.listdir(os.path.join(model_dir, "export"))) == ["best", "final"]


def evaluator_sees_checkpoints():
    model_dir, run = evaluator("evaluator_early", "--eval_start_delay_secs=0", "--eval_throttle_secs=0",
                               "--max_steps=3000", "--save_checkpoints_steps=100")
    run.expect(0, 0, 0)
    steps = [int(s) for s in re.findall(r"Saving dict for global step (\d+)", run.output(2))]
    assert len(steps) >= 2 and steps == sorted(set(steps)) and steps[-1] == 3000, steps


def lines_of_evaluations(model_dir):
    with open(os.path.join(model_dir, "eval", "metrics.jsonl"), encoding="utf-8") as f:
        return f.read().splitlines()


def evaluates_by_steps():
    """At the same steps, whatever the clock says, and with the same bits as one process."""
    for name, own, steps in (("by_steps", ["--eval_every_steps=3"], [3, 6, 9, 12]),
                             ("by_epochs", ["--eval_every_epochs=1"], [11, 12])):  # 350 examples in steps of 32
        alone_dir = sample.fresh_dir(name + "_alone")
        sample.run(*flags(alone_dir, 4), *own)
        expected = lines_of_evaluations(alone_dir)
        assert [json.loads(line)["global_step"] for line in expected] == steps, expected
        model_dir, run = train(name, 2, own)
        assert lines_of_evaluations(model_dir) == expected, (expected, lines_of_evaluations(model_dir), run.tails())


def evaluation_by_steps_beside_an_evaluator():
    _, run = evaluator("by_steps_beside_evaluator", "--eval_every_steps=3")
    run.expect(2, 2, 2)
    assert "has a task of type evaluator" in run.output(0), run.tails()


def done(model_dir):
    with open(os.path.join(model_dir, "DONE"), encoding="utf-8") as f:
        return json.load(f)


def stops_early():
    """With a rate that changes no weight, no evaluation is better than the first."""
    own = ["--optimizer=sgd", "--learning_rate=1e-38", "--eval_every_steps=3", "--stop_if_no_decrease=5"]
    model_dir, run = train("stops_early", 2, own)
    assert done(model_dir)["final_step"] == 9, run.tails()
    assert done(model_dir)["reason"].startswith('early stopping: no decrease of "loss" in 6 steps'), done(model_dir)
    assert os.path.isdir(os.path.join(model_dir, "model.ckpt-9"))
    lines = lines_of_evaluations(model_dir)
    again = workers.Workers("stops_early_again", 2, [*flags(model_dir, 2), *own])
    again.expect(0, 0)
    assert done(model_dir)["final_step"] == 9 and "made no steps: early stopping" in again.output(0), again.tails()
    # The others do not know what is on record, so that all evaluate once more.
    assert lines_of_evaluations(model_dir) == lines + lines[-1:], again.tails()


def an_evaluator_stops_training():
    model_dir, run = evaluator("evaluator_stops", "--eval_start_delay_secs=0", "--eval_throttle_secs=0",
                               "--optimizer=sgd", "--learning_rate=1e-38", "--save_checkpoints_steps=200",
                               "--max_steps=1000000", "--stop_if_no_decrease=100", "--stop_every_steps=10")
    run.expect(0, 0, 0)
    assert done(model_dir)["final_step"] < 1000000, done(model_dir)
    assert done(model_dir)["reason"].startswith('early stopping: no decrease of "loss"'), done(model_dir)


def terminated_evaluator():
    _, run = evaluator("evaluator_terminated", "--max_steps=100000")
    deadline = time.monotonic() + 60
    while "Waiting 120" not in run.output(2) and time.monotonic() < deadline:
        time.sleep(0.01)
    run.processes[2].send_signal(signal.SIGTERM)
    assert run.processes[2].wait(30) == 143, run.tails()
    run.kill()


def lost_worker(name, lost, kill, reason):
    model_dir = sample.fresh_dir(name)
    run = workers.Workers(name, 4, [*flags(model_dir, 1, steps=100000, save_every=20), "--deadline_secs=5"])
    wait_for_checkpoint(run, model_dir, 20)
    run.processes[lost].send_signal(kill)
    begin = time.monotonic()
    others = [r for r in range(4) if r != lost]
    codes = [run.processes[r].wait(60) for r in others]
    seconds = time.monotonic() - begin
    run.kill()
    assert codes == [75, 75, 75], f"exit codes {codes}\n{run.tails()}"
    for r in others:
        assert re.search(rf"rank {lost}\b.*{reason}", run.output(r)), f"rank {r} does not say so\n{run.tails()}"
    print(f"rank {lost} {reason}: the others had ended after {seconds:.2f} s")
    # The last checkpoint stands, and others go on from it.
    resumed = workers.Workers(name + "_resumed", 2, flags(model_dir, 2, steps=20, save_every=20))
    resumed.expect(0, 0)


def killed_worker():
    lost_worker("killed", 2, signal.SIGKILL, "is lost")


def killed_chief():
    lost_worker("killed_chief", 0, signal.SIGKILL, "is lost")


def stopped_worker():
    lost_worker("stopped", 1, signal.SIGSTOP, "is lost")


def terminated_worker():
    """All stop after the same step, and save."""
    model_dir = sample.fresh_dir("terminated")
    run = workers.Workers("terminated", 2, flags(model_dir, 2, steps=100000, save_every=20))
    wait_for_checkpoint(run, model_dir, 20)
    run.processes[1].send_signal(signal.SIGTERM)
    run.expect(75, 143)
    # Also where the signal has come during an evaluation.
    steps = [re.findall(r"stopped .* global step (\d+)", run.output(r))[-1] for r in range(2)]
    assert steps[0] == steps[1], steps
    expected = sample.fresh_dir("not_terminated")
    sample.run(*flags(expected, 4, steps=int(steps[0]), save_every=20))
    workers.assert_same(workers.contents(expected, steps[0]), workers.contents(model_dir, steps[0]), "terminated")


def interrupted_chief():
    model_dir = sample.fresh_dir("interrupted")
    run = workers.Workers("interrupted", 2, flags(model_dir, 2, steps=100000, save_every=20))
    wait_for_checkpoint(run, model_dir, 20)
    run.processes[0].send_signal(signal.SIGINT)
    run.expect(130, 75)


def refused(name, texts, own_flags, codes=(2, 2), environments=None, common=()):
    model_dir = sample.fresh_dir(name)
    run = workers.Workers(name, 2, [*flags(model_dir, 2), "--deadline_secs=3", *common], own_flags, environments)
    run.expect(*codes, timeout=120)
    for rank in range(2):
        for text in texts:
            assert text in run.output(rank), f"rank {rank} does not say {text!r}\n{run.tails()}"


def different_models():
    refused("models", ["the workers differ in the program of mode train"], {1: ["--dropout=0.4"]})


def different_batches():
    refused("batches", ["the workers differ in the program of mode train"], {1: ["--batch_size=4"]})


def different_data():
    other = fashion.make(sample.fresh_dir("other_data"), train=349, test=50)
    refused("different_data", ["the workers differ in data"], {1: [f"--data_dir={other}"]})


def different_seeds():
    """The chief's initial weights are all workers', whatever seeds they have; not so the order of the input."""
    refused("shuffle_seeds", ["the workers differ in the order of the input"], {1: ["--seed=6"]})
    model_dir = sample.fresh_dir("seeds")
    in_order = ["--shuffle_buffer=0"]
    sample.run(*flags(model_dir, 4), *in_order)
    other_dir = sample.fresh_dir("other_seed")
    run = workers.Workers("other_seed", 2, [*flags(other_dir, 2), *in_order], {1: ["--seed=6"]})
    run.expect(0, 0)
    workers.assert_same(workers.contents(model_dir, STEPS), workers.contents(other_dir, STEPS), "other seed")


def different_learning_rates():
    refused("rates", ["the workers differ in the numbers of mode train"], {1: ["--learning_rate=0.002"]},
            common=["--learning_rate=0.001"])


def different_steps():
    refused("steps", ["the workers differ in the options of Train"], {1: ["--max_steps=13"]})


def different_communication():
    refused("communication", ["communication"], {1: ["--communication=tcp"]})


def missing_worker():
    model_dir = sample.fresh_dir("missing")
    ports = workers.free_ports(3)
    environments = [{"TF_CONFIG": workers.tf_config(ports, rank)} for rank in range(2)]
    run = workers.Workers("missing", 2, [*flags(model_dir, 1), "--deadline_secs=1"], environments=environments)
    run.expect(75, 75, timeout=60)
    assert "rank 2" in run.output(0) and "rank 2" in run.output(1), run.tails()


def same_rank_twice():
    ports = workers.free_ports(2)
    environments = [{"TF_CONFIG": workers.tf_config(ports, 1)} for _ in range(2)]
    environments.append({"TF_CONFIG": workers.tf_config(ports, 0)})
    model_dir = sample.fresh_dir("twice")
    run = workers.Workers("twice", 3, flags(model_dir, 2), environments=environments)
    codes = sorted(run.wait())
    assert codes == [0, 0, 2], f"{codes}\n{run.tails()}"


def strategy_for_one_process():
    refused("mirrored", ["MirroredStrategy is for one process"], {}, common=["--strategy=mirrored"])


def full_disk_at_the_chief():
    model_dir = os.path.join(sample.fresh_dir("file"), "file")
    with open(model_dir, "w"):
        pass
    refused("full_disk", [model_dir], {}, codes=(74, 74), common=[f"--model_dir={model_dir}/model"])


CASES = [
    accumulated_batches, evaluator_of_its_own, evaluator_exports, chief_exports, evaluator_sees_checkpoints,
    evaluates_by_steps, evaluation_by_steps_beside_an_evaluator, stops_early, an_evaluator_stops_training,
    terminated_evaluator, two_workers, four_workers, over_tcp, four_over_tcp, bfloat16_gradients, batch_norm_model,
    ring_trains, cross_device_ops, goes_on_with_other_workers, killed_worker, killed_chief, stopped_worker,
    terminated_worker, interrupted_chief, different_models, different_batches, different_data, different_seeds,
    different_learning_rates, different_steps, different_communication, other_cross_device_ops, missing_worker,
    same_rank_twice, strategy_for_one_process, full_disk_at_the_chief
]
chosen = os.environ.get("TANDEM_CASES", "").split()
xunit.run("workers", [(f.__name__, f) for f in CASES if not chosen or f.__name__ in chosen])

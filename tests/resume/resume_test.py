"""A run killed with SIGKILL at random moments and started again until it is done ends in the same bits as an
undisturbed one: variables, slots and state. Shuffled, with dropout, on two devices, over several epochs whose
examples the batches do not divide. Only the best evaluation so far is left out: when a run evaluates follows the clock
(the first checkpoint of a process, then every 600 seconds), so killed runs evaluate more often.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath("tests/support"))
import fashion  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

FILES = ("variables.safetensors", "slots.safetensors", "state.json")
STEPS, SAVE_EVERY, KILLS = 800, 5, 20
SEED = 20261121


def flags(data, model_dir):
    return ["--model=zalando", "--optimizer=adam", "--devices=cpu:0,cpu:1", "--batch_size=16", "--shuffle_buffer=300",
            "--dropout=0.3", "--seed=5", f"--max_steps={STEPS}", f"--save_checkpoints_steps={SAVE_EVERY}",
            "--eval_examples=train:32", f"--data_dir={data}", f"--model_dir={model_dir}"]


def latest(model_dir):
    names = os.listdir(model_dir) if os.path.isdir(model_dir) else []
    return max([int(n[len("model.ckpt-"):]) for n in names if n.startswith("model.ckpt-") and n[11:].isdigit()] + [-1])


def contents(model_dir):
    result = {}
    for name in FILES:
        with open(os.path.join(model_dir, f"model.ckpt-{STEPS}", name), "rb") as f:
            result[name] = f.read()
    state = json.loads(result["state.json"])
    assert "best" in state["extra"], state
    del state["extra"]["best"]
    result["state.json"] = json.dumps(state)
    return result


def kill_once(arguments, model_dir, source, early):
    """Starts a run and kills it, a moment after it has saved one to three checkpoints or, `early`, perhaps while it
    starts. Progress per kill is so bounded by checkpoints on a machine of any speed. The step reached."""
    with open(os.path.join(os.environ["TEST_TMPDIR"], "killed.log"), "ab") as log:
        process = subprocess.Popen([sample.BINARY, *arguments], stdout=log, stderr=log)
    target = latest(model_dir) + SAVE_EVERY * source.randint(1, 3)
    deadline = time.monotonic() + (source.uniform(0, 1) if early else 300)
    while latest(model_dir) < target and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(source.uniform(0, 0.02))
    process.send_signal(signal.SIGKILL)
    code = process.wait()
    assert code == -signal.SIGKILL, f"the run ended by itself with {code} before it was killed (killed.log)"
    return latest(model_dir)


def killed_run_ends_in_the_same_bits():
    data = fashion.make(sample.fresh_dir("data"))
    whole, killed = sample.fresh_dir("whole"), sample.fresh_dir("killed")
    sample.run(*flags(data, whole))
    source = random.Random(SEED)
    reached = [kill_once(flags(data, killed), killed, source, early=i % 4 == 3) for i in range(KILLS)]
    assert reached == sorted(reached), f"a kill lost a finished checkpoint: {reached}"
    assert 0 < reached[-1] < STEPS, reached
    sample.run(*flags(data, killed))
    expected, got = contents(whole), contents(killed)
    for name in FILES:
        assert len(expected[name]) > 20 and expected[name] == got[name], f"{name} differs from that of the whole run"
    print(f"{KILLS} kills; latest checkpoint after each: {reached}")


xunit.run("resume", [("killed_20_times", killed_run_ends_in_the_same_bits)])

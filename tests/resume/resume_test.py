"""Runs killed with SIGKILL at random moments and started again until they are done end in the same bits as undisturbed
ones: variables, slots and state. Shuffled, on two devices, over several epochs whose examples the batches do not
divide; with dropout from images in memory, and from JPEG files that several threads read. Only the best evaluation so
far is left out: when a run evaluates follows the clock (the first checkpoint of a process, then every 600 seconds), so
killed runs evaluate more often.
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
SEED = 20261121


class Job:
    """A training of `steps` steps that saves every `save_every` of them."""

    def __init__(self, program, steps, save_every, flags):
        self.steps, self.save_every = steps, save_every
        self._command = [os.path.abspath(program), "--devices=cpu:0,cpu:1", "--seed=5", f"--max_steps={steps}",
                         f"--save_checkpoints_steps={save_every}", *flags]

    def start(self, model_dir):
        with open(os.path.join(os.environ["TEST_TMPDIR"], "killed.log"), "ab") as log:
            return subprocess.Popen([*self._command, f"--model_dir={model_dir}"], stdout=log, stderr=log)

    def run(self, model_dir):
        code = self.start(model_dir).wait(600)
        assert code == 0, f"the run ended with {code} (killed.log)"

    def contents(self, model_dir):
        result = {}
        for name in FILES:
            with open(os.path.join(model_dir, f"model.ckpt-{self.steps}", name), "rb") as f:
                result[name] = f.read()
        state = json.loads(result["state.json"])
        assert "best" in state["extra"], state
        del state["extra"]["best"]
        result["state.json"] = json.dumps(state)
        return result

    def kill_once(self, model_dir, source, early):
        """Starts a run and kills it, a moment after it has saved one to three checkpoints or, `early`, perhaps while it
        starts. Progress per kill is so bounded by checkpoints on a machine of any speed. The step reached."""
        process = self.start(model_dir)
        target = latest(model_dir) + self.save_every * source.randint(1, 3)
        deadline = time.monotonic() + (source.uniform(0, 1) if early else 300)
        while latest(model_dir) < target and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(source.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        code = process.wait()
        assert code == -signal.SIGKILL, f"the run ended by itself with {code} before it was killed (killed.log)"
        return latest(model_dir)


def latest(model_dir):
    names = os.listdir(model_dir) if os.path.isdir(model_dir) else []
    return max([int(n[len("model.ckpt-"):]) for n in names if n.startswith("model.ckpt-") and n[11:].isdigit()] + [-1])


def killed_runs_end_in_the_same_bits(job, kills):
    whole, killed = sample.fresh_dir("whole"), sample.fresh_dir("killed")
    job.run(whole)
    source = random.Random(SEED)
    reached = [job.kill_once(killed, source, early=i % 4 == 3) for i in range(kills)]
    assert reached == sorted(reached), f"a kill lost a finished checkpoint: {reached}"
    assert 0 < reached[-1] < job.steps, reached
    job.run(killed)
    expected, got = job.contents(whole), job.contents(killed)
    for name in FILES:
        assert len(expected[name]) > 20 and expected[name] == got[name], f"{name} differs from that of the whole run"
    print(f"{kills} kills; latest checkpoint after each: {reached}")


def images_in_memory():
    data = fashion.make(sample.fresh_dir("data"))
    killed_runs_end_in_the_same_bits(
        Job("samples/fashion_mnist", 800, 5,
            ["--model=zalando", "--optimizer=adam", "--batch_size=16", "--shuffle_buffer=300", "--dropout=0.3",
             "--eval_examples=train:32", f"--data_dir={data}"]), kills=20)


def jpeg_files():
    data = sample.fresh_dir("pictures")
    subprocess.run([os.path.abspath("tools/tandem-textures"), data, "--per_class=15", "--height=80", "--width=96"],
                   check=True)
    killed_runs_end_in_the_same_bits(
        Job("samples/classify_pictures", 300, 3, ["--image_size=40", "--batch_size=4", f"--data_dir={data}"]), kills=12)


xunit.run("resume", [("images_in_memory", images_in_memory), ("jpeg_files", jpeg_files)])

"""Workers under launchers: tandem-launch, which starts them again when one is killed, and mpirun."""
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tests/cluster"))
import fashion  # noqa: E402
import sample  # noqa: E402
import workers  # noqa: E402
import xunit  # noqa: E402

LAUNCH = os.path.abspath("tools/tandem-launch")
SAVE_EVERY = 20
KILLS = int(os.environ.get("TANDEM_KILLS", "20"))
STEPS = 80 * KILLS  # four checkpoints for each kill
SEED = 20261124
data = {}


def flags(model_dir, devices, steps=STEPS):
    if "dir" not in data:
        data["dir"] = fashion.make(sample.fresh_dir("data"), train=350, test=50)
    return ["--model=zalando", "--optimizer=adam", "--devices=" + ",".join(f"cpu:{i}" for i in range(devices)),
            "--batch_size=8", "--shuffle_buffer=64", "--dropout=0.3", "--seed=5", f"--max_steps={steps}",
            f"--save_checkpoints_steps={SAVE_EVERY}", "--eval_examples=train:50", f"--data_dir={data['dir']}",
            f"--model_dir={model_dir}", "--threads=1"]


def one_process():
    if "whole" not in data:
        data["whole"] = sample.fresh_dir("whole")
        sample.run(*flags(data["whole"], 4))
    return data["whole"]


def run(name, command):
    """Output of the launcher and its tasks; it must end with 0."""
    log = os.path.join(sample.fresh_dir(name + "_log"), "log")
    with open(log, "wb") as f:
        process = subprocess.Popen(command, stdout=f, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return process, log


def text(log):
    with open(log, errors="replace") as f:
        return f.read()


def latest(model_dir):
    names = glob.glob(os.path.join(model_dir, "model.ckpt-*"))
    return max([int(n.rsplit("-", 1)[1]) for n in names if n.rsplit("-", 1)[1].isdigit()] + [-1])


def task_of(launcher, index):
    """The process of the launcher's worker `index`; nothing when it is not there."""
    for stat in glob.glob("/proc/[0-9]*/stat"):
        folder = os.path.dirname(stat)
        try:
            with open(stat) as f:
                parent = f.read().rpartition(")")[2].split()[1]
            with open(os.path.join(folder, "environ")) as f:
                environment = f.read()
        except OSError:
            continue  # it has ended
        if int(parent) == launcher.pid and f'"index":{index}' in environment:
            return int(os.path.basename(folder))
    return None


def killed_and_started_again():
    expected = one_process()
    model_dir = sample.fresh_dir("killed")
    process, log = run("killed", [LAUNCH, "-n", "2", f"--max_restarts={KILLS + 5}", "--grace_seconds=10", "--",
                                  sample.BINARY, *flags(model_dir, 2)])
    source, kills, reached = random.Random(SEED), 0, []
    deadline = time.monotonic() + 600
    target = SAVE_EVERY
    while kills < KILLS and process.poll() is None and time.monotonic() < deadline:
        if latest(model_dir) < min(target, STEPS - SAVE_EVERY):
            time.sleep(0.002)
            continue
        time.sleep(source.uniform(0, 0.02))
        victim = task_of(process, source.randrange(2))
        if victim is None:
            continue
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            continue
        kills += 1
        reached.append(latest(model_dir))
        target = latest(model_dir) + SAVE_EVERY  # which others than those that are left reach
    assert process.wait(300) == 0, text(log)[-3000:]
    assert kills == KILLS, f"{kills} kills of {KILLS}; checkpoints {reached}\n{text(log)[-2000:]}"
    workers.assert_same(workers.contents(expected, STEPS), workers.contents(model_dir, STEPS), "killed")
    print(f"{kills} kills; latest checkpoint at each: {reached}")


def resized():
    """Two workers become one, which takes the devices of both, and two again: the bits of one undisturbed run."""
    expected = one_process()
    model_dir = sample.fresh_dir("resized")
    process, log = run("resized", [LAUNCH, "-n", "2", "--min_workers=1", "--grace_seconds=60", "--", sample.BINARY,
                                   *flags(model_dir, 2)])
    deadline = time.monotonic() + 240

    def wait_for(pattern, count):
        while len(re.findall(pattern, text(log))) < count:
            assert process.poll() is None and time.monotonic() < deadline, text(log)[-3000:]
            time.sleep(0.005)

    wait_for(r"Saving checkpoints for 20 ", 1)
    process.send_signal(signal.SIGUSR1)
    wait_for(r"batch 8 x 4 replicas x 1 worker = 32", 1)
    wait_for(r"global step|Saving checkpoints for \d{2,} ", 4)
    process.send_signal(signal.SIGUSR2)
    wait_for(r"batch 8 x 2 replicas x 2 workers = 32", 2)
    assert process.wait(300) == 0, text(log)[-3000:]
    workers.assert_same(workers.contents(expected, STEPS), workers.contents(model_dir, STEPS), "resized")


def under_mpirun():
    assert shutil.which("mpirun"), "mpirun is not installed; ./setup installs it"
    expected = one_process()
    model_dir = sample.fresh_dir("mpirun")
    process, log = run("mpirun", ["mpirun", "-n", "2", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                                  sample.BINARY, *flags(model_dir, 2)])
    assert process.wait(300) == 0, text(log)[-3000:]
    workers.assert_same(workers.contents(expected, STEPS), workers.contents(model_dir, STEPS), "mpirun")
    assert "Open MPI" in text(log) and "shared memory" in text(log), text(log)[-3000:]


xunit.run("launched", [(f.__name__, f) for f in (killed_and_started_again, resized, under_mpirun)])

"""deploy/slurm/train.sbatch, run by bash as sbatch does, with an srun that starts the tasks on this machine."""
import os
import re
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tests/deploy"))
import tasks  # noqa: E402
import xunit  # noqa: E402

SCRIPT = os.path.abspath("deploy/slurm/train.sbatch")
TREE = os.getcwd()

# srun, as far as the script asks for it: its options, what it sets for tasks (of PMI too, as where MpiDefault is pmi2),
# and the highest of their exit codes. A file "terminate" in the working directory stands for the time limit: all tasks
# get SIGTERM, as by --signal=TERM.
SRUN = '''#!/usr/bin/python3
import os, signal, subprocess, sys, time
arguments, options = sys.argv[1:], []
while arguments and arguments[0].startswith("--"):
    options.append(arguments.pop(0))
assert set(options) <= {"--mpi=none", "--kill-on-bad-exit=0", "--cpus-per-task=8"}, options
with open("srun.log", "a") as log:
    print(*arguments, file=log)
count = int(os.environ["SLURM_NTASKS"])
step = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": str(count), "SLURM_STEP_NODELIST": "127.0.0.1,node[2-4]",
        "SLURM_LOCALID": "0"}
def start(rank):
    pmi = {} if "--mpi=none" in options else {"PMI_RANK": str(rank), "PMI_SIZE": str(count)}
    return subprocess.Popen(arguments, env={**os.environ, **step, **pmi, "SLURM_PROCID": str(rank)})
tasks = [start(rank) for rank in range(count)]
told = False
while any(task.poll() is None for task in tasks):
    if not told and os.path.exists("terminate"):
        told = True
        for task in tasks:
            task.send_signal(signal.SIGTERM)
    time.sleep(0.02)
sys.exit(max(task.returncode if task.returncode >= 0 else 128 - task.returncode for task in tasks))
'''
SCONTROL = '#!/bin/sh\necho "$@" >> scontrol.log\n'
# In place of a program: ends with the code that its flag --epochs names.
PROGRAM = '#!/bin/sh\nfor f; do case $f in --epochs=*) exit "${f#*=}" ;; esac; done\n'


def directives():
    """The options that sbatch reads: {name: value}."""
    with open(SCRIPT, encoding="utf-8") as script:
        before_commands = script.read().partition("\nset -u")[0]
    return dict((m[1], m[2]) for m in re.finditer(r"^#SBATCH --([\w-]+)(?:=(\S+))?$", before_commands, re.M))


def free_job():
    """The number of a job whose workers meet at a free port (cluster/launchers.cc)."""
    for job in range(1000, 2000):
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", 10000 + job * 31 % 20000))
                return job
            except OSError:
                pass
    raise AssertionError("no port is free")


class Batch:
    """A folder in which the script is submitted."""

    def __init__(self):
        self.directory = tasks.fresh_dir("slurm")
        os.symlink(TREE, os.path.join(self.directory, "bazel-bin"))
        for name, text in (("srun", SRUN), ("scontrol", SCONTROL), ("program", PROGRAM)):
            path = os.path.join(self.directory, "bin", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o755)
        self.job = free_job()

    def start(self, flags, **more):
        options = directives()
        environment = {
            **tasks.base_environment(), "PATH": self.path("bin") + ":/usr/bin:/bin", "SLURM_JOB_ID": str(self.job),
            "SLURM_NTASKS": str(int(options["nodes"]) * int(options["ntasks-per-node"])),
            "SLURM_CPUS_PER_TASK": options["cpus-per-task"], "SLURM_JOB_NODELIST": "127.0.0.1,node[2-4]",
            "SLURM_PROCID": "0",  # of the script itself, which is no worker
            **more}
        with open(self.path("log"), "wb") as log:
            return subprocess.Popen(["/bin/bash", SCRIPT, *flags], cwd=self.directory, env=environment, stdout=log,
                                    stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def run(self, flags, expect, **more):
        process = self.start(flags, **more)
        try:
            code = process.wait(200)
        except subprocess.TimeoutExpired:
            self.terminate()
            process.wait(60)
            raise
        assert code == expect, f"exit code {code} instead of {expect}\n{self.text('log')[-4000:]}"
        return self.text("log")

    def terminate(self):
        with open(self.path("terminate"), "w", encoding="utf-8"):
            pass

    def path(self, name):
        return os.path.join(self.directory, name)

    def text(self, name):
        if not os.path.exists(self.path(name)):
            return ""
        with open(self.path(name), errors="replace", encoding="utf-8") as file:
            return file.read()


def directives_are_options_of_sbatch():
    options = directives()
    assert set(options) == {"job-name", "nodes", "ntasks-per-node", "cpus-per-task", "time", "signal", "requeue",
                            "open-mode", "output"}, options
    # Not "B:TERM@120", which tells the script alone.
    assert options["signal"] == "TERM@120" and options["ntasks-per-node"] == "1", options
    with open(SCRIPT, encoding="utf-8") as script:
        assert len(re.findall("^#SBATCH", script.read(), re.M)) == len(options), "directives behind the first command"


def trains_together():
    batch = Batch()
    output = batch.run(tasks.quick_flags(tasks.small_data()), 0)
    assert "batch 8 x 1 replica x 4 workers = 32" in output, output[-3000:]
    assert re.search(r"^accuracy = .*, global_step = 6,", output, re.M), output[-3000:]
    assert output.count("\naccuracy = ") == 1, output[-3000:]
    assert batch.text("srun.log").count("bazel-bin/samples/fashion_mnist --model_dir=out/slurm ") == 1
    assert not batch.text("scontrol.log")


def at_the_time_limit_it_saves_and_goes_on():
    batch, data = Batch(), tasks.small_data()
    process = batch.start([*tasks.quick_flags(data), "--max_steps=1000000"])
    deadline = time.monotonic() + 200
    while "Saving checkpoints for 5 into" not in batch.text("log") and process.poll() is None:
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    batch.terminate()
    assert process.wait(100) == 143, batch.text("log")[-3000:]
    assert batch.text("scontrol.log") == f"requeue {batch.job}\n", batch.text("log")[-3000:]
    step = tasks.saved_step(batch.path("out/slurm"))
    os.remove(batch.path("terminate"))
    output = batch.run([*tasks.quick_flags(data), f"--max_steps={step + 2}"], 0, SLURM_RESTART_COUNT="1")
    assert f"model.ckpt-{step}" in output and f"global_step = {step + 2}," in output, output[-3000:]


def requeues_what_another_start_may_help():
    def requeued(code, **more):
        batch = Batch()
        batch.run([f"--epochs={code}"], code, TANDEM_PROGRAM=batch.path("bin/program"), **more)
        return batch.text("scontrol.log") == f"requeue {batch.job}\n"

    assert tasks.PERMANENT | tasks.AGAIN | {0} == tasks.documented_exit_codes()
    assert {code for code in tasks.documented_exit_codes() if requeued(code)} == tasks.AGAIN
    assert not requeued(127) and requeued(137)
    assert requeued(75, SLURM_RESTART_COUNT="19") and not requeued(75, SLURM_RESTART_COUNT="20")
    assert not requeued(75, SLURM_RESTART_COUNT="2", TANDEM_MAX_RESTARTS="2")
    assert requeued(143, SLURM_RESTART_COUNT="20")  # time limits are no failures


xunit.run("slurm", [(f.__name__, f) for f in (directives_are_options_of_sbatch, trains_together,
                                              at_the_time_limit_it_saves_and_goes_on,
                                              requeues_what_another_start_may_help)])

"""Step times of two programs, taken by turns: what before_after, bfloat16, pass_effect and applications have in
common."""
import json
import os
import shutil
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
HEADER = ["| what | before | after | | ratio (of pairs: least to greatest) | bar |",
          "| --- | --- | --- | --- | --- | --- |"]


def make_tree(rev, folder):
    """A worktree of `rev`, with the libraries that setup has fetched for this one."""
    if not os.path.exists(os.path.join(folder, ".git")):
        if subprocess.run(["git", "worktree", "add", "--detach", folder, rev], cwd=ROOT).returncode != 0:
            sys.exit(2)
        shutil.copytree(os.path.join(ROOT, ".deps"), os.path.join(folder, ".deps"), symlinks=True)


class Worker:
    """A model_bench of the checkout `tree` that waits for commands, `variables` set in its environment."""

    def __init__(self, tree, flags, threads, variables=None):
        self.process = subprocess.Popen(
            [os.path.join(tree, "bazel-bin/benchmarks/model_bench"), "--worker", "--threads=%d" % threads, *flags],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **(variables or {})})
        self.first = self.answer()
        self.ready = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("%s ended" % " ".join(self.process.args))
        return json.loads(line)

    def run(self, steps):
        self.process.stdin.write("run %d\n" % steps)
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def ratio_row(name, before, after, bar, unit):
    ratios = [a / b for a, b in zip(after, before)]
    return {"name": name, "before": statistics.median(before), "after": statistics.median(after), "unit": unit,
            "ratio": statistics.median(ratios), "low": min(ratios), "high": max(ratios), "bar": bar}


def steps_row(name, workers, bar, turns, seconds_of_turn):
    """The row of two workers, which end with it, and their seconds of compiling."""
    estimates = [w.run(max(1, int(0.05 / w.ready["seconds_per_step"])))["seconds_per_step"] for w in workers]
    steps = max(1, round(seconds_of_turn / max(estimates)))
    for worker in workers:
        worker.run(steps)
    seconds = ([], [])
    for turn in range(turns):
        for side in ((0, 1) if turn % 2 == 0 else (1, 0)):
            seconds[side].append(1e3 * workers[side].run(steps)["seconds_per_step"])
    for worker in workers:
        worker.end()
    return ratio_row(name, *seconds, bar, "ms"), [w.ready["compile_seconds"] for w in workers]


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")


def revision(rev):
    return subprocess.run(["git", "rev-parse", "--short", rev], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def text_of(row):
    reached = "reached" if row["ratio"] <= row["bar"] else "NOT REACHED"
    return "| %-29s | %11.4g | %11.4g | %-2s | %.3f (%.3f to %.3f) | %.2f: %s |" % (
        row["name"], row["before"], row["after"], row["unit"], row["ratio"], row["low"], row["high"], row["bar"],
        reached)

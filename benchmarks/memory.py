"""Peak memory of samples/fashion_mnist (S0's convnet, batch 512 on one device) against what the run has to hold.

    bazel build //benchmarks:memory && bazel-bin/benchmarks/memory

What it has to hold: inputs (training and evaluation images and labels as they are stored in memory, and two batches in
floats, one in use and one made ahead), parameters and optimizer slots, and the arenas that tandem-dump reports for the
training and the evaluation program: the microbatch arena of every thread, the slots of all lanes, step and
batch arenas.

What it takes: anonymous memory (RssAnon: heap, stacks, arenas, data segments after relocation), sampled every few
milliseconds, and the kernel's high-water mark of the whole resident set (VmHWM). The difference is mapped files: code
and constants of the program, LLVM, MLIR and oneDNN, which processes share and the kernel can drop.
"""

import argparse
import json
import os
import subprocess
import tempfile
import threading
import time

import sample_run

_BAR = 1.5
_MIB = 2.0**20


class Sampler(threading.Thread):
    """The largest values of a process's /proc/PID/status, in bytes."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path = f"/proc/{pid}/status"
        self.peak = {}

    def run(self):
        while True:
            try:
                with open(self.path, encoding="utf-8") as file:
                    lines = [line.split() for line in file]
            except OSError:
                return
            if not any(fields[0] == "VmHWM:" for fields in lines):
                return  # a zombie has no memory
            for fields in lines:
                if fields[0] in ("VmHWM:", "RssAnon:", "RssFile:"):
                    key = fields[0][:-1]
                    self.peak[key] = max(self.peak.get(key, 0), int(fields[1]) * 1024)
            time.sleep(0.003)


def run(model_dir, batch, steps, threads):
    process = sample_run.start([f"--model_dir={model_dir}", f"--max_steps={steps}", f"--batch_size={batch}",
                                f"--threads={threads}", "--devices=cpu:0"])
    sampler = Sampler(process.pid)
    sampler.start()
    log = process.stderr.read()
    sample_run.check(process, log)
    sampler.join()
    return sampler.peak


def dump(model_dir, mode):
    command = [sample_run.binary("tools/tandem-dump"), model_dir, f"--mode={mode}", "--format=json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def arena_bytes(program, threads):
    memory = program["memory"]
    devices = len(program["replicas"])
    return (memory["microbatch_arena_bytes_per_thread"] * threads +
            devices * (memory["lane_slot_bytes"] * memory["lanes_per_device"] + memory["step_arena_bytes"] +
                       memory["batch_arena_bytes"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch_size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        cold_dir, warm_dir = os.path.join(work, "cold"), os.path.join(work, "warm")
        peaks = {"cold": run(cold_dir, args.batch_size, args.steps, args.threads)}
        os.mkdir(warm_dir)
        os.rename(os.path.join(cold_dir, "compiled"), os.path.join(warm_dir, "compiled"))
        peaks["warm"] = run(warm_dir, args.batch_size, args.steps, args.threads)
        train, evaluation = dump(warm_dir, "train"), dump(warm_dir, "eval")
    image, label = 28 * 28, 10 * 4  # bytes: a pixel is a byte, a label a row of floats
    parts = {
        "images and labels as stored": 70000 * (image + label),
        "two batches": 2 * args.batch_size * (4 * image + label),
        "parameters": train["memory"]["parameter_bytes"],
        "slots": train["memory"]["slot_bytes"],
        "arenas of the training program": arena_bytes(train, args.threads),
        "arenas of the evaluation program": arena_bytes(evaluation, args.threads),
    }
    needed = sum(parts.values())
    print(f"S0 at batch {args.batch_size}, {args.threads} threads, {args.steps} steps and an evaluation")
    for name, size in parts.items():
        print(f"  {size / _MIB:7.1f} MiB  {name}")
    print(f"  {needed / _MIB:7.1f} MiB  in all")
    reached = True
    for name, peak in peaks.items():
        ratio = peak["RssAnon"] / needed
        reached = reached and ratio <= _BAR
        print(f"{name}: anonymous memory {peak['RssAnon'] / _MIB:.1f} MiB, {ratio:.2f} of that (bar {_BAR}: "
              f"{'reached' if ratio <= _BAR else 'NOT REACHED'}); with mapped files {peak['VmHWM'] / _MIB:.1f} MiB, "
              f"{peak['VmHWM'] / needed:.2f}")
    raise SystemExit(0 if reached else 1)


if __name__ == "__main__":
    main()

"""Process start to the end of the first training step of samples/fashion_mnist, with and without a cached executable.

    bazel build //benchmarks:startup && bazel-bin/benchmarks/startup

cold: an empty model_dir, so both the model is compiled and everything else happens for the first time in this process.
warm: a fresh model_dir into which the compiled/ folder of an earlier run was copied.
restart: the same model_dir again, which also restores a checkpoint.
Files are in the page cache in all cases. The time runs from before the fork to the arrival of the sample's log line
about its first step, so it holds dynamic linking, reading the data, variables, the first checkpoint and the step.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time

import sample_run

_BARS = {"cold": 4.0, "warm": 1.5, "restart": 1.5}


def seconds_to_first_step(model_dir, max_steps, flags):
    begin = time.monotonic()
    process = sample_run.start([f"--model_dir={model_dir}", f"--max_steps={max_steps}"] + flags)
    seconds, log = None, []
    for line in process.stderr:
        if seconds is None and "first step done" in line:
            seconds = time.monotonic() - begin
        log.append(line)
    sample_run.check(process, "".join(log))
    if seconds is None:
        raise SystemExit("the sample did not log its first step:\n" + "".join(log))
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("flags", nargs="*", help="further flags of the sample, after --")
    args = parser.parse_args()
    flags = ["--eval_examples=train:64"] + args.flags
    seconds = {name: [] for name in _BARS}
    with tempfile.TemporaryDirectory() as work:
        for i in range(args.repetitions):
            cold, warm = os.path.join(work, f"cold{i}"), os.path.join(work, f"warm{i}")
            seconds["cold"].append(seconds_to_first_step(cold, 1, flags))
            shutil.copytree(os.path.join(cold, "compiled"), os.path.join(warm, "compiled"))
            seconds["warm"].append(seconds_to_first_step(warm, 1, flags))
            seconds["restart"].append(seconds_to_first_step(warm, 2, flags))
    print(f"process start to the end of the first step ({sample_run.cpu_model()}, {os.cpu_count()} cores):")
    reached = True
    for name, bar in _BARS.items():
        median = statistics.median(seconds[name])
        reached = reached and median <= bar
        print(f"{name:8} {median:6.2f} s  (bar {bar} s: {'reached' if median <= bar else 'NOT REACHED'}; "
              f"{min(seconds[name]):.2f} to {max(seconds[name]):.2f} in {args.repetitions} runs)")
    raise SystemExit(0 if reached else 1)


if __name__ == "__main__":
    main()

"""A worker that trains nothing: --step=SECONDS for every step, --fail=start|run|silent|usage."""
import argparse
import os
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import protocol  # noqa: E402

CHANNEL = protocol.Channel()
print("a library's greeting, on standard error by now")
parser = argparse.ArgumentParser()
parser.add_argument("--step", type=float, default=0.001)
parser.add_argument("--fail", default="")
args = parser.parse_args()
done = 0


def run(steps):
    global done
    if args.fail == "start":
        sys.exit("cannot start")
    if args.fail == "run" and done >= 2:
        sys.exit("lost my way")
    if args.fail == "silent" and done >= 2:
        time.sleep(60)
    done += steps
    time.sleep(args.step * steps)
    return 1 / done


fake = types.SimpleNamespace(model=types.SimpleNamespace(name="fake"), batch=7)
protocol.serve(CHANNEL, fake, run, 11)

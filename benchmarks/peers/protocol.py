"""What a worker says on standard output and hears on standard input, one line each; model_bench --worker does the same.

  worker: {"event": "first_step"}                       when the first step is done
  worker: {"event": "ready", "parameters": .., "seconds_per_step": .., ...}
                                                        when it is warm; how long the second step took
  driver: run N
  worker: {"event": "ran", "steps": N, "seconds_per_step": .., "loss": .., "peak_rss_bytes": ..}
  driver: quit
A worker that waits for a command uses no CPU.
"""
import argparse
import json
import os
import resource
import sys
import time

import models


def arguments(variants):
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=models.NAMES, required=True)
    parser.add_argument("--variant", choices=variants, default=variants[0])
    parser.add_argument("--batch", type=int, default=0, help="batch size; 0: the model's own")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--image_size", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=0, help="of an example of the Transformer; 0: its own number")
    parser.add_argument("--workers", type=int, default=1, help="processes that train together, of --batch each; this "
                        "is the one that TF_CONFIG, or RANK and the like of torchrun, describes")
    args = parser.parse_args()
    args.model = models.make(args.model, args.image_size, args.tokens)
    args.batch = args.batch or args.model.batch
    return args


def random_batch(model, rows):
    """Inputs and labels as NumPy arrays."""
    import numpy as np
    random = np.random.default_rng(1)
    shape = (rows, *model.input_shape)
    if model.vocabulary:
        x = random.integers(0, model.vocabulary, shape).astype(np.int32)
    else:
        x = random.random(shape, dtype=np.float32)
    if model.classes:
        return x, random.integers(0, model.classes, rows).astype(np.int32)
    return x, random.random((rows, 1), dtype=np.float32)


class Channel:
    """The worker's end. Keeps standard output to itself: what libraries print goes to standard error."""

    def __init__(self):
        self._out = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
        os.dup2(2, 1)

    def say(self, event, **fields):
        fields["peak_rss_bytes"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._out.write(json.dumps({"event": event, **fields}) + "\n")

    def first_step(self):
        self.say("first_step")

    def ready(self, args, first_loss, parameters, seconds):
        self.say("ready", model=args.model.name, batch=args.batch, first_loss=first_loss, parameters=parameters,
                  seconds_per_step=seconds)

    def ran(self, steps, seconds, loss):
        self.say("ran", steps=steps, seconds_per_step=seconds / steps, loss=loss)

    def next_run(self):
        """The number of steps to do; None at the end."""
        words = sys.stdin.readline().split()
        if not words or words == ["quit"]:
            return None
        if len(words) != 2 or words[0] != "run" or int(words[1]) < 1:
            raise SystemExit(f"{words} is neither run N nor quit")
        return int(words[1])


def serve(channel, args, run, parameters):
    """`run(n)` does n steps, waits for their end and returns the last loss."""
    first_loss = run(1)
    channel.first_step()
    start = time.perf_counter()
    run(1)
    channel.ready(args, first_loss, parameters, time.perf_counter() - start)
    while (steps := channel.next_run()) is not None:
        start = time.perf_counter()
        loss = run(steps)
        channel.ran(steps, time.perf_counter() - start, loss)

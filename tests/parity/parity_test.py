"""Loss curves of compiled training on CPU devices against references: 1e-4 a step, or what float32 itself leaves.

The run of a curve also checks the evaluation of the trained weights on the first 1,000 training images.
Precision is strict_float32: by Winograd's algorithm equal patches of an image give values that differ in the last bits,
so that max pooling breaks ties in flat areas in another way than the reference does, and curves leave the bar after some
steps (docs/developers/winograd.md).
"""
import os
import sys

sys.path[:0] = [os.path.abspath("tests/support"), os.path.abspath("tests/parity")]
import curves  # noqa: E402
import xunit  # noqa: E402


def check(name, devices):
    losses, evaluation = curves.train(name, [f"cpu:{d}" for d in range(devices)])
    curves.check_losses(name, f"{devices} device(s)", losses, curves.reference(name)["losses"], floor=1e-4)
    curves.check_evaluation(name, evaluation)


xunit.run("parity", [(f"{name}_{devices}_devices", lambda name=name, devices=devices: check(name, devices))
                     for name in curves.CURVES for devices in ((1,) if name.startswith("multi_gpu") else (1, 2))])

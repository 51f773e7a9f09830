"""The same bits for any number of threads and any power-of-two number of devices.

After 200 steps of the S0 convnet in file order, the files of variables, slots and state are byte-identical for threads
1, 2 and 3, and for 128 examples on one device, 64 on each of two and 32 on each of four.
"""
import os
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import sample  # noqa: E402
import xunit  # noqa: E402

FILES = ("variables.safetensors", "slots.safetensors", "state.json")
STEPS = 200


def train(devices, threads):
    """The bytes of the last checkpoint's files."""
    directory = sample.fresh_dir(f"d{devices}_t{threads}")
    sample.run("--model=zalando", "--optimizer=adam", "--shuffle_buffer=0", f"--max_steps={STEPS}",
               "--devices=" + ",".join(f"cpu:{d}" for d in range(devices)), f"--batch_size={128 // devices}",
               f"--threads={threads}", f"--model_dir={directory}", "--eval_examples=train:64")
    contents = {}
    for name in FILES:
        with open(os.path.join(directory, f"model.ckpt-{STEPS}", name), "rb") as f:
            contents[name] = f.read()
    return contents


reference = {}


def first():
    reference.update(train(devices=1, threads=1))
    assert all(len(reference[name]) > 20 for name in FILES)


def same(devices, threads):
    contents = train(devices, threads)
    for name in FILES:
        assert contents[name] == reference[name], f"{name} differs from that of one device and one thread"


xunit.run("determinism", [("devices_1_threads_1", first)] + [
    (f"devices_{d}_threads_{t}", lambda d=d, t=t: same(d, t)) for d, t in ((1, 2), (1, 3), (2, 2), (4, 2), (2, 3))])

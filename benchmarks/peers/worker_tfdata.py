"""tf.data's side of rows of input pipelines: one thread, no prefetching; times are of the processor.

FOLDER holds what input_bench --write has made.
"""
import argparse
import glob
import os
import time

import protocol

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
CHANNEL = protocol.Channel()
parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--pipeline", required=True)
parser.add_argument("--batch", type=int, required=True)
ARGS = parser.parse_args()

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
# As Tandem's readers have it.
BUFFER = 256 << 10
FEATURES = {
    "dense": tf.io.FixedLenFeature([32], tf.float32),
    "ids": tf.io.FixedLenFeature([16], tf.int64),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "name": tf.io.FixedLenFeature([], tf.string),
}


def parse(records):
    return tf.io.parse_example(records, FEATURES)


def load(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, dct_method="INTEGER_ACCURATE")
    return tf.image.resize(image, [224, 224])


def batches(name):
    files = sorted(glob.glob(os.path.join(ARGS.folder, "part-*.tfrecord")))
    table = os.path.join(ARGS.folder, "table.csv")
    if name.startswith("jpeg"):
        files = sorted(glob.glob(os.path.join(ARGS.folder, name, "*.jpeg")))
        return tf.data.Dataset.from_tensor_slices(files).map(load).repeat().batch(ARGS.batch)
    if name == "interleave":
        dataset = tf.data.Dataset.from_tensor_slices(files).interleave(
            lambda f: tf.data.TFRecordDataset(f, buffer_size=BUFFER), cycle_length=4).shuffle(10000, seed=1)
    elif name == "text":
        dataset = tf.data.TextLineDataset(table, buffer_size=BUFFER)
    elif name == "csv":
        dataset = tf.data.experimental.CsvDataset(table, [tf.int64] + [tf.float32] * 4 + [tf.string], header=True,
                                                  buffer_size=BUFFER)
    else:
        dataset = tf.data.TFRecordDataset(files, buffer_size=BUFFER)
    dataset = dataset.repeat().batch(ARGS.batch)
    return dataset.map(parse) if name in ("parse", "interleave") else dataset


def checksum(batch):
    """As input_bench's."""
    total = 0.0
    for tensor in tf.nest.flatten(batch):
        if tensor.dtype == tf.string:
            tensor = tf.strings.length(tensor)
        total += float(np.mean(tensor.numpy(), dtype=np.float64))
    return total


def main():
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    options.autotune.enabled = False
    iterator = iter(batches(ARGS.pipeline).with_options(options))

    def read(steps):
        start = time.process_time()
        for _ in range(steps):
            next(iterator)
        return time.process_time() - start

    same = {"checksum": checksum(next(iterator))}
    CHANNEL.first_step()
    if ARGS.pipeline == "interleave":  # shuffles differ
        same = {}
    CHANNEL.say("ready", model=ARGS.pipeline, batch=ARGS.batch, seconds_per_step=read(1), **same)
    while (steps := CHANNEL.next_run()) is not None:
        CHANNEL.say("ran", steps=steps, seconds_per_step=read(steps) / steps)


main()

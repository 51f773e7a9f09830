"""compare_tf_data.py BENCHMARK FOLDER [ROUNDS]: Tandem's input pipelines and tf.data's on the same files, in turns.

BENCHMARK is the program data/files_benchmark; it writes its files into FOLDER first. Both read in one thread: tf.data
with private_threadpool_size 1 and without prefetching. Prints elements a second of both, the best of all rounds, and
how many times as fast Tandem is.
"""
import os
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402  (the log level comes first)

FEATURES = {
    "dense": tf.io.FixedLenFeature([32], tf.float32),
    "ids": tf.io.FixedLenFeature([16], tf.int64),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "name": tf.io.FixedLenFeature([], tf.string),
}


def pipelines(folder):
    files = sorted(tf.io.gfile.glob(os.path.join(folder, "part-*.tfrecord")))
    table = os.path.join(folder, "table.csv")
    parse = lambda records: tf.io.parse_example(records, FEATURES)  # noqa: E731
    return {
        "tfrecord": lambda: tf.data.TFRecordDataset(files, buffer_size=256 << 10).batch(256),
        "tfrecord_parse": lambda: tf.data.TFRecordDataset(files, buffer_size=256 << 10).batch(256).map(parse),
        "interleave_shuffle_parse": lambda: tf.data.Dataset.from_tensor_slices(files).interleave(
            lambda f: tf.data.TFRecordDataset(f, buffer_size=256 << 10), cycle_length=4).shuffle(10000, seed=1)
        .batch(256).map(parse),
        "text": lambda: tf.data.TextLineDataset(table, buffer_size=256 << 10).batch(256),
        "csv": lambda: tf.data.experimental.CsvDataset(
            table, [tf.int64] + [tf.float32] * 4 + [tf.string], header=True, buffer_size=256 << 10).batch(256),
    }


def rate(dataset):
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.autotune.enabled = False
    start, rows = time.perf_counter(), 0
    for element in dataset.with_options(options):
        rows += int(tf.nest.flatten(element)[0].shape[0])
    return rows / (time.perf_counter() - start)


def main():
    benchmark, folder = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    subprocess.run([benchmark, folder, "write"], check=True)
    tandem, peer = {}, {}
    for _ in range(rounds):
        for line in subprocess.run([benchmark, folder, "read"], check=True, capture_output=True,
                                   text=True).stdout.splitlines():
            name, value, _unit = line.split()
            tandem[name] = max(tandem.get(name, 0), float(value))
        for name, make in pipelines(folder).items():
            peer[name] = max(peer.get(name, 0), rate(make()))
    print("%-28s %12s %12s %8s" % ("pipeline", "Tandem /s", "tf.data /s", "ratio"))
    for name, value in tandem.items():
        print("%-28s %12.0f %12.0f %8.2f" % (name, value, peer[name], value / peer[name]))


if __name__ == "__main__":
    main()

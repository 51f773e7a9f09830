"""images.py PROGRAM DIR [ROUNDS [BATCH]]: decoding and resizing of JPEG pictures, Tandem against tf.data, paired.

PROGRAM is bazel-bin/benchmarks/image_pipeline, DIR holds */*.jpeg (tandem-textures writes some). Both read the same
files in one thread, decode them to RGB, resize them to 224 x 224 (bilinear, no antialias) and make batches of BATCH
(32). Prints pictures per second of CPU time, so that other work on the machine matters little, as the median of
ROUNDS (default 5) rounds in which the programs take turns, and the median of the rounds' quotients. First sees that
the results are equal; those of DCT scaling are other pictures and stand beside. Needs TensorFlow 2.15 and NumPy.
"""
import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

# Mode of PROGRAM -> dct_method of the peer.
PEERS = {"exact": "INTEGER_ACCURATE", "fast": "INTEGER_FAST"}
DUMPED = 8


def dataset(files, dct_method, batch_size):
    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, dct_method=dct_method)
        return tf.image.resize(image, [224, 224])

    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    return tf.data.Dataset.from_tensor_slices(files).map(load).batch(batch_size).with_options(options)


def tf_data_rate(files, dct_method, batch_size):
    iterator = iter(dataset(files, dct_method, batch_size))
    start = time.process_time()
    for _ in iterator:
        pass
    return len(files) / (time.process_time() - start)


def tandem_rate(program, folder, mode, *flags):
    command = [program, folder, "--mode=" + mode] + list(flags)
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return float(run.stdout)


def main(program, folder, rounds=5, batch_size=32):
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    files = sorted(glob.glob(os.path.join(folder, "*", "*.jpeg")))
    for mode, dct_method in PEERS.items():
        with tempfile.NamedTemporaryFile() as dump:
            tandem_rate(program, folder, mode, "--dump=" + dump.name)
            ours = np.fromfile(dump.name, np.float32)
        theirs = next(iter(dataset(files, dct_method, DUMPED))).numpy().reshape(-1)
        print("%s: largest difference of %d pictures to tf.data's: %g" % (mode, DUMPED, abs(ours - theirs).max()))
    rates = {name: [] for name in ("tandem exact", "tandem fast", "tandem scaled", "tf.data exact", "tf.data fast")}
    for _ in range(rounds):
        for mode in ("exact", "fast", "scaled"):
            rates["tandem " + mode].append(tandem_rate(program, folder, mode, "--batch_size=%d" % batch_size))
            if mode in PEERS:
                rates["tf.data " + mode].append(tf_data_rate(files, PEERS[mode], batch_size))
    for name, values in rates.items():
        print("%-14s %8.1f pictures/s a core" % (name, statistics.median(values)))
    for mode, peer in (("exact", "exact"), ("fast", "fast"), ("scaled", "fast")):
        quotients = [a / b for a, b in zip(rates["tandem " + mode], rates["tf.data " + peer])]
        print("tandem %s / tf.data %s: %.2f" % (mode, peer, statistics.median(quotients)))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))

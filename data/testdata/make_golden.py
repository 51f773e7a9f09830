"""make_golden.py: writes this directory's golden files with TensorFlow 2.15 (pip install tensorflow-cpu==2.15.1).

examples.tfrecord, .gz, .z     Examples in the three compressions, some with bytes that TensorFlow does not write
examples.expected              what tf.io.parse_example makes of them
sequences.tfrecord, sequences.expected   SequenceExamples and what tf.io.parse_single_sequence_example makes of them
table.csv, table.expected      a CSV file and what tf.data.experimental.CsvDataset makes of it
arrays.npz, deflated.npz, ...  NumPy's arrays of all types, and arrays.expected, their values
stages.expected                orders and batches of tf.data's stages
An expected file has a line for each column: name|type|shape|values, where a float is the hexadecimal number of its bits
and a string its bytes in hexadecimal.
"""
import os
import struct

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.realpath(__file__))


def path(name):
    return os.path.join(HERE, name)


def column(name, array):
    array = np.asarray(array)
    if array.dtype == np.float32:
        kind, values = "float32", ["%x" % v for v in array.reshape(-1).view(np.uint32)]
    elif array.dtype == np.float64:
        kind, values = "float64", ["%x" % v for v in array.reshape(-1).view(np.uint64)]
    elif array.dtype.kind in "iu":
        kind, values = str(array.dtype), ["%d" % v for v in array.reshape(-1)]
    else:
        kind, values = "string", [bytes(v).hex() for v in array.reshape(-1)]
    return "%s|%s|%s|%s\n" % (name, kind, ",".join(map(str, array.shape)), ",".join(values))


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def example(entries):
    """An Example of (key, serialised Feature) in this order."""
    return field(1, b"".join(field(1, field(1, key.encode()) + field(2, feature)) for key, feature in entries))


def packed_ints(values):
    return field(3, field(1, b"".join(varint(v) for v in values)))


def packed_floats(values):
    return field(2, field(1, struct.pack("<%df" % len(values), *values)))


def hand_made():
    label = ("label", packed_ints([3]))
    pair = ("pair", packed_ints([1, 2]))
    unpacked_ints = field(3, b"".join(b"\x08" + varint(v) for v in (-1, 5)))
    unpacked_floats = field(2, b"".join(b"\x0d" + struct.pack("<f", v) for v in (0.5, -0.0, 1e-40)))
    yield example([label, ("pair", unpacked_ints), ("floats", unpacked_floats)])
    # The last of two entries counts; other keys and orders do not matter.
    yield example([("zzz", packed_ints([1])), pair, label, ("label", packed_ints([9]))])
    # Extremes, and an empty Feature, which stands for an absent one.
    yield example([("label", packed_ints([-2**63])), ("ints", packed_ints([2**63 - 1, -1, 0])), ("floats", b"")])
    yield example([("label", packed_ints([0])), ("floats", packed_floats([float("inf"), float("-inf"), 3e38]))])


def random_examples(rng):
    def ints(n):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[int(v) for v in rng.integers(-2**40, 2**40, n)]))

    def floats(n):
        return tf.train.Feature(float_list=tf.train.FloatList(value=rng.standard_normal(n)))

    def strings(n):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[rng.bytes(int(rng.integers(0, 20)))
                                                                      for _ in range(n)]))

    for _ in range(40):
        features = {"label": ints(1)}
        for key, feature in (("pair", ints(2)), ("floats", floats(3)), ("name", strings(1)),
                             ("ints", ints(rng.integers(0, 6))), ("reals", floats(rng.integers(0, 5))),
                             ("words", strings(rng.integers(0, 4)))):
            if rng.random() < 0.8:
                features[key] = feature
        yield tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def write_examples():
    records = list(random_examples(np.random.default_rng(17))) + list(hand_made())
    for suffix, compression in (("", ""), (".gz", "GZIP"), (".z", "ZLIB")):
        with tf.io.TFRecordWriter(path("examples.tfrecord" + suffix), compression) as writer:
            for record in records:
                writer.write(record)
    parsed = tf.io.parse_example(records, {
        "label": tf.io.FixedLenFeature([], tf.int64),
        "pair": tf.io.FixedLenFeature([2], tf.int64, [-7, 7]),
        "floats": tf.io.FixedLenFeature([3], tf.float32, [0.5, 1.5, 2.5]),
        "name": tf.io.FixedLenFeature([], tf.string, b"nobody"),
        "ints": tf.io.VarLenFeature(tf.int64),
        "reals": tf.io.VarLenFeature(tf.float32),
        "words": tf.io.VarLenFeature(tf.string),
    })
    with open(path("examples.expected"), "w") as out:
        for name in ("label", "pair", "floats", "name", "ints", "reals", "words"):
            value = parsed[name]
            if isinstance(value, tf.sparse.SparseTensor):
                padding = {"ints": -1, "reals": -1.0, "words": b"?"}[name]
                value = tf.sparse.to_dense(value, default_value=padding)
            out.write(column(name, value.numpy()))


TABLE = (b'id,x,y,name,count\r\n'
         b'1,0.5,1e300,plain,7\n'
         b'-2,-1.25e-3,0.1,"quoted, with ""quotes""",\r\n'
         b'3,,2,"two\nlines",-9\n'
         b'9223372036854775807,inf,-0.0,,2147483647\n'
         b'-9223372036854775808,3.4028235e38,4.9e-324,"",-2147483648\n'
         b'5,1e-46,123456789.123456789, spaces ,0\n'
         b'6,0.1,0.30000000000000004,\xc3\xa9\xff,1\n'
         b'7,16777217,9007199254740993,last,1')


def write_sequences():
    rng = np.random.default_rng(31)

    def feature_list(steps):
        return tf.train.FeatureList(feature=steps)

    def ints(values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    def floats(values):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))

    def words(values):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))

    context = {"id": tf.io.FixedLenFeature([], tf.int64, -1), "tags": tf.io.VarLenFeature(tf.string)}
    lists = {"pairs": tf.io.FixedLenSequenceFeature([2], tf.float32),
             "label": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
             "tokens": tf.io.VarLenFeature(tf.int64), "words": tf.io.VarLenFeature(tf.string)}
    with tf.io.TFRecordWriter(path("sequences.tfrecord")) as writer, open(path("sequences.expected"), "w") as out:
        for i in range(6):
            steps = [4, 0, 1, 3, 7, 2][i]
            record = tf.train.SequenceExample()
            if i != 2:
                record.context.feature["id"].CopyFrom(ints([i * 1000 - 3]))
            record.context.feature["tags"].CopyFrom(words([b"t%d" % k for k in range(i % 3)]))
            record.feature_lists.feature_list["pairs"].CopyFrom(
                feature_list([floats(rng.normal(size=2)) for _ in range(steps)]))
            if i != 3:
                record.feature_lists.feature_list["label"].CopyFrom(
                    feature_list([ints([int(rng.integers(-5, 5))]) for _ in range(steps)]))
                record.feature_lists.feature_list["tokens"].CopyFrom(
                    feature_list([ints(rng.integers(-9, 999, size=k % 4).tolist()) for k in range(steps)]))
                record.feature_lists.feature_list["words"].CopyFrom(
                    feature_list([words([b"w" * j for j in range((k + 1) % 3)]) for k in range(steps)]))
            record.feature_lists.feature_list["other"].CopyFrom(feature_list([ints([1])]))
            serialised = record.SerializeToString(deterministic=True)
            writer.write(serialised)
            whole, sequence = tf.io.parse_single_sequence_example(serialised, context, lists)
            out.write(column("%d.id" % i, whole["id"].numpy()))
            out.write(column("%d.tags" % i, tf.sparse.to_dense(whole["tags"]).numpy()))
            out.write(column("%d.pairs" % i, sequence["pairs"].numpy()))
            out.write(column("%d.label" % i, sequence["label"].numpy()))
            out.write(column("%d.tokens" % i, tf.sparse.to_dense(sequence["tokens"], default_value=-1).numpy()))
            out.write(column("%d.words" % i, tf.sparse.to_dense(sequence["words"], default_value=b"?").numpy()))


def write_table():
    with open(path("table.csv"), "wb") as out:
        out.write(TABLE)
    defaults = [tf.constant([], tf.int64), tf.constant([-1], tf.float32), tf.float64, tf.constant(["none"], tf.string),
                tf.constant([42], tf.int32)]
    rows = list(tf.data.experimental.CsvDataset(path("table.csv"), defaults, header=True).as_numpy_iterator())
    with open(path("table.expected"), "w") as out:
        for i, (name, dtype) in enumerate((("id", np.int64), ("x", np.float32), ("y", np.float64), ("name", object),
                                           ("count", np.int32))):
            out.write(column(name, np.array([row[i] for row in rows], dtype)))


def write_arrays():
    rng = np.random.default_rng(3)
    arrays = {
        "f4": rng.standard_normal((3, 4)).astype("<f4"), "f8": rng.standard_normal((2, 3, 4)).astype(">f8"),
        "fortran": np.asfortranarray(rng.standard_normal((3, 5, 2)).astype("<f4")),
        "i8": rng.integers(-2**62, 2**62, (4,)).astype("<i8"), "i4": rng.integers(-9, 9, (2, 2)).astype(">i4"),
        "u1": rng.integers(0, 256, (7,)).astype("|u1"), "b1": rng.random((3, 3)) < 0.5, "scalar": np.float32(2.5),
        "none": np.zeros((0, 3), "<f4"), "f2": rng.standard_normal((5,)).astype("<f2"),
        "i1": rng.integers(-128, 128, (5,)).astype("|i1"), "i2": rng.integers(-2**15, 2**15, (5,)).astype(">i2"),
        "u2": rng.integers(0, 2**16, (5,)).astype("<u2"), "u4": rng.integers(0, 2**32, (5,)).astype("<u4"),
    }
    widened = {"f2": np.float32, "i1": np.int32, "i2": np.int32, "u2": np.int32, "u4": np.int64, "b1": np.uint8}
    np.savez(path("arrays.npz"), **arrays)
    np.savez_compressed(path("deflated.npz"), **arrays)
    np.savez(path("train.npz"), x=arrays["f4"], y=np.arange(3))
    np.save(path("fortran.npy"), arrays["fortran"])
    with open(path("large_header.npy"), "wb") as out:
        np.lib.format.write_array(out, arrays["f4"], version=(2, 0))
    np.save(path("objects.npy"), np.array([{"a": 1}], object), allow_pickle=True)
    np.save(path("complex.npy"), np.array([1j]))
    with open(path("arrays.expected"), "w") as out:
        for name, array in arrays.items():
            array = np.asarray(array)
            out.write(column(name, np.ascontiguousarray(array).reshape(array.shape).astype(
                widened.get(name, array.dtype.newbyteorder("=")))))


def write_stages():
    lengths = [5, 0, 3, 7, 1, 4, 0, 2]
    sets = tf.data.Dataset.from_tensor_slices(np.array(lengths, np.int64)).enumerate()
    with open(path("stages.expected"), "w") as out:
        for cycle, block in ((1, 1), (2, 1), (3, 2), (5, 3), (16, 4)):
            order = sets.interleave(lambda i, n: tf.data.Dataset.range(n).map(lambda j: 100 * i + j),
                                    cycle_length=cycle, block_length=block)
            out.write(column("interleave_%d_%d" % (cycle, block), np.array(list(order.as_numpy_iterator()))))
        rows = tf.data.Dataset.from_tensor_slices(np.array(lengths, np.int64)).map(tf.range)
        for i, batch in enumerate(rows.padded_batch(3, padding_values=tf.constant(-1, tf.int64))):
            out.write(column("padded_%d" % i, batch.numpy()))
        for size, shift, stride, drop in ((3, 3, 1, False), (3, 1, 2, True), (2, 4, 3, False), (4, 2, 1, False)):
            windows = tf.data.Dataset.range(10).window(size, shift, stride, drop).flat_map(lambda w: w.batch(size))
            for i, window in enumerate(windows):
                out.write(column("window_%d_%d_%d_%d" % (size, shift, stride, i), window.numpy()))
        buckets = rows.bucket_by_sequence_length(tf.size, [2, 5], [2, 3, 1], padding_values=tf.constant(-1, tf.int64))
        for i, batch in enumerate(buckets):
            out.write(column("bucket_%d" % i, batch.numpy()))


if __name__ == "__main__":
    write_examples()
    write_sequences()
    write_table()
    write_stages()
    write_arrays()

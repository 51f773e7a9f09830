"""What TensorBoard's own reader has of a training whose model_fn shows everything: scalars, histograms, pictures and
texts of training and evaluation, graphs and hyperparameters, on one device and several, also after a run that went on
from an earlier checkpoint. Expected values are computed here, from the formula of the input."""
import bisect
import glob
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("../tensorboard"))
import sample  # noqa: E402
import xunit  # noqa: E402
from tensorboard.backend.event_processing import event_accumulator  # noqa: E402
from tensorboard.compat.proto import types_pb2  # noqa: E402
from tensorboard.plugins.hparams import plugin_data_pb2  # noqa: E402

BINARY = os.path.abspath("tests/summary/show_all")
COUNT = 24  # examples
KEYS = ("scalars", "images", "histograms", "tensors")


def x_of(i):
    return [struct.unpack("f", struct.pack("f", math.sin(3 * i + j)))[0] for j in range(4)]


def picture_of(i):
    return [[(5 * i + 3 * y + x) % 17 for x in range(2)] for y in range(3)]


def pixels_of(examples):
    return [v / 16 for i in examples for row in picture_of(i) for v in row]


def run(model_dir, devices, steps):
    """(kernels before each step by the number of finished steps, the loss of the last evaluation)."""
    process = subprocess.run([BINARY, model_dir, str(devices), str(steps)], capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    return {line["step"]: line["kernel"] for line in lines if "step" in line}, lines[-1]["eval_loss"]


def read(directory):
    reader = event_accumulator.EventAccumulator(directory, size_guidance={key: 0 for key in KEYS})
    reader.Reload()
    return reader


def close(a, b, tolerance=1e-6):
    return abs(a - b) <= tolerance * (1 + abs(b))


def edges():
    """TensorFlow's limits of buckets."""
    positive, v = [], 1e-12
    while v < 1e20:
        positive.append(v)
        v *= 1.1
    positive.append(sys.float_info.max)
    return [-p for p in reversed(positive)] + [0.0] + positive


EDGES = edges()


def check_histogram(event, values):
    got = event.histogram_value
    assert got.num == len(values) and got.min == min(values) and got.max == max(values), (got, values)
    assert close(got.sum, sum(values), 1e-9) and close(got.sum_squares, sum(v * v for v in values), 1e-9), (got, values)
    counts = [0] * len(EDGES)
    for v in values:
        counts[bisect.bisect_right(EDGES, v)] += 1
    assert list(got.bucket_limit) == sorted(set(got.bucket_limit)) and got.bucket_limit[-1] == EDGES[-1]
    wanted = {EDGES[i]: count for i, count in enumerate(counts) if count > 0}
    assert {limit: count for limit, count in zip(got.bucket_limit, got.bucket) if count > 0} == wanted, (got, wanted)
    # A bucket's left edge is the right edge of the one before, so both sides of one that is not empty must be exact.
    for i, limit in enumerate(got.bucket_limit):
        if got.bucket[i] > 0 and i > 0:
            assert got.bucket_limit[i - 1] == EDGES[EDGES.index(limit) - 1], got


def pixels(png):
    """(width, height, channels, rows of samples) of a PNG of 8 bits."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, header = 8, b"", None
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            data += body
        at += 12 + size
    width, height, depth, colour = header[:4]
    channels = {0: 1, 2: 3, 6: 4}[colour]
    assert depth == 8
    data, rows, above = zlib.decompress(data), [], [0] * (width * channels)
    for y in range(height):
        line = data[y * (width * channels + 1):(y + 1) * (width * channels + 1)]
        row = []
        for i, byte in enumerate(line[1:]):
            left = row[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            estimate = left + above[i] - corner
            paeth = min((left, above[i], corner), key=lambda c: abs(estimate - c))
            row.append((byte + (0, left, above[i], (left + above[i]) // 2, paeth)[line[0]]) % 256)
        rows.append(row)
        above = row
    return width, height, channels, rows


def check_picture(event, i):
    assert (event.width, event.height) == (2, 3), event
    wanted = [[math.floor(255 * v / 16 + 0.5) for v in row] for row in picture_of(i)]
    assert pixels(event.encoded_image_string) == (2, 3, 1, wanted), (pixels(event.encoded_image_string), wanted)


def check_colours(event, i):
    wanted = [[v + 80 * c for v in row for c in range(3)] for row in picture_of(i)]
    assert pixels(event.encoded_image_string) == (2, 3, 3, wanted), (pixels(event.encoded_image_string), wanted)


def check_training(model_dir, devices, kernels, points):
    train, batch = read(model_dir), 4 * devices
    tags = train.Tags()
    assert sorted(tags["images"]) == ["in/colours/image", "in/image/0", "in/image/1"], tags
    assert sorted(tags["histograms"]) == ["kernel", "labels", "pixels", "x"], tags
    assert set(tags["scalars"]) >= {"loss", "mean_x", "examples", "learning_rate", "learning_rate_1"}, tags
    for tag in tags["images"]:
        assert [e.step for e in train.Images(tag)] == points, (tag, train.Images(tag))
    for tag in tags["histograms"]:
        assert [e.step for e in train.Histograms(tag)] == points, tag
    for tag in ("loss", "mean_x", "examples", "learning_rate", "learning_rate_1"):
        assert [e.step for e in train.Scalars(tag)] == points, (tag, train.Scalars(tag))
    for number, step in enumerate(points):
        # Of the batch of that step, the first one is step 1.
        examples = [i % COUNT for i in range((step - 1) * batch, step * batch)]
        x = [v for i in examples for v in x_of(i)]
        check_histogram(train.Histograms("x")[number], x)
        check_histogram(train.Histograms("pixels")[number], pixels_of(examples))
        check_histogram(train.Histograms("labels")[number], [i % 3 for i in examples])
        check_histogram(train.Histograms("kernel")[number], kernels[step + 1])
        check_picture(train.Images("in/image/0")[number], examples[0])
        check_picture(train.Images("in/image/1")[number], examples[1])
        check_colours(train.Images("in/colours/image")[number], examples[0])
        assert close(train.Scalars("mean_x")[number].value, sum(x) / len(x)), (step, train.Scalars("mean_x"))
        assert train.Scalars("examples")[number].value == batch, train.Scalars("examples")
        rate = 0.5 * 0.9 ** ((step - 1) / 10)
        assert close(train.Scalars("learning_rate")[number].value, rate), (rate, train.Scalars("learning_rate"))
        assert train.Scalars("learning_rate_1")[number].value == 0.25, train.Scalars("learning_rate_1")


def texts(reader, tag):
    return [(e.step, e.tensor_proto.string_val[0].decode()) for e in reader.Tensors(tag)]


def check_evaluation(model_dir, devices, loss, step):
    evaluated, rows = read(model_dir + "/eval"), 5 * devices
    tags = evaluated.Tags()
    assert sorted(tags["histograms"]) == ["labels", "pixels", "x"], tags
    assert sorted(tags["scalars"]) == ["examples", "loss", "mean_x"], tags
    last = {tag: evaluated.Scalars(tag)[-1] for tag in tags["scalars"]}
    assert all(e.step == step for e in last.values()), last
    assert close(last["loss"].value, loss), (last, loss)
    everything = [v for i in range(COUNT) for v in x_of(i)]
    assert close(last["mean_x"].value, sum(everything) / len(everything)), last
    rounds = [min(rows, COUNT - first) for first in range(0, COUNT, rows)]
    assert close(last["examples"].value, sum(n * n for n in rounds) / COUNT), (last, rounds)
    first = range(min(rows, COUNT))
    check_histogram(evaluated.Histograms("x")[-1], [v for i in first for v in x_of(i)])
    check_histogram(evaluated.Histograms("pixels")[-1], pixels_of(first))
    check_histogram(evaluated.Histograms("labels")[-1], [i % 3 for i in first])
    check_picture(evaluated.Images("in/image/0")[-1], 0)
    check_picture(evaluated.Images("in/image/1")[-1], 1)
    assert texts(evaluated, "note")[-1] == (step, "a **bold** try"), texts(evaluated, "note")


def check_hyperparameters(model_dir, steps):
    train = read(model_dir)
    table = "| name | value |\n|---|---|\n| name | a\\|b |\n| rate | 0.25 |\n| relu | false |\n| units | 3 |\n"
    assert texts(train, "hyperparameters") == [(step, table) for step in steps], texts(train, "hyperparameters")
    tag = "_hparams_/session_start_info"
    assert [e.step for e in train.Tensors(tag)] == steps
    plugin = train.SummaryMetadata(tag).plugin_data
    assert plugin.plugin_name == "hparams", plugin
    session = plugin_data_pb2.HParamsPluginData.FromString(plugin.content).session_start_info
    values = {name: getattr(value, value.WhichOneof("kind")) for name, value in session.hparams.items()}
    assert values == {"name": "a|b", "rate": 0.25, "relu": False, "units": 3}, values
    assert session.start_time_secs > 1e9, session


def check_connected(graph):
    """Names are unique and inputs are nodes; {name: node}."""
    nodes = {node.name: node for node in graph.node}
    assert len(nodes) == len(graph.node), sorted(node.name for node in graph.node)
    for node in graph.node:
        for name in node.input:
            assert name.split(":")[0] in nodes, (name, node)
    return nodes


def sizes(node):
    return [[dim.size for dim in shape.dim] for shape in node.attr["_output_shapes"].list.shape]


def check_graphs(model_dir, devices):
    model = check_connected(read(model_dir).Graph())
    dense = model["head/MatMul"]
    assert dense.op == "Matmul" and list(dense.input) == ["x", "head/kernel"], dense
    assert sizes(dense) == [[-1, 3]] and dense.attr["dtype"].type == types_pb2.DT_FLOAT, dense
    assert b"show_all.cc:" in dense.attr["source"].s, dense
    assert sizes(model["head/kernel"]) == [[4, 3]] and model["head/kernel"].op == "Variable", model["head/kernel"]
    assert model["output/loss"].input, model["output/loss"]
    assert not any("summary" in name for name in model), sorted(model)
    updated = [node.input[0] for node in model.values() if node.op == "Assign"]
    assert sorted(updated) == ["head/bias", "head/kernel"], updated

    compiled = check_connected(read(model_dir + "/compiled").Graph())
    names = {node.device for node in compiled.values() if node.device}
    assert names == {f"/job:worker/replica:0/task:0/device:CPU:{d}" for d in range(devices)}, names
    together = [node for name, node in compiled.items() if name.startswith("all_reduce/")]
    assert bool(together) == (devices > 1), sorted(compiled)
    for node in together:
        assert len({name.split("/")[0] for name in node.input}) == devices, node
    if devices > 1:
        groups = {name.split("/")[0] for name, node in compiled.items() if node.device}
        assert groups == {f"replica_{d}" for d in range(devices)}, groups
    kernels = [node for node in compiled.values() if "_XlaCluster" in node.attr]
    assert kernels and all(node.attr["ops"].s for node in kernels), sorted(compiled)
    # A picture and a histogram of one value are one output, and the kernel is none.
    outputs = {name for name in compiled if name.startswith("summary/")}
    assert outputs >= {"summary/x", "summary/mean_x", "summary/note"}, outputs
    assert len(outputs & {"summary/in", "summary/pixels"}) == 1 and "summary/kernel" not in outputs, outputs
    assert {name.split("/")[0] for name in compiled if "/" in name and not compiled[name].device} <= {
        "variable", "input", "scalar", "constant", "output", "summary", "all_reduce"}, sorted(compiled)
    assert "variable/head/kernel" in compiled and compiled["output/loss"].input, sorted(compiled)


def all_kinds(devices):
    model_dir = sample.fresh_dir(f"model_{devices}")
    kernels, loss = run(model_dir, devices, 25)
    check_training(model_dir, devices, kernels, [1, 11, 21])
    assert texts(read(model_dir), "note") == [(1, "a **bold** try")]
    check_evaluation(model_dir, devices, loss, 25)
    check_hyperparameters(model_dir, [1])
    check_graphs(model_dir, devices)
    # As if the process had died behind its last point and before its later checkpoints.
    for step in (20, 25):
        shutil.rmtree(f"{model_dir}/model.ckpt-{step}")
    os.remove(model_dir + "/DONE")
    again, loss = run(model_dir, devices, 35)
    assert min(again) == 16, again.keys()
    check_training(model_dir, devices, {**kernels, **again}, [1, 11, 16, 26])
    check_evaluation(model_dir, devices, loss, 35)
    check_hyperparameters(model_dir, [1, 16])
    check_graphs(model_dir, devices)


def a_cut_file():
    """What is whole before the cut is read."""
    model_dir = sample.fresh_dir("cut")
    kernels, _ = run(model_dir, 1, 25)
    (path,) = glob.glob(model_dir + "/events.out.tfevents.*")
    with open(path, "rb") as f:
        content = f.read()
    with open(path, "wb") as f:
        f.write(content[:-7])
    reader = read(model_dir)
    assert [e.step for e in reader.Scalars("loss")] == [1, 11, 21], reader.Scalars("loss")
    assert [e.step for e in reader.Histograms("x")] == [1, 11], reader.Histograms("x")
    check_histogram(reader.Histograms("kernel")[1], kernels[12])


xunit.run("summaries", [("one_device", lambda: all_kinds(1)), ("three_devices", lambda: all_kinds(3)),
                        ("a_cut_file", a_cut_file)])

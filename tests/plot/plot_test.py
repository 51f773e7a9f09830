"""tandem-plot on directories of real trainings: the points of the page are those that TensorBoard's reader finds, and a
headless Chromium draws them."""
import collections
import glob
import html
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("../tensorboard"))
import browser  # noqa: E402
import fashion  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402
from tensorboard.backend.event_processing import event_accumulator  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]
FIRST, SECOND = os.path.join(TMP, "runs", "first"), os.path.join(TMP, "runs", "second")
PAGE = os.path.join(TMP, "curves.html")


def plot(*arguments, expect=0):
    done = subprocess.run(["tools/tandem-plot", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60)
    assert done.returncode == expect, (arguments, done.returncode, done.stderr)
    return done


def train():
    data = fashion.make(sample.fresh_dir("data"))

    def run(model_dir, steps, *flags):
        sample.run("--model=zalando", "--optimizer=sgd", "--devices=cpu:0,cpu:1", "--batch_size=8",
                   "--save_checkpoints_steps=50", "--eval_examples=train:32", "--data_dir=" + data,
                   "--model_dir=" + model_dir, "--max_steps=%d" % steps, *flags)
    run(FIRST, 250)
    # As if the process had died behind its last point and before its last checkpoint: the next one repeats steps.
    shutil.rmtree(FIRST + "/model.ckpt-250")
    if os.path.exists(FIRST + "/DONE"):
        os.remove(FIRST + "/DONE")
    run(FIRST, 420)
    run(SECOND, 150, "--learning_rate=0.001")


def data_of(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|@import|url\(""", text), "the page must need no network"
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))


def curves(page):
    """{(run, part, tag): [(step, value)]} of a page's data."""
    return {(page["runs"][c["run"]], page["parts"][c["part"]], chart["tag"]): list(zip(c["x"], c["y"]))
            for chart in page["charts"] for c in chart["curves"]}


def tensorboard(directory):
    run = event_accumulator.EventAccumulator(directory, size_guidance={event_accumulator.SCALARS: 0})
    run.Reload()
    return {tag: [(e.step, e.value) for e in run.Scalars(tag)] for tag in run.Tags()["scalars"]}


def check(found, wanted, what):
    assert [step for step, _ in found] == [step for step, _ in wanted], (what, found, wanted)
    for (_, a), (_, b) in zip(found, wanted):
        assert abs(a - b) <= 1e-5 * (1e-3 + abs(b)), (what, found, wanted)


def points_of_tensorboard():
    plot(os.path.dirname(FIRST), "-o", PAGE)
    page = data_of(PAGE)
    assert page["runs"] == ["first", "second"] and page["parts"] == ["training", "eval"], page
    assert [c["tag"] for c in page["charts"]][:2] == ["loss", "accuracy"], page
    found = curves(page)
    for run, directory in (("first", FIRST), ("second", SECOND)):
        wanted = tensorboard(directory)
        assert {"loss", "examples/sec", "global_step/sec", "input_wait"} <= set(wanted), wanted
        for tag, points in wanted.items():
            check(found.pop((run, "training", tag)), points, (run, tag))
        with open(directory + "/eval/metrics.jsonl") as f:
            results = [json.loads(line) for line in f]
        for tag in ("loss", "accuracy"):
            by_step = {r["global_step"]: r[tag] for r in results}
            check(found.pop((run, "eval", tag)), sorted(by_step.items()), (run, "eval", tag))
    assert not found, found
    # The steps that were done twice are there once.
    assert [step for step, _ in curves(page)["first", "training", "loss"]] == [1, 101, 201, 301, 401]


def without_scripts():
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    static = text[:text.index("<script")]
    page = data_of(PAGE)
    assert static.count("<figure") == len(page["charts"])
    lines = re.findall(r'<path class="line c\d p\d" d="M[^"]+"/>', static[static.index("<main>"):])
    assert len(lines) == sum(len(c["curves"]) for c in page["charts"]), len(lines)
    assert static.count("<tr>") == 1 + len(page["runs"]), static


def in_a_browser():
    page = data_of(PAGE)
    total = sum(len(c["curves"]) for c in page["charts"])
    root, plain = browser.load(PAGE)
    assert int(root["curves"]) == total and int(root["charts"]) == len(page["charts"]), root
    plain = plain[plain.index("<main>"):plain.index("</main>")]
    # The script draws what the page had without it.
    with open(PAGE, encoding="utf-8") as f:
        static = f.read()
    for label in re.findall(r"<text [^>]*>([^<]+)</text>", static):
        assert ">%s</text>" % label in plain, label
    marks = re.findall(r'class="mark [^"]*" d="([^"]*)"', plain)
    assert marks and marks == re.findall(r'class="mark [^"]*" d="([^"]*)"', static[static.index("<main>"):]), marks

    root, smooth = browser.load(PAGE, "smoothing=0.9")
    assert int(root["curves"]) == total and "line raw" in smooth and "line raw" not in plain
    root, logarithmic = browser.load(PAGE, "scale=log")
    assert int(root["curves"]) == total and logarithmic != plain


def colours(path):
    """How often each colour is in a PNG file of 8-bit RGB or RGBA."""
    with open(path, "rb") as f:
        content = f.read()
    at, compressed, count = 8, b"", collections.Counter()
    while at < len(content):
        size, kind = struct.unpack(">I4s", content[at:at + 8])
        chunk = content[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", chunk[:10])
            assert depth == 8 and colour in (2, 6), (depth, colour)
        compressed += chunk if kind == b"IDAT" else b""
        at += size + 12
    rows, n = zlib.decompress(compressed), 3 if colour == 2 else 4
    above = bytes(width * n)
    for y in range(height):
        row = rows[y * (width * n + 1):(y + 1) * (width * n + 1)]
        line, form = bytearray(row[1:]), row[0]
        for x in range(width * n) if form else ():
            left, up, corner = (line[x - n], above[x], above[x - n]) if x >= n else (0, above[x], 0)
            guess = left + up - corner
            paeth = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            line[x] = (line[x] + (0, left, up, (left + up) // 2, paeth)[form]) & 255
        above = bytes(line)
        count.update(above[i:i + 3] for i in range(0, width * n, n))
    return count


def a_picture():
    """The browser paints curves of both runs."""
    picture = os.path.join(TMP, "page.png")
    browser.run(PAGE, "", "--window-size=1000,500", "--screenshot=" + picture)
    count = colours(picture)
    # The first run is blue, the second orange; at their edges lines are paler.
    blue = sum(n for (red, _, blue), n in count.items() if blue - red > 60)
    orange = sum(n for (red, _, blue), n in count.items() if red - blue > 60)
    assert blue > 500 and orange > 500, (blue, orange)


def to_standard_output():
    assert plot(FIRST).stdout.startswith("<!doctype html>")
    # A terminal is no place for it.
    master, slave = pty.openpty()
    done = subprocess.run(["tools/tandem-plot", FIRST], stdout=slave, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(slave)
    os.close(master)
    assert done.returncode == 2 and "add -o curves.html" in done.stderr, done


def mistakes():
    empty = sample.fresh_dir("empty")
    for arguments, code, message in (([], 2, "usage: tandem-plot MODEL_DIR"),
                                     (["/nowhere"], 66, "/nowhere does not exist"),
                                     ([FIRST, empty], 66, "empty has no records of a training: looked for"),
                                     ([FIRST + "/checkpoint"], 2, "is a file; give the folder"),
                                     ([FIRST, "-o", "/nowhere/x.html"], 2, "there is no folder /nowhere; make it"),
                                     ([FIRST, "-o", empty], 2, "this is a folder; add the name of a file"),
                                     ([FIRST, "--smoothing=1"], 2, "unknown flag --smoothing")):
        done = plot(*arguments, expect=code)
        assert message in done.stderr and not done.stdout, (arguments, done.stderr)
    plot(FIRST, "-o", "/dev/null")
    assert not os.path.isfile("/dev/null"), "a device was replaced by a file"
    assert "/dev/full: cannot write: No space left" in plot(FIRST, "-o", "/dev/full", expect=74).stderr
    with open("/dev/full", "w") as full:
        done = subprocess.run(["tools/tandem-plot", FIRST], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 74 and "standard output" in done.stderr, done


def damage():
    """The page has what is whole, and names the file; the exit code says that it is not all."""
    copy = os.path.join(TMP, "damaged")
    shutil.copytree(FIRST, copy)
    events = sorted(glob.glob(copy + "/*tfevents*"))[0]
    with open(events, "r+b") as f:
        content = bytearray(f.read())
        content[len(content) // 2] ^= 255
        f.seek(0)
        f.write(content)
    done = plot(copy, "-o", os.path.join(TMP, "damaged.html"), expect=65)
    assert events + ": at byte " in done.stderr and "The page was written with what is whole" in done.stderr, done.stderr
    with open(os.path.join(TMP, "damaged.html"), encoding="utf-8") as f:
        assert html.escape(events) + ": at byte " in f.read()
    assert curves(data_of(os.path.join(TMP, "damaged.html")))[copy, "training", "loss"][-1][0] == 401


xunit.run("plot", [("train", train), ("points_of_tensorboard", points_of_tensorboard), ("without_scripts", without_scripts),
                   ("in_a_browser", in_a_browser), ("a_picture", a_picture), ("to_standard_output", to_standard_output),
                   ("mistakes", mistakes), ("damage", damage)])

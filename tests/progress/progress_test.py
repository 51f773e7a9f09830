"""The progress line of a training whose stderr is a terminal, here a pseudo-terminal, and that there is none otherwise."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading

sys.path.insert(0, os.path.abspath("tests/support"))
import fashion  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]
CLEAR = "\033[K"
EXAMPLES, BATCH = 1000, 100  # with two replicas an epoch is five steps
STEPS = 200  # take many times the interval between two lines, also on a fast machine


def flags(data, steps):
    return ["--model=zalando", "--optimizer=sgd", "--devices=cpu:0,cpu:1", "--batch_size=%d" % BATCH,
            "--eval_examples=train:32", "--data_dir=" + data, "--max_steps=%d" % steps,
            "--model_dir=" + sample.fresh_dir("model_%d" % steps)]


def on_a_terminal(command, columns):
    """What a terminal of so many columns gets from the stderr of a command that must succeed."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    text = bytearray()

    def read():
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:  # the other side is closed
                return
            if not chunk:
                return
            text.extend(chunk)
    reader = threading.Thread(target=read)
    reader.start()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=slave, timeout=300)
    os.close(slave)
    reader.join()
    os.close(master)
    assert done.returncode == 0, text[-3000:]
    return text.decode()


def lines_of(text):
    return re.findall(r"\033\[K([^\r\n\033]+)\r(?!\n)", text)


def a_line_on_a_terminal():
    data = fashion.make(sample.fresh_dir("data"), train=EXAMPLES)
    text = on_a_terminal([sample.BINARY, *flags(data, STEPS)], columns=100)
    lines = lines_of(text)
    assert lines, text[-3000:]
    before = 0
    for line in lines:
        found = re.fullmatch(r"epoch (\d+)/40  step (\d+)/200  loss \d+\.\d{4}  [\d.]+ examples/s(  input wait \d+ %)?  ETA (\S+)", line)
        assert found, line
        epoch, step = int(found[1]), int(found[2])
        assert epoch == (step + 4) // 5 and before < step <= STEPS, line
        assert found[4] == "-" or re.fullmatch(r"\d+:\d\d", found[4]), line
        before = step
    # Where the line is not known to be short, a line of the log clears what is left of it.
    assert CLEAR + "\r\n" in text or CLEAR + "\n" in text, text[-3000:]


def a_narrow_terminal():
    data = fashion.make(sample.fresh_dir("data"), train=EXAMPLES)
    lines = lines_of(on_a_terminal([sample.BINARY, *flags(data, STEPS)], columns=24))
    assert lines and all(re.fullmatch(r"step \d+/200(  ETA \S+)?", line) for line in lines), lines


def nothing_without_a_terminal():
    data = fashion.make(sample.fresh_dir("data"), train=EXAMPLES)
    text = sample.run(*flags(data, 10))
    assert "examples/s  " not in text and "\033" not in text, text


xunit.run("progress", [("a_line_on_a_terminal", a_line_on_a_terminal), ("a_narrow_terminal", a_narrow_terminal),
                       ("nothing_without_a_terminal", nothing_without_a_terminal)])

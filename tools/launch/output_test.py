"""What tandem-launch makes of the output of real processes, and what they find as their input."""
import os
import re
import signal
import subprocess
import sys
import time

sys.path[:0] = [os.path.abspath("tests/support"), os.path.abspath("tools/launch")]
import xunit  # noqa: E402
from launching import Launch, PATIENCE, shell, wait_for  # noqa: E402


WRITER = r"""
import os, sys
rank = os.environ["RANK"]
for i in range(20000):
    print(f"out {i} " + rank * (i % 200), flush=i % 7 == 0)
    print(f"err {i} " + rank * (i % 99), file=sys.stderr)
sys.stdout.flush()
sys.stdout.buffer.write(b"\xff\0\x1b\n" + b"x" * 200000 + b"\nlast without a newline")
"""


def lines_stay_whole(together=False):
    streams = {"stderr": subprocess.STDOUT} if together else {}
    launch = Launch("-n 4 --environment=torchrun", sys.executable, "-c", WRITER, **streams)
    out, err = launch.process.communicate(timeout=PATIENCE)
    assert launch.process.returncode == 0
    seen = {}
    for name, text in (("out", out), ("err", err or b"")):
        for line in text.split(b"\n")[:-1]:
            match = re.fullmatch(rb"\[worker (\d)\] (.*)", line, re.DOTALL)
            assert match, line[:200]
            numbered = re.fullmatch(rb"(out|err) (\d+) (\d*)", match[2])
            if numbered:
                stream, i, body = numbered[1].decode(), int(numbered[2]), numbered[3]
                assert together or stream == name
                assert body == match[1] * (i % (200 if stream == "out" else 99)), line
                assert seen.get((match[1], stream), -1) == i - 1, line  # in order, none missing
                seen[match[1], stream] = i
            else:
                seen.setdefault((match[1], "rest"), []).append(match[2])
    for rank in (b"0", b"1", b"2", b"3"):
        assert seen[rank, "out"] == seen[rank, "err"] == 19999
        rest = seen[rank, "rest"]
        assert rest[0] == b"\xff\0\x1b" and rest[-1] == b"last without a newline"
        assert b"".join(rest[1:-1]) == b"x" * 200000


def lines_of_both_streams_stay_whole():
    lines_stay_whole(together=True)


def without_prefix():
    assert shell("-n 1 --no_prefix", "echo one; printf two").expect(0).out == "one\ntwo\n"


def standard_input_is_empty():
    read, write = os.pipe()
    shell("-n 2", "cat; echo done", stdin=read).expect(0, "[worker 0] done", "[worker 1] done")
    os.close(read)
    os.close(write)


def a_closed_output_ends_all():
    launch = Launch("-n 2", "sh", "-c", "echo started; exec sleep 1000")
    launch.process.stdout.readline()
    launch.process.stdout.close()
    assert launch.process.wait(timeout=PATIENCE) == 74
    assert launch.running() == []


def output_that_nobody_reads_delays_no_signal():
    launch = Launch("-n 2 --grace_seconds=0.2", "yes", "x" * 100)
    launch.process.stdout.readline()
    time.sleep(0.3)
    launch.process.send_signal(signal.SIGTERM)
    wait_for(lambda: not launch.running(), "the tasks are not stopped")
    launch.process.send_signal(signal.SIGTERM)  # the last lines are dropped
    assert launch.process.wait(timeout=PATIENCE) == 143


if __name__ == "__main__":
    xunit.run("output_test", [(case.__name__, case) for case in (
        lines_stay_whole, lines_of_both_streams_stay_whole, without_prefix, standard_input_is_empty,
        a_closed_output_ends_all, output_that_nobody_reads_delays_no_signal)])

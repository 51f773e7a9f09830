"""tools/build/progress on lines that Bazel prints, with a clock of the test's own."""
import importlib.machinery
import importlib.util
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402

PATH = os.path.abspath("tools/build/progress")


def module():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("progress", PATH)
    loaded = importlib.util.module_from_spec(importlib.util.spec_from_loader("progress", loader))
    loader.exec_module(loaded)
    return loaded


def printed(lines, terminal=False, least_actions=0):
    """What is printed of (time, line) pairs, as (time, text) pairs."""
    now, out = [0], []
    progress = module().Progress("train", lambda data: out.append((now[0], data.decode())), lambda: now[0], terminal,
                                 least_actions)
    for now[0], line in lines:
        progress.line(line.encode() + b"\n")
    return out


def equal(actual, wanted):
    assert actual == wanted, f"\n{actual}\n instead of\n{wanted}"


def a_line_every_15_seconds():
    lines = [(t, "[%d / 400] Compiling base/env.cc; 2s local" % t) for t in range(0, 40, 5)]
    equal(printed(lines), [(15, "train: 3 % built, 15 of 400 actions, 15 s\n"),
                           (30, "train: 7 % built, 30 of 400 actions, 30 s, about 6 min left\n")])


def thousands():
    lines = [(0, "[0 / 1] [Prepa] BazelWorkspaceStatusAction stable-status.txt"),
             (190, "[420 / 1,234] Compiling a.cc; 12s local ... (2 actions running)"),
             (3900, "[1,210 / 1,234] Compiling b.cc"), (3930, "[1,234 / 1,234] Linking c")]
    equal(printed(lines), [(190, "train: 34 % built, 420 of 1,234 actions, 3 min 10 s, about 6 min left\n"),
                           (3900, "train: 98 % built, 1,210 of 1,234 actions, 1 h 5 min, about 1 min left\n"),
                           (3930, "train: 100 % built, 1,234 of 1,234 actions, 1 h 5 min\n")])


def the_estimate_begins_with_what_was_done_then():
    # Bazel reads BUILD files for 20 seconds and finds 100 of 300 actions done: of 200, 20 take 10 seconds.
    lines = [(0, "Loading: "), (20, "[100 / 300] checking cached actions"), (30, "[109 / 300] Compiling a.cc"),
             (45, "[120 / 300] Compiling a.cc"), (60, "[290 / 300] Compiling a.cc")]
    equal([text for _, text in printed(lines)], ["train: 33 % built, 100 of 300 actions, 20 s\n",
                                                 "train: 40 % built, 120 of 300 actions, 45 s, about 4 min left\n",
                                                 "train: 96 % built, 290 of 300 actions, 1 min 0 s, about 10 s left\n"])


def actions_that_bazel_has_not_found_count():
    lines = [(0, "[0 / 1] [Prepa] BazelWorkspaceStatusAction stable-status.txt"), (20, "[100 / 110] Compiling a.cc"),
             (200, "[1,100 / 1,110] Compiling b.cc"), (220, "[1,110 / 1,110] Linking c")]
    equal(printed(lines, least_actions=1000), [(20, "train: 10 % built, 100 of 1,000 actions, 20 s, about 3 min left\n"),
                                               (200, "train: 99 % built, 1,100 of 1,110 actions, 3 min 20 s, about 10 s left\n"),
                                               (220, "train: 100 % built, 1,110 of 1,110 actions, 3 min 40 s\n")])


def tests_are_counted():
    lines = [(0, "[10 / 111] [Prepa] Testing //base:env_test"),
             (20, "[11 / 111] 1 / 101 tests; Testing //base:env_test; 1s local"),
             (40, "[31 / 111] 21 / 101 tests, 2 failed; Testing //base:b_test; 3s local ... (2 actions running)")]
    equal(printed(lines), [(20, "train: 0 % tested, 1 of 101 tests, 20 s\n"),
                           (40, "train: 20 % tested, 21 of 101 tests, 2 failed, 40 s, about 1 min left\n")])


def reading_build_files():
    lines = [(0, "Loading: "), (1, "Loading: 0 packages loaded"), (1, "    currently loading: base ... (70 packages)"),
             (16, "Analyzing: 670 targets (1,012 packages loaded, 64 targets configured)")]
    equal(printed(lines), [(16, "train: reading BUILD files, 1,012 packages, 16 s\n")])


def other_lines_pass():
    lines = ["INFO: Analyzed 3 targets (4 packages loaded, 30 targets configured).", "", "[  PASSED  ] 3 tests.",
             "[----------] Global test environment tear-down", "[1 / 2", "[3/10] a build of somebody else",
             "[12 / 10] more than all", "a.cc:[1 / 2] warning", "    currently loading: without a line before",
             "ERROR: base/BUILD:3:1: no such target", "//base:env_test   PASSED in 0.1s", "\ttab \x1b[1m \u00e9 "]
    equal(printed([(100, line) for line in lines]), [(100, line + "\n") for line in lines])


def a_terminal_keeps_one_line():
    lines = [(0, "[0 / 10] Compiling a.cc"), (3, "[1 / 10] Compiling a.cc"), (5, "[2 / 10] Compiling a.cc"),
             (6, "a.cc:1: warning"), (7, "a.cc:2: warning"), (10, "[4 / 10] Compiling a.cc")]
    clear = "\r\x1b[K"
    equal(printed(lines, terminal=True), [
        (0, "train: 0 % built, 0 of 10 actions, 0 s"), (5, clear),
        (5, "train: 20 % built, 2 of 10 actions, 5 s, about 20 s left"), (6, clear), (6, "a.cc:1: warning\n"),
        (7, "a.cc:2: warning\n"), (10, "train: 40 % built, 4 of 10 actions, 10 s, about 20 s left")])


def start():
    return subprocess.Popen([PATH, "train"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def lines_come_through_at_once():
    with start() as process:
        for line in (b"[0 / 10] Compiling a.cc\nfirst\n", b"bytes \xff\x00 that are no UTF-8\n"):
            process.stdin.write(line)
            process.stdin.flush()
            equal(process.stdout.readline(), line.rpartition(b".cc\n")[2])
        process.stdin.write(b"no end of line")
        process.stdin.close()  # closed input is the end
        equal(process.stdout.read(), b"no end of line")
        equal(process.wait(), 0)


def ctrl_c_is_left_to_bazel():
    with start() as process:
        process.stdin.write(b"before\n")
        process.stdin.flush()
        equal(process.stdout.readline(), b"before\n")
        process.send_signal(signal.SIGINT)
        process.stdin.write(b"Bazel caught interrupt signal\n")
        process.stdin.close()
        equal(process.stdout.read(), b"Bazel caught interrupt signal\n")
        equal(process.wait(), 0)


def closed_output_ends_it():
    with start() as process:
        process.stdout.close()
        process.stdin.write(b"line\n")
        process.stdin.flush()
        equal(process.wait(), -signal.SIGPIPE)


xunit.run("progress", [(f.__name__, f) for f in (
    a_line_every_15_seconds, thousands, the_estimate_begins_with_what_was_done_then,
    actions_that_bazel_has_not_found_count, tests_are_counted, reading_build_files, other_lines_pass, a_terminal_keeps_one_line, lines_come_through_at_once,
    ctrl_c_is_left_to_bazel, closed_output_ends_it)])

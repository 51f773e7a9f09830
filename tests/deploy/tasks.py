"""Processes that train together on this machine, started with nothing but the environment that a cluster gives them."""
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tests/cluster"))
import fashion  # noqa: E402
import sample  # noqa: E402
import workers  # noqa: E402

free_ports = workers.free_ports
fresh_dir = sample.fresh_dir

# Codes that the same command ends with again; all others but 0 are worth another start.
PERMANENT = {2, 65, 66, 70, 74}
AGAIN = {1, 75, 129, 130, 143}


def documented_exit_codes():
    with open("docs/reference/exit_codes.md", encoding="utf-8") as page:
        return {int(code) for code in re.findall(r"^\| (\d+) \| `kExit", page.read(), re.M)}


def small_data():
    return fashion.make(fresh_dir("data"), train=160, test=20)


def quick_flags(data):
    """Flags that stand behind those of a manifest and take their place. Pods share no memory, so TCP."""
    return [f"--data_dir={data}", "--batch_size=8", "--shuffle_buffer=64", "--threads=1", "--max_steps=6",
            "--save_checkpoints_steps=5", "--communication=tcp"]


def saved_step(model_dir):
    with open(os.path.join(model_dir, "checkpoint"), encoding="utf-8") as f:
        return int(re.search(r"model\.ckpt-(\d+)", f.read())[1])


def base_environment():
    """What no cluster sets: where programs are, and the options of sanitizers (tools/ci/sanitize)."""
    passed = {name: os.environ[name] for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "OMP_NUM_THREADS")
              if name in os.environ}
    return {"PATH": "/usr/bin:/bin", "TMPDIR": os.environ["TEST_TMPDIR"], **passed}


class Tasks:
    """`commands`: {name: (command, environment)}."""

    def __init__(self, commands):
        self.directory = fresh_dir("logs")
        self.processes = {}
        for name, (command, environment) in commands.items():
            with open(self.log(name), "wb") as log:
                self.processes[name] = subprocess.Popen(
                    command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                    env={**base_environment(), **environment})

    def log(self, name):
        return os.path.join(self.directory, name + ".log")

    def output(self, name):
        with open(self.log(name), errors="replace", encoding="utf-8") as f:
            return f.read()

    def tails(self):
        return "\n".join(f"--- {name}\n{self.output(name)[-1500:]}" for name in self.processes)

    def wait_for(self, name, text, timeout=200):
        deadline = time.monotonic() + timeout
        while text not in self.output(name):
            assert time.monotonic() < deadline and self.processes[name].poll() is None, \
                f"no {text!r} of {name}\n{self.tails()}"
            time.sleep(0.02)

    def expect(self, codes, timeout=200):
        """`codes`: of all by name, or one for all. Processes that do not end are killed."""
        deadline = time.monotonic() + timeout
        try:
            got = {name: p.wait(max(0, deadline - time.monotonic())) for name, p in self.processes.items()}
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not all end\n{self.tails()}") from None
        finally:
            for process in self.processes.values():
                if process.poll() is None:
                    process.kill()
                    process.wait()
        wanted = codes if isinstance(codes, dict) else dict.fromkeys(got, codes)
        assert got == wanted, f"exit codes {json.dumps(got)} instead of {json.dumps(wanted)}:\n{self.tails()}"

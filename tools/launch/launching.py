"""A running tandem-launch, for tests."""
import os
import subprocess
import time
import uuid

TMP = os.environ["TEST_TMPDIR"]
LAUNCH = os.path.abspath("tools/tandem-launch")
CLUSTER = os.path.abspath("tools/tandem-cluster")
PATIENCE = 60  # seconds, for what takes less than one


def file(name):
    return os.path.join(TMP, name + uuid.uuid4().hex)


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


class Launch:
    """A running launcher. All that it starts, at whatever depth, carries its mark in the environment."""

    def __init__(self, flags, *command, **options):
        self.mark = "TANDEM_TEST_MARK=" + uuid.uuid4().hex
        name, _, value = self.mark.partition("=")
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        self.process = subprocess.Popen([LAUNCH] + flags.split() + ["--", *command],
                                        env={**os.environ, name: value}, **options)

    def running(self):
        """Pids of what it has started and is still there."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as environ:
                    if self.mark.encode() in environ.read() and int(pid) != self.process.pid:
                        found.append(int(pid))
            except OSError:  # it has ended, or is not ours
                pass
        return found

    def wait(self):
        """Exit code, output and errors; nothing may be left."""
        out, err = self.process.communicate(timeout=PATIENCE)
        self.code, self.out, self.err = self.process.returncode, (out or b"").decode(), (err or b"").decode()
        assert self.running() == [], f"left running: {self.running()}\n{self.err}"
        return self

    def expect(self, code, *texts):
        assert self.code == code, f"exit code {self.code}, not {code}: {self.out}\n{self.err}"
        for text in texts:
            assert text in self.err + self.out, f"no {text!r} in: {self.out}\n{self.err}"
        return self


def run(flags, *command, **options):
    return Launch(flags, *command, **options).wait()


def shell(flags, script, **options):
    """With torchrun's variables, so that a script has $RANK."""
    return run("--environment=torchrun " + flags, "sh", "-c", script, **options)


def started(flags, script, ready, **options):
    """A launcher whose tasks have made `ready` files with names from $READY on."""
    place = file("ready")
    os.environ["READY"] = place
    launch = Launch("--environment=torchrun " + flags, "sh", "-c", script, **options)
    wait_for(lambda: count(place) >= ready, "the tasks do not start")
    launch.ready = place
    return launch


def count(place):
    return sum(name.startswith(os.path.basename(place)) for name in os.listdir(TMP))

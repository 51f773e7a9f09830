"""Runs the fashion_mnist sample as several workers of a cluster on this machine."""
import json
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import sample  # noqa: E402

# Of checkpoints: what the number of workers must not change. The best evaluation follows the clock.
FILES = ("variables.safetensors", "slots.safetensors", "state.json")


def free_ports(count):
    """Ports of 127.0.0.1 that nobody listens at."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def tf_config(ports, index):
    return json.dumps({"cluster": {"worker": [f"127.0.0.1:{p}" for p in ports]},
                       "task": {"type": "worker", "index": index}})


class Workers:
    """Started by the constructor; every worker's output goes to a file of its own."""

    def __init__(self, name, count, flags, own_flags=None, environments=None, prefixes=None):
        """By rank: `own_flags`, more flags; `environments`, in place of a TF_CONFIG; `prefixes`, of the command."""
        self.directory = sample.fresh_dir("workers_" + name)
        ports = free_ports(count)
        self.processes = []
        for rank in range(count):
            environment = environments[rank] if environments else {"TF_CONFIG": tf_config(ports, rank)}
            more = (own_flags or {}).get(rank, [])
            prefix = prefixes[rank] if prefixes else []
            with open(self.log(rank), "wb") as log:
                self.processes.append(subprocess.Popen(
                    [*prefix, sample.BINARY, *flags, *more], stdout=log, stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL, env={**os.environ, **environment}))

    def log(self, rank):
        return os.path.join(self.directory, f"{rank}.log")

    def output(self, rank):
        with open(self.log(rank), errors="replace") as f:
            return f.read()

    def wait(self, timeout=300):
        """Exit codes by rank; processes that do not end are killed."""
        try:
            return [process.wait(timeout) for process in self.processes]
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not all workers end: {[p.poll() for p in self.processes]}\n{self.tails()}") from None
        finally:
            self.kill()

    def expect(self, *codes, timeout=300):
        got = self.wait(timeout)
        assert got == list(codes), f"exit codes {got} instead of {list(codes)}:\n{self.tails()}"

    def tails(self):
        return "\n".join(f"--- rank {r}\n{self.output(r)[-1500:]}" for r in range(len(self.processes)))

    def kill(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()


def contents(model_dir, step):
    """The bytes of a checkpoint's files, without the record of the best evaluation."""
    result = {}
    for name in FILES:
        with open(os.path.join(model_dir, f"model.ckpt-{step}", name), "rb") as f:
            result[name] = f.read()
    state = json.loads(result["state.json"])
    state["extra"].pop("best", None)
    result["state.json"] = json.dumps(state, sort_keys=True)
    return result


def assert_same(expected, got, what):
    for name in FILES:  # slots may be none
        assert len(expected[name]) > (0 if name == "slots.safetensors" else 20), f"{what}: {name} is empty"
        assert expected[name] == got[name], f"{what}: {name} differs"

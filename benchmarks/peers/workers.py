"""Worker processes: start, command, listen, with limits of time."""
import os
import queue
import signal
import socket
import subprocess
import threading
import time

from results import parse_line

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PEERS_DIR = os.path.join(ROOT, ".peers")


def free_ports(count):
    """Ports of 127.0.0.1 that nobody listens at."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class WorkerFailed(Exception):
    """Why a worker takes no further part."""


class Worker:
    """One process that speaks the protocol. `record(message, seconds since start)` is called for all it says;
    `variables`: of its environment, besides those of this process."""

    def __init__(self, name, command, log, record, variables=None):
        self.name, self._record, self._log = name, record, log
        os.makedirs(os.path.dirname(log), exist_ok=True)
        # What peers compile is kept from run to run. Workers share a GPU: none may take most of its memory at its start,
        # nor keep it in pieces.
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": os.path.join(PEERS_DIR, "inductor"),
                       "JAX_COMPILATION_CACHE_DIR": os.path.join(PEERS_DIR, "jax_cache"),
                       "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                       "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
                       "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "PYTHONDONTWRITEBYTECODE": "1",
                       **(variables or {})}
        self._start = time.monotonic()
        with open(log, "w", encoding="utf-8") as errors:
            # A session of its own: compilers that a worker starts end with it.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                             text=True, env=environment, start_new_session=True)
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put((time.monotonic() - self._start, line))
        self._lines.put(None)

    def wait_for(self, event, patience):
        """The message of this kind; raises WorkerFailed after `patience` seconds or when the process ends."""
        message = self.poll(event, patience)
        if message is None:
            raise WorkerFailed(f"no \"{event}\" within {patience:.0f} s")
        return message

    def poll(self, event, seconds):
        """The same, but None when the time is over."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                item = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return None
            if item is None:
                raise WorkerFailed(f"ended with {self._process.wait()}: {self._last_words()}")
            message = parse_line(item[1])
            if message is None:
                continue
            self._record(message, item[0])
            if message["event"] == event:
                return message

    def _last_words(self):
        with open(self._log, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if line.strip()]
        return lines[-1][:160] if lines else "without a word"

    def run(self, steps, patience):
        self.begin_run(steps)
        return self.wait_for("ran", patience)["seconds_per_step"]

    def begin_run(self, steps):
        try:
            self._process.stdin.write(f"run {steps}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # wait_for says how it ended

    def ask_to_end(self):
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass

    def stop(self):
        """Asks the process to end, and ends it with all it started when it does not."""
        self.ask_to_end()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()


class Cluster:
    """Workers that train together: what one of them does, all do."""

    def __init__(self, workers):
        self.workers = workers

    def wait_for(self, event, patience):
        """The messages of all; raises WorkerFailed as soon as one ends."""
        deadline = time.monotonic() + patience
        messages = {}
        while len(messages) < len(self.workers):
            for number, worker in enumerate(self.workers):
                if number in messages:
                    continue
                message = worker.poll(event, 0.2)
                if message is not None:
                    messages[number] = message
                elif time.monotonic() > deadline:
                    raise WorkerFailed(f"no \"{event}\" of worker {number} within {patience:.0f} s")
        return [messages[number] for number in range(len(self.workers))]

    def run(self, steps, patience):
        """Seconds of a step, of the worker that took longest."""
        for worker in self.workers:
            worker.begin_run(steps)
        return max(message["seconds_per_step"] for message in self.wait_for("ran", patience))

    def stop(self):
        for worker in self.workers:
            worker.ask_to_end()
        for worker in self.workers:
            worker.stop()

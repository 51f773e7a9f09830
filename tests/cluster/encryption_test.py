"""TLS between the tasks of a job, with certificates that the commands of docs/guide/cluster.md make."""
import json
import os
import re
import select
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.abspath("tests/support"))
import fashion  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

sys.path.insert(0, os.path.abspath("tests/cluster"))
import workers  # noqa: E402

GUIDE = os.path.abspath("docs/guide/cluster.md")
LAUNCH = os.path.abspath("tools/tandem-launch")
CLUSTER = os.path.abspath("tools/tandem-cluster")
LINEAR = os.path.abspath("samples/linear_estimator")


def shell_blocks():
    """Of the section Encryption."""
    with open(GUIDE, encoding="utf-8") as page:
        section = re.search(r"^## Encryption\n(.*?)^## ", page.read(), re.M | re.S)[1]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)


def variables():
    """What the guide's commands set, after they have made the files in a new folder."""
    make, export = shell_blocks()
    done = subprocess.run(["bash", "-euc", f"{make}\n{export}\nenv -0"], cwd=sample.fresh_dir("tls"),
                          capture_output=True, text=True, check=True)
    found = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if entry.startswith("TANDEM_TLS_"))
    assert sorted(found) == ["TANDEM_TLS_CA", "TANDEM_TLS_CERTIFICATE", "TANDEM_TLS_KEY", "TANDEM_TLS_SERVER_NAME"]
    return found


def run(command, environment, expect=0, timeout=200):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", timeout=timeout, env={**os.environ, **environment})
    assert done.returncode == expect, f"exit code {done.returncode} instead of {expect}\n{done.stdout[-4000:]}"
    return done.stdout


def the_guides_commands_make_what_a_job_needs():
    output = run([LAUNCH, "-n", "2", "--", CLUSTER], variables())
    for task in ("worker 0", "worker 1"):
        assert re.search(rf"^\[{task}\] TLS: certificate \S+/tls/job.crt for my-job, valid until .*/tls/ca.crt; those of "
                         r"others name my-job$", output, re.M), output


def parameter_servers():
    output = run([LAUNCH, "-n", "2", "--ps=2", "--evaluator", "--", LINEAR, "--devices=cpu:0",
                  "--model_dir=" + sample.fresh_dir("served")], variables())
    assert "2 parameter servers. TLS encrypts what they send to each other." in output, output[:4000]
    found = re.search(r"\[evaluator 0\] y = ([\d.]+) x \+ ([\d.]+)", output)
    assert found and abs(float(found[1]) - 10) < 0.01 and abs(float(found[2]) - 5) < 0.01, output[-4000:]


def workers_together():
    """The bits are those without TLS, and the chief says what is not encrypted."""
    directory = fashion.make(sample.fresh_dir("data"), train=64, test=20)
    kept = {}
    for name, environment in (("plain", {}), ("encrypted", variables())):
        for communication in ("tcp", "shared_memory"):
            model_dir = sample.fresh_dir(f"{name}_{communication}")
            output = run([LAUNCH, "-n", "2", "--", sample.BINARY, "--model=mnist", "--optimizer=adam", "--devices=cpu:0",
                          "--batch_size=8", "--max_steps=4", "--shuffle_buffer=64", "--communication=" + communication,
                          "--data_dir=" + directory, "--model_dir=" + model_dir], environment)
            kept[name, communication] = workers.contents(model_dir, 4)
            warnings = re.findall(r"^\[(worker \d)\] W.* It does not encrypt gradients", output, re.M)
            assert warnings == (["worker 0"] if (name, communication) == ("encrypted", "tcp") else []), output[:4000]
            stays = "TLS encrypts where the workers meet; gradients and values stay on this machine." in output
            assert stays == ((name, communication) == ("encrypted", "shared_memory")), output[:4000]
    for communication in ("tcp", "shared_memory"):
        workers.assert_same(kept["plain", communication], kept["encrypted", communication], communication)


def mistakes_end_the_job():
    """With 2, which launchers do not start again."""
    good = variables()
    nothing = {name: "" for name in good}
    cases = [({**good, "TANDEM_TLS_CA": ""}, "TANDEM_TLS_CA is not"),
             ({**good, "TANDEM_TLS_KEY": "/nothing"}, "TLS: /nothing: cannot open: No such file or directory"),
             ({**good, "TANDEM_TLS_SERVER_NAME": "your-job"}, "is for my-job and not for the server name your-job"),
             ({**nothing, "TANDEM_TLS_SERVER_NAME": "my-job"}, "TANDEM_TLS_SERVER_NAME is set, and")]
    for servers in ([], ["--ps=1"]):
        for environment, text in cases:
            output = run([LAUNCH, "-n", "2", "--max_restarts=3", *servers, "--", LINEAR, "--devices=cpu:0",
                          "--model_dir=" + sample.fresh_dir("mistake")], environment, expect=2)
            assert text in output, output[-4000:]


class Forwarder(threading.Thread):
    """Passes on what comes to a port of its own, and keeps all the bytes."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self.target, self.bytes, self.listening = target, bytearray(), socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.start()

    def run(self):
        other = {}
        while True:
            for ready in select.select([self.listening, *other], [], [])[0]:
                if ready is self.listening:
                    here = ready.accept()[0]
                    try:
                        there = socket.create_connection(("127.0.0.1", self.target))
                    except OSError:
                        here.close()
                        continue
                    other[here], other[there] = there, here
                elif ready in other:
                    try:
                        data = ready.recv(1 << 16)
                        self.bytes += data
                        other[ready].sendall(data)
                    except OSError:
                        data = b""
                    if not data:
                        peer = other.pop(ready)
                        other.pop(peer)
                        ready.close()
                        peer.close()


def nothing_readable_goes_to_a_server():
    """A worker and a server, with somebody between them."""
    for environment in ({}, variables()):
        chief, server = workers.free_ports(2)
        between = Forwarder(server)
        processes = []
        for task, port in (("ps", server), ("chief", between.port)):
            description = json.dumps({"cluster": {"chief": [f"127.0.0.1:{chief}"], "ps": [f"127.0.0.1:{port}"]},
                                      "task": {"type": task, "index": 0}})
            processes.append(subprocess.Popen(
                [LINEAR, "--devices=cpu:0", "--epochs=1", "--model_dir=" + sample.fresh_dir("wire_" + task)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env={**os.environ, **environment, "TF_CONFIG": description}))
        outputs = [process.communicate(timeout=200)[0] for process in processes]
        assert [process.returncode for process in processes] == [0, 0], outputs
        sent = bytes(between.bytes)
        assert len(sent) > 2000, len(sent)
        # HTTP/2's first line, the name of the call, and names of variables.
        for text in (b"PRI * HTTP/2.0", b"dense/kernel", b"dense/bias"):
            assert (text in sent) == (not environment), (text, bool(environment))


xunit.run("encryption", [(f.__name__, f) for f in (
    the_guides_commands_make_what_a_job_needs, parameter_servers, workers_together, mistakes_end_the_job,
    nothing_readable_goes_to_a_server)])

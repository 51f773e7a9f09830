"""The samples with parameter servers, and under the other strategies, by tandem-launch."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import fashion  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

sys.path.insert(0, os.path.abspath("tests/cluster"))
import workers  # noqa: E402

LAUNCH = os.path.abspath("tools/tandem-launch")
LINEAR = os.path.abspath("samples/linear_estimator")
DUMP = os.path.abspath("tools/tandem-dump")


def launch(flags, program):
    done = subprocess.run([LAUNCH, *flags, "--", *program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=200)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-4000:]}"
    return done.stdout


def check_line(output, task):
    found = re.search(r"\[%s\] y = ([\d.]+) x \+ ([\d.]+)" % re.escape(task), output)
    assert found, output[-4000:]
    assert abs(float(found.group(1)) - 10) < 0.01 and abs(float(found.group(2)) - 5) < 0.01, found.group(0)


def linear(name, launcher, strategy, task, devices="cpu:0"):
    def test():
        output = launch(launcher, [LINEAR, f"--devices={devices}", f"--strategy={strategy}",
                                   "--model_dir=" + sample.fresh_dir("linear_" + name)])
        check_line(output, task)
        return output
    return test


def linear_counts_all_steps():
    output = launch(["-n", "2", "--ps=2"], [LINEAR, "--devices=cpu:0,cpu:1", "--epochs=20",
                                           "--model_dir=" + sample.fresh_dir("linear_steps")])
    # 1000 points in batches of 10, two of which make a step of a worker.
    assert "global_step = 1000," in output, output[-4000:]
    assert "2 workers, each with steps of its own, and 2 parameter servers." in output, output[:4000]


def an_evaluator_evaluates():
    """The chief does not, where there is one."""
    output = launch(["-n", "2", "--ps=1", "--evaluator"],
                    [LINEAR, "--devices=cpu:0", "--model_dir=" + sample.fresh_dir("linear_evaluator")])
    check_line(output, "evaluator 0")
    assert "[chief 0] y =" not in output, output[-4000:]


def servers_without_use():
    done = subprocess.run([LAUNCH, "-n", "2", "--ps=1", "--", LINEAR, "--devices=cpu:0", "--strategy=multi_worker",
                           "--model_dir=" + sample.fresh_dir("no_use")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)
    assert done.returncode == 2, done.stdout
    assert "MultiWorkerMirroredStrategy has no use for them; use ParameterServerStrategy" in done.stdout, done.stdout


def fashion_mnist_learns():
    directory = fashion.make(sample.fresh_dir("data"), train=350, test=50)
    model_dir = sample.fresh_dir("served_fashion")
    output = launch(["-n", "2", "--ps=1", "--evaluator"], [
        sample.BINARY, "--strategy=parameter_server", "--devices=cpu:0", "--batch_size=8", "--max_steps=200",
        "--shuffle_buffer=64", "--data_dir=" + directory, "--model_dir=" + model_dir])
    assert "Lost" not in output, output[-4000:]
    step = int(re.findall(r"Saving checkpoints for (\d+) into", output)[-1])
    # The others may have been in their last steps when the chief had made the 200th.
    assert 200 <= step <= 202, step
    assert os.path.isdir(os.path.join(model_dir, f"model.ckpt-{step}"))
    # Each task keeps its part of the step.
    parts = {name.split("-")[0] for name in os.listdir(os.path.join(model_dir, "compiled")) if name.endswith(".tdx")}
    assert {"train", "train_ps0", "eval"} <= parts, parts


def rows_of_a_kernel_on_two_servers():
    """The largest kernel is more than a server's share. With one worker the bits are those of one process."""
    directory = fashion.make(sample.fresh_dir("data"), train=64, test=20)
    flags = ["--model=mnist", "--optimizer=adam", "--devices=cpu:0", "--batch_size=8", "--max_steps=6",
             "--shuffle_buffer=64", "--data_dir=" + directory]
    alone, served = sample.fresh_dir("alone"), sample.fresh_dir("on_two_servers")
    sample.run(*flags, "--model_dir=" + alone)
    launch(["-n", "1", "--ps=2"], [sample.BINARY, "--strategy=parameter_server", *flags, "--model_dir=" + served])
    workers.assert_same(workers.contents(alone, 6), workers.contents(served, 6), "two servers")
    compiled = os.path.join(served, "compiled")
    part = next(f for f in os.listdir(compiled) if f.startswith("train_ps1") and f.endswith(".tdx"))
    dump = subprocess.run([DUMP, os.path.join(compiled, part)], capture_output=True, text=True, timeout=100).stdout
    assert re.search(r"  ps 1 keeps .*dense/kernel\[2704:5408\]", dump), dump[:2000]


xunit.run("parameter_servers", [
    ("linear_estimator_mirrored", linear("mirrored", ["-n", "1"], "mirrored", "worker 0")),
    ("linear_estimator_central", linear("central", ["-n", "1"], "central", "worker 0", "cpu:0,cpu:1")),
    ("linear_estimator_multi_worker", linear("multi_worker", ["-n", "2"], "multi_worker", "worker 0")),
    ("linear_estimator_parameter_server", linear("ps", ["-n", "2", "--ps=1"], "parameter_server", "chief 0")),
    *((f.__name__, f) for f in (linear_counts_all_steps, an_evaluator_evaluates, servers_without_use,
                                  fashion_mnist_learns, rows_of_a_kernel_on_two_servers)),
])

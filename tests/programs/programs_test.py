"""Ten programs that a user would write: they learn what there is to learn, go on or stand still when they are started
again, give the same bits on one device and on two, run on several workers without a change, and are short."""
import glob
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tests/programs"))
import data_makers  # noqa: E402
import sample  # noqa: E402
import xunit  # noqa: E402

FOLDER = os.path.abspath("tests/programs")
LAUNCH = os.path.abspath("tools/tandem-launch")
FILES = ("variables.safetensors", "slots.safetensors", "state.json")
# Lines of each program when its parts had to be written by hand, and lines with tf.estimator.
LINES = {"tabular": (144, 75), "text": (131, 90), "pictures": (174, 130), "siamese": (160, 85), "vae": (140, 95),
         "distill": (112, 100), "series": (114, 95), "gan": (155, 130), "loop": (127, 90)}
# These are to be shorter by a quarter than they were.
SHORTER = ("tabular", "siamese", "gan", "loop")
data = {}


def data_dir(maker):
    if maker not in data:
        data[maker] = sample.fresh_dir("data_" + maker)
        getattr(data_makers, maker)(data[maker])
    return data[maker]


def command(program, maker, model_dir, *flags):
    return [os.path.join(FOLDER, program), f"--data_dir={data_dir(maker)}", f"--model_dir={model_dir}", *flags]


def run(arguments, expect=0):
    """Standard output and the log."""
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == expect, (arguments, done.returncode, done.stderr[-3000:])
    return done.stdout, done.stderr


def values(text):
    """The numbers of "accuracy = 0.9, loss = 0.25"."""
    return {name: float(value) for name, value in re.findall(r"(\w+) = ([-\d.e+]+)", text)}


def checkpoint(model_dir):
    """The bytes of the newest checkpoint, by file."""
    steps = [int(path.rsplit("-", 1)[1]) for path in glob.glob(os.path.join(model_dir, "model.ckpt-*"))]
    contents = {"step": max(steps)}
    for name in FILES:
        with open(os.path.join(model_dir, f"model.ckpt-{max(steps)}", name), "rb") as f:
            contents[name] = f.read()
    return contents


def trained(program, maker, *flags):
    """The output of a training, which a second start must repeat without another step."""
    model_dir = sample.fresh_dir(program)
    arguments = command(program, maker, model_dir, *flags)
    output, _ = run(arguments)
    folders = [os.path.dirname(path) for path in
               glob.glob(os.path.join(model_dir, "**", "checkpoint"), recursive=True)]
    assert folders, model_dir
    before = [checkpoint(folder) for folder in folders]
    again, log = run(arguments)
    assert [checkpoint(folder) for folder in folders] == before, log
    assert "step = 0" not in log and "global_step/sec" not in log, log
    return output, again, model_dir


def repeats(program, maker):
    output, again, model_dir = trained(program, maker)
    assert again == output, (output, again)
    return output, model_dir


def same_on_two_devices(program, maker, *flags):
    one, two = sample.fresh_dir(program + "_one"), sample.fresh_dir(program + "_two")
    run(command(program, maker, one, *flags))
    run(command(program, maker, two, "--devices=cpu:0,cpu:1", *flags))
    assert checkpoint(one) == checkpoint(two)
    return checkpoint(one)


def tabular():
    result = values(repeats("tabular", "customers")[0])
    # Without learning: the mean error of the mean, and chance.
    assert result["error"] < 0.8 and result["auc"] > 0.8, result


def text():
    output, model_dir = repeats("text", "reviews")
    assert values(output)["accuracy"] > 0.93, output
    with open(os.path.join(model_dir, "DONE")) as f:
        assert "no decrease" in f.read()


def pictures():
    output, model_dir = repeats("pictures", "pictures")
    assert values(output)["accuracy"] > 0.9, output
    files = sorted(glob.glob(os.path.join(data_dir("pictures"), "test", "*", "*.png")))
    predicted, _ = run([os.path.join(FOLDER, "predict"), model_dir, *files])
    lines = predicted.splitlines()
    assert len(lines) == len(files)
    right = sum(re.search(r"/(\w+)/\w+\.png: \1 \(", line) is not None for line in lines)
    assert abs(right / len(files) - values(output)["accuracy"]) < 1e-6, (right, output)
    assert glob.glob(os.path.join(model_dir, "events.out.tfevents.*"))


def siamese():
    assert values(repeats("siamese", "views")[0])["found"] > 0.85  # by chance 1 of 64
    same_on_two_devices("siamese", "views")


def vae():
    result = values(repeats("vae", "blobs")[0])
    # That of the mean of all pictures is 59.
    assert result["error"] < 20 and 2 < result["divergence"] < 30, result
    one = same_on_two_devices("vae", "blobs")
    again = killed_and_started_again(command("vae", "blobs", sample.fresh_dir("vae_killed")))
    # The clock decides which checkpoints are evaluated, and the state has the best evaluation.
    assert all(again[name] == one[name] for name in ("step", "variables.safetensors", "slots.safetensors"))


def killed_and_started_again(arguments):
    """The last checkpoint of a training that is killed behind its first ones."""
    model_dir = arguments[2].split("=", 1)[1]
    with open(os.path.join(os.environ["TEST_TMPDIR"], "killed_log"), "w") as log:
        process = subprocess.Popen(arguments, stdout=log, stderr=log)
        wait_for(os.path.join(model_dir, "model.ckpt-100", "state.json"), process)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    run(arguments)
    return checkpoint(model_dir)


def wait_for(path, process):
    while not os.path.exists(path):
        assert process.poll() is None, f"the training ended without {path}"
        time.sleep(0.001)


def distill():
    output, _ = repeats("distill", "patterns")
    teacher, student = (values(line) for line in output.splitlines())
    assert teacher["accuracy"] > 0.93 and student["accuracy"] > 0.85, output


def series():
    output, _ = repeats("series", "sales")
    folds = [values(line) for line in output.splitlines()]
    assert len(folds) == 8, output
    # The noise is 0.05 of the sales; the mean of the last days is wrong by 0.2.
    assert all(fold["mape"] < 0.075 and 0.55 < fold["inside"] < 0.95 for fold in folds), output


def gan():
    result = values(repeats("gan", "ring")[0])
    assert result["on_ring"] > 0.7 and 1.2 < result["spread"] < 2.8, result
    same_on_two_devices("gan", "ring")


def gan_by_turns():
    by_hook = same_on_two_devices("gan", "ring", "--turns=hook")
    scheduled = sample.fresh_dir("gan_scheduled")
    output, _ = run(command("gan", "ring", scheduled, "--turns=schedule"))
    assert values(output)["on_ring"] > 0.7, output
    assert checkpoint(scheduled)["variables.safetensors"] == by_hook["variables.safetensors"]


def loop():
    output, again, model_dir = trained("loop", "patterns")
    steps = output.splitlines()
    assert len(steps) == 6 and again == "", output
    assert all(len(re.findall(r"norm/\w+/kernel \d+\.\d+", step)) == 3 for step in steps), output
    assert values(steps[-1])["accuracy"] > 0.9, output
    # By itself the training saves its first step and its last one.
    assert os.path.exists(os.path.join(model_dir, "model.ckpt-250"))


def launched(name, workers, arguments, kill_behind=None):
    """The result that a cluster prints, once; where a checkpoint is named, worker 1 is killed behind it."""
    folder = sample.fresh_dir(name)
    with open(os.path.join(folder, "output"), "w+") as output, open(os.path.join(folder, "log"), "w+") as log:
        process = subprocess.Popen([LAUNCH, *workers, "--max_restarts=1", "--grace_seconds=10", "--", *arguments],
                                   stdout=output, stderr=log, stdin=subprocess.DEVNULL)
        if kill_behind:
            wait_for(kill_behind, process)
            os.kill(worker_of(process, 1), signal.SIGKILL)
        code = process.wait(timeout=300)
        output.seek(0)
        log.seek(0)
        lines, text = output.read().splitlines(), log.read()
    assert code == 0 and len(lines) == 1, (lines, text[-3000:])
    assert ("restart 1 of 1" in text) == (kill_behind is not None), text[-3000:]
    return values(lines[0])


def worker_of(launcher, index):
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path) as f, open(os.path.join(os.path.dirname(path), "stat")) as stat:
                if f'"index":{index}' in f.read() and int(stat.read().rpartition(")")[2].split()[1]) == launcher.pid:
                    return int(path.split("/")[2])
        except OSError:
            continue  # it has ended
    raise AssertionError(f"there is no worker {index}")


def clusters():
    """Two of the programs on several workers, as they are."""
    model_dir = sample.fresh_dir("tabular_workers")
    result = launched("tabular_log", ["-n", "2"], command("tabular", "customers", model_dir),
                      os.path.join(model_dir, "model.ckpt-100", "state.json"))
    assert result["error"] < 0.8 and result["auc"] > 0.8, result
    result = launched("served_log", ["-n", "2", "--ps=1"],
                      command("tabular", "customers", sample.fresh_dir("tabular_served")))
    assert result["error"] < 1 and result["auc"] > 0.75, result
    result = launched("pictures_log", ["-n", "2"], command("pictures", "pictures", sample.fresh_dir("pictures_workers")))
    assert result["accuracy"] > 0.9, result


def lines_of(program):
    with open(os.path.join(FOLDER, program + ".cc")) as f:
        return sum(1 for _ in f)


def short():
    print("program              before  tf.estimator   limit     now")
    too_long = []
    for program, (before, estimator) in LINES.items():
        files = (program, "predict") if program == "pictures" else (program,)
        now = sum(lines_of(file) for file in files)
        limit = int(1.15 * estimator)
        if program in SHORTER:
            limit = min(limit, int(0.75 * before))
        print(f"{' + '.join(files):20} {before:6} {estimator:13} {limit:7} {now:7}")
        if now > limit:
            too_long.append(program)
    assert not too_long, too_long


xunit.run("programs", [(case.__name__, case) for case in (
    short, tabular, text, pictures, siamese, vae, distill, series, gan, gan_by_turns, loop, clusters)])

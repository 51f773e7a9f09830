"""tandem-launch with real processes: who they are, how they end, signals, restarts, and that nothing stays behind."""
import os
import re
import signal
import sys
import time

sys.path[:0] = [os.path.abspath("tests/support"), os.path.abspath("tools/launch")]
import xunit  # noqa: E402
from launching import CLUSTER, LAUNCH, TMP, count, file, run, shell, started, wait_for  # noqa: E402


def usage():
    help_text = run("--help")
    help_text.expect(0, "--max_restarts", "--n\n")
    run("-n 2").expect(2, "no program to start: tandem-launch -n 4 -- PROGRAM FLAGS")
    run("", "true").expect(2, "how many workers?")
    run("-n 0", "true").expect(2, "-n (--workers) is 0; it may be from 1 to 1024")
    run("-n 1 --workers=2", "true").expect(2, "leave one of them")
    run("-n 2 --max_restart=1", "true").expect(2, "did you mean --max_restarts?")
    run("-n 2 --ps=1 --environment=torchrun", "true").expect(2, "--ps needs --environment=tf_config")
    run("-n 2 true", "true").expect(2, '"true" is no flag; the program follows "--"')
    run("-n 2", "no_such_program").expect(127, "there is no program no_such_program in the folders of PATH")
    run("-n 2", "./no_such_program").expect(127, "there is no program ./no_such_program")
    script = file("script")
    with open(script, "w") as out:
        out.write("#!/no/such/interpreter\n")
    run("-n 2", script).expect(126, "it is not executable: chmod +x")
    run("-n 2", TMP).expect(126, "it is no file")
    os.chmod(script, 0o755)
    run("-n 2", script).expect(126, "the interpreter that it names (#!) is not there")


def environment():
    two = run("-n 2", CLUSTER).expect(0)
    assert "[worker 0] worker 0, rank 0 of 2, rank 0 at 127.0.0.1:" in two.out, two.out
    assert "[worker 1] worker 1, rank 1 of 2" in two.out, two.out
    # A parameter server is stopped when the workers have ended, which wait for it.
    script = f"case $TF_CONFIG in *'\"type\":\"ps\"'*) {CLUSTER}; : > $0;; " \
             f"*) while [ ! -e $0 ]; do sleep 0.02; done; exec {CLUSTER};; esac"
    run("-n 2 --ps=1 --evaluator", "sh", "-c", script, file("ps")).expect(
        0, "[chief 0] chief 0, rank 0 of 2", "[worker 0] worker 0, rank 1 of 2", "[ps 0] ps 0, rank 0 at",
        "[evaluator 0] evaluator 0, rank 0 at")
    run("-n 2 --environment=torchrun", CLUSTER).expect(0, "[worker 1] worker 0, rank 1 of 2, local rank 1 of 2")
    run("-n 2", LAUNCH, "-n", "2", "--environment=torchrun", "--", CLUSTER).expect(0, "[worker 1] [worker 1] worker 0")
    run("-n 1", CLUSTER).expect(0, "[worker 0] no cluster: this process trains by itself")


def a_good_end_is_silent():
    assert shell("-n 3", "exit 0").expect(0).err == ""


def the_first_failure_ends_all():
    done = shell("-n 3", "[ $RANK = 1 ] && exit 65; exec sleep 1000").expect(65)
    summary = r"tandem-launch: worker 1 \(pid \d+\) exited with code 65; worker 0, 2 were stopped\n"
    assert re.fullmatch(summary, done.err), done.err
    done = shell("-n 3", "[ $RANK = 2 ] && kill -9 $$; trap 'exit 75' TERM; while :; do sleep 0.1; done").expect(137)
    assert re.search(r"worker 2 \(pid \d+\) was killed by signal 9 \(SIGKILL\)", done.err), done.err


def a_lost_peer_is_not_the_cause():
    script = "case $RANK in 0) exit 75;; 1) sleep 0.1; exit 66;; esac; exec sleep 1000"
    done = shell("-n 3", script)
    done.expect(66, "worker 1 (pid", "worker 0 exited with code 75 because of it", "worker 2 was stopped")
    shell("-n 2", "[ $RANK = 0 ] && exit 75; exec sleep 1000").expect(75, "worker 0 (pid")


def restarts():
    script = 'echo "start $TANDEM_RESTART_COUNT at $MASTER_PORT"; [ $TANDEM_RESTART_COUNT = 2 ] || exit 75'
    done = shell("-n 2 --max_restarts=3", script)
    done.expect(0, "restart 1 of 3 with 2 workers, 2 left", "restart 2 of 3 with 2 workers, 1 left")
    ports = dict(re.findall(r"start (\d) at (\d+)", done.out))
    assert sorted(ports) == ["0", "1", "2"], done.out
    shell("-n 2 --max_restarts=1", "kill -SEGV $$").expect(139, "restart 1 of 1", "no restart of 1 is left")
    permanent = shell("-n 2 --max_restarts=1", "exit 2").expect(2, "not started again: exit code 2 is permanent")
    assert "restart 1" not in permanent.err, permanent.err


def fewer_workers_after_two_failures():
    script = "echo of $WORLD_SIZE; [ $RANK = 2 ] && exit 1; [ $WORLD_SIZE = 2 ] && exit 0; exec sleep 1000"
    done = shell("-n 4 --max_restarts=5 --min_workers=2", script)
    done.expect(0, "restart 2 of 5 with 2 workers, fewer, as the same one failed twice", "[worker 1] of 2")


def signals_are_passed_on():
    for number, name, code in ((signal.SIGINT, "INT", 130), (signal.SIGTERM, "TERM", 143), (signal.SIGHUP, "HUP", 129)):
        script = f"trap 'echo saved; exit {code}' {name}; : > $READY$RANK; while :; do sleep 0.05; done"
        launch = started("-n 3 --max_restarts=5", script, 3)
        launch.process.send_signal(number)
        launch.wait().expect(code, f"stopped by SIG{name}")
        assert launch.out.count("saved\n") == 3, launch.out


def an_ignored_hangup_stays_ignored():
    nohup = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    done = shell("-n 2", "kill -HUP $PPID $$; echo alive", **nohup)
    assert done.expect(0).out.count("alive") == 2, done.out


def a_second_interrupt_kills():
    launch = started("-n 2 --grace_seconds=3600", "trap '' INT TERM; : > $READY$RANK; while :; do sleep 0.05; done", 2)
    launch.process.send_signal(signal.SIGTERM)
    assert launch.process.stderr.readline().startswith(b"tandem-launch: SIGTERM: the tasks have 3600 s")
    launch.process.send_signal(signal.SIGINT)
    launch.wait().expect(143)


def who_does_not_end_is_killed():
    script = "[ $RANK = 1 ] && { while [ ! -e ${READY}0 ]; do sleep 0.05; done; exit 3; }; " \
             "trap '' TERM; : > $READY$RANK; while :; do sleep 0.05; done"
    launch = started("-n 2 --grace_seconds=0.3", script, 1).wait()
    launch.expect(3, "worker 0 (pid", "has not ended within 0.3 s: it is killed", "worker 0 was killed, not having")


def resize():
    script = "trap 'exit 143' TERM; : > $READY.$WORLD_SIZE.$RANK; while :; do sleep 0.05; done"
    launch = started("-n 4 --min_workers=2", script, 4)
    launch.process.send_signal(signal.SIGUSR1)
    wait_for(lambda: count(launch.ready + ".2") == 2, "it does not go on with 2")
    launch.process.send_signal(signal.SIGUSR1)  # not below --min_workers
    time.sleep(0.2)
    for name in os.listdir(TMP):
        if name.startswith(os.path.basename(launch.ready)):
            os.remove(os.path.join(TMP, name))
    launch.process.send_signal(signal.SIGUSR2)
    wait_for(lambda: count(launch.ready + ".4") == 4, "it does not go on with 4")
    launch.process.send_signal(signal.SIGTERM)
    launch.wait().expect(143, "to go on with 2 workers", "the number of workers stays 2: it may be from 2 to 4",
                         "to go on with 4 workers")
    assert "restart" not in launch.err, launch.err


def children_do_not_outlive_the_launcher():
    launch = started("-n 3", ": > $READY$RANK; exec sleep 1000", 3)
    launch.process.kill()
    launch.process.wait()
    wait_for(lambda: not launch.running(), "the tasks are not stopped")


SAVING = """
import os, signal, time
def save(*_):
    time.sleep(0.5)
    print("saved", flush=True)
    os._exit(143)
signal.signal(signal.SIGTERM, save)
open(os.environ["READY"] + os.environ["RANK"], "w").close()
time.sleep(1000)
"""


def grandchildren_end_with_their_task():
    shell("-n 2", "sleep 1000 & exit 0").expect(0)
    stubborn = "(trap '' TERM; : > $READY$RANK; while :; do sleep 0.05; done) & " \
               "while [ ! -e $READY$RANK ]; do sleep 0.02; done"
    started("-n 2 --grace_seconds=0.2", stubborn, 2).wait().expect(0, "it is killed")
    # A shell that dies by the signal does not keep what it runs from saving.
    launch = started("-n 2", f"{sys.executable} -c '{SAVING}'; exit 1", 2)
    launch.process.send_signal(signal.SIGTERM)
    assert launch.wait().expect(143).out.count("saved") == 2, launch.out


def parameter_servers_and_evaluator():
    script = "case $TF_CONFIG in *'\"type\":\"ps\"'*) exec sleep 1000;; " \
             "*'\"type\":\"evaluator\"'*) sleep 0.5; echo evaluated;; esac"
    run("-n 2 --ps=2 --evaluator", "sh", "-c", script).expect(0, "[evaluator 0] evaluated")
    failing = "case $TF_CONFIG in *'\"type\":\"ps\"'*) exit 74;; esac; exec sleep 1000"
    run("-n 2 --ps=1", "sh", "-c", failing).expect(74, "ps 0 (pid", "chief 0 and worker 0 were stopped")


if __name__ == "__main__":
    xunit.run("processes_test", [(case.__name__, case) for case in (
        usage, environment, a_good_end_is_silent, the_first_failure_ends_all, a_lost_peer_is_not_the_cause, restarts,
        fewer_workers_after_two_failures, signals_are_passed_on, a_second_interrupt_kills, who_does_not_end_is_killed,
        an_ignored_hangup_stays_ignored, resize, children_do_not_outlive_the_launcher,
        grandchildren_end_with_their_task, parameter_servers_and_evaluator)])

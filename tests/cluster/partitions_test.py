"""Workers on machines of their own, in network namespaces, whose links are cut, silenced, cut for a moment, or slow.
Those who lose somebody end with exit code 75 at their deadline and name whom they lost; all that may go on has the bits
of one process."""
import json
import os
import re
import sys
import threading
import time

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tests/cluster"))
import fashion  # noqa: E402
import network  # noqa: E402
import sample  # noqa: E402
import workers  # noqa: E402
import xunit  # noqa: E402

DEADLINE = 5
LATE = 10  # seconds after the deadline that are forgiven on a busy machine; without load it is less than 2
SHORT, STEPS, FIRST_FAULT = 6, 200, 20  # global steps
FEW_STEPS = 1 << 20  # bytes; the variables have 374 KB
data, lock = {}, threading.Lock()


def flags(model_dir, devices, steps):
    return ["--model=zalando", "--optimizer=adam", "--devices=" + ",".join(f"cpu:{i}" for i in range(devices)),
            "--batch_size=8", "--shuffle_buffer=64", "--dropout=0.3", "--seed=5", f"--max_steps={steps}",
            "--save_checkpoints_steps=10", "--eval_examples=train:50", f"--data_dir={data['dir']}",
            f"--model_dir={model_dir}", "--threads=1"]


def one_process(steps):
    """Contents of the last checkpoint of one process with four devices."""
    with lock:
        if steps not in data:
            model_dir = sample.fresh_dir(f"whole_{steps}")
            sample.run(*flags(model_dir, 4, steps))
            data[steps] = workers.contents(model_dir, steps)
        return data[steps]


def start(net, name, cluster, flags, deadline=DEADLINE):
    """A process on each machine, in the order of `cluster`: {type: number}."""
    tasks = [(kind, index) for kind, count in cluster.items() for index in range(count)]
    addresses = {}
    for machine, (kind, _) in enumerate(tasks):
        addresses.setdefault(kind, []).append(f"{net.address(machine)}:2222")
    environments = [{"TF_CONFIG": json.dumps({"cluster": addresses, "task": {"type": kind, "index": index}})}
                    for kind, index in tasks]
    return workers.Workers(name, len(tasks), [*flags, f"--deadline_secs={deadline}"], environments=environments,
                           prefixes=[net.inside(machine) for machine in range(len(tasks))])


def start_workers(net, name, model_dir, steps=STEPS, deadline=DEADLINE):
    count = len(net.machines)
    return start(net, name, {"worker": count}, [*flags(model_dir, 4 // count, steps), "--communication=tcp"],
                 deadline)


def wait_until_trains(net, run, model_dir):
    """Until a checkpoint is there, and every process has sent the gradients or variables of some steps. (With servers
    the chief does not wait for workers.)"""
    deadline = time.monotonic() + 240
    while not (any(re.fullmatch(r"model\.ckpt-\d+", n) and int(n[11:]) >= FIRST_FAULT for n in os.listdir(model_dir))
               and all(net.sent(rank) > FEW_STEPS for rank in range(len(run.processes)))):
        assert time.monotonic() < deadline and all(p.poll() is None for p in run.processes), run.tails()
        time.sleep(0.005)


def after_fault(net, run, model_dir, fault, machine, timeout, mended_after=None, stays=()):
    """In the middle of training: seconds from the fault, or its end, until each process has ended, and exit codes.
    `stays`: ranks that are not waited for."""
    try:
        wait_until_trains(net, run, model_dir)
        getattr(net, fault)(machine)
        if mended_after:
            time.sleep(mended_after)
            assert all(p.poll() is None for p in run.processes), run.tails()
            net.plug(machine)
        begin, seconds = time.monotonic(), {}
        waited_for = [rank for rank in range(len(run.processes)) if rank not in stays]
        while len(seconds) < len(waited_for) and time.monotonic() < begin + timeout:
            for rank in waited_for:
                if rank not in seconds and run.processes[rank].poll() is not None:
                    seconds[rank] = time.monotonic() - begin
            time.sleep(0.005)
        codes = [process.poll() for process in run.processes]
        assert len(seconds) == len(waited_for), f"exit codes {codes} after {timeout} s\n{run.tails()}"
        return seconds, codes
    finally:
        run.kill()


def last_error(run, rank):
    """What the sample says at its end."""
    lines = [line for line in run.output(rank).splitlines() if line.startswith("fashion_mnist: ")]
    return lines[-1] if lines else ""


def tell(what, run):
    print("\n".join([what, *(f"  {r}: {last_error(run, r)}" for r in range(len(run.processes)) if last_error(run, r))]))


def loses(name, fault, lost, resumes=False, deadline=DEADLINE, count=4):
    """A fault of the link of one worker in the middle of training."""
    model_dir = sample.fresh_dir(name)
    with network.Network(count) as net:
        run = start_workers(net, name, model_dir, deadline=deadline)
        seconds, codes = after_fault(net, run, model_dir, fault, lost, deadline + LATE)
        others = [rank for rank in range(count) if rank != lost]
        tell(f"{fault} of rank {lost}, deadline {deadline} s: the others end after "
             f"{max(seconds[rank] for rank in others):.2f} s, rank {lost} after {seconds[lost]:.2f} s", run)
        assert codes == [75] * count, f"exit codes {codes}\n{run.tails()}"
        for rank in others:
            assert re.search(rf"rank {lost} \([^)]*{re.escape(net.address(lost))}:.* is lost", last_error(run, rank)), \
                f"rank {rank} does not say so\n{run.tails()}"
        named = re.search(r"rank (\d) \([^)]*\) is lost", last_error(run, lost))
        assert named and int(named[1]) in others, run.tails()
        if resumes:
            net.plug(lost)
            again = start_workers(net, name + "_again", model_dir)
            again.expect(*[0] * count, timeout=240)
            assert "Restoring parameters from" in again.output(0), again.tails()
            workers.assert_same(one_process(STEPS), workers.contents(model_dir, STEPS), "started again")


def bits_of_one_process():
    model_dir = sample.fresh_dir("over_a_bridge")
    with network.Network(4) as net:
        run = start_workers(net, "over_a_bridge", model_dir, SHORT)
        run.expect(0, 0, 0, 0, timeout=240)
    workers.assert_same(one_process(SHORT), workers.contents(model_dir, SHORT), "over a bridge")


def unplugged_and_started_again():
    loses("unplugged", "unplug", 2, resumes=True)


def unplugged_chief():
    loses("unplugged_chief", "unplug", 0)


def interface_down():
    loses("interface_down", "down", 1, deadline=3)


def silent():
    loses("silent", "silence", 3, deadline=3)


def mute():
    loses("mute", "mute", 1, deadline=3)


def mute_chief():
    loses("mute_chief", "mute", 0, deadline=3)


def short_cut():
    """Packets are sent again, and nobody notices."""
    model_dir = sample.fresh_dir("short_cut")
    with network.Network(4) as net:
        run = start_workers(net, "short_cut", model_dir)
        seconds, codes = after_fault(net, run, model_dir, "unplug", 1, 240, mended_after=1.5)
        print(f"unplug of rank 1 for 1.5 s: all end {max(seconds.values()):.2f} s after it")
        assert codes == [0] * 4, f"exit codes {codes}\n{run.tails()}"
    workers.assert_same(one_process(STEPS), workers.contents(model_dir, STEPS), "short cut")


def slow_links():
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        raise xunit.Skipped("no /dev/net/tun, by which links are slow")
    model_dir = sample.fresh_dir("slow")
    with network.Network(2, slow=True) as net:
        begin = time.monotonic()
        run = start_workers(net, "slow", model_dir, SHORT)
        run.expect(0, 0, timeout=240)
        print(f"20 ms, give or take 5 ms: {SHORT} steps in {time.monotonic() - begin:.2f} s, "
              f"{net.relay.passed} packets")
    workers.assert_same(one_process(SHORT), workers.contents(model_dir, SHORT), "slow links")


def unplugged_server():
    """Workers take it for lost after the deadline, and wait for it that long again."""
    model_dir, deadline, steps = sample.fresh_dir("server"), 2, 10 * STEPS
    with network.Network(3) as net:
        run = start(net, "server", {"chief": 1, "worker": 1, "ps": 1}, flags(model_dir, 1, steps), deadline)
        # The server itself waits for workers ten times as long.
        seconds, codes = after_fault(net, run, model_dir, "unplug", 2, 2 * deadline + LATE, stays=[2])
        tell(f"unplug of the server, deadline {deadline} s: the workers end after {max(seconds.values()):.2f} s", run)
        assert codes == [75, 75, None], f"exit codes {codes}\n{run.tails()}"
        for rank in (0, 1):
            assert f"server ps 0 at {net.address(2)}:2222 does not answer" in last_error(run, rank), run.tails()


def short_cut_of_a_server():
    model_dir = sample.fresh_dir("server_short_cut")
    with network.Network(2) as net:
        run = start(net, "server_short_cut", {"chief": 1, "ps": 1}, flags(model_dir, 1, STEPS), DEADLINE)
        seconds, codes = after_fault(net, run, model_dir, "unplug", 1, 240, mended_after=1.5)
        print(f"unplug of the server for 1.5 s: all end {max(seconds.values()):.2f} s after it")
        assert codes == [0, 0], f"exit codes {codes}\n{run.tails()}"
    alone = sample.fresh_dir("alone")
    sample.run(*flags(alone, 1, STEPS))
    workers.assert_same(workers.contents(alone, STEPS), workers.contents(model_dir, STEPS), "short cut of a server")


def unplugged_worker_of_a_server():
    """The others go on."""
    model_dir, deadline, steps = sample.fresh_dir("served_worker"), 2, 4 * STEPS
    with network.Network(3) as net:
        run = start(net, "served_worker", {"chief": 1, "worker": 1, "ps": 1}, flags(model_dir, 1, steps), deadline)
        seconds, codes = after_fault(net, run, model_dir, "unplug", 1, 240)
        tell(f"unplug of a server's worker, deadline {deadline} s: it ends after {seconds[1]:.2f} s, chief and server "
             f"are done after {seconds[0]:.2f} and {seconds[2]:.2f} s", run)
        assert codes == [0, 75, 0], f"exit codes {codes}\n{run.tails()}"
        assert f"server ps 0 at {net.address(2)}:2222 does not answer" in last_error(run, 1), run.tails()
        assert os.path.isdir(os.path.join(model_dir, f"model.ckpt-{steps}")), os.listdir(model_dir)


CASES = [bits_of_one_process, unplugged_and_started_again, unplugged_chief, interface_down, silent, mute, mute_chief,
         short_cut, slow_links, unplugged_server, short_cut_of_a_server, unplugged_worker_of_a_server]
chosen = os.environ.get("TANDEM_CASES", "").split()
why_not = network.enter()
data["dir"] = fashion.make(sample.fresh_dir("data"), train=350, test=50)


def skipped():
    raise xunit.Skipped(why_not)


# Most of their time they wait for a deadline.
xunit.run("partitions", [(f.__name__, skipped if why_not else f) for f in CASES
                         if not chosen or f.__name__ in chosen], at_once=2)

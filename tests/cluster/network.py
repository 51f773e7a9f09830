"""Machines for tests: network namespaces, each with an address and a link to one bridge.

enter() puts the test itself into a namespace, which has the bridge. Namespaces here have no names and are kept by
processes that end with the test, however it ends; devices go with their namespaces. So nothing is left of it, nothing
meets anything of another test, and the machine's own network is not touched.
"""
import fcntl
import heapq
import itertools
import os
import random
import re
import select
import shutil
import struct
import subprocess
import sys
import threading
import time

numbers = itertools.count()
ENTERED = "TANDEM_NETWORK_OF_ITS_OWN"


def enter():
    """Starts the program again in a network namespace of its own. Where none can be made: returns why not."""
    if os.environ.get(ENTERED):
        return None
    if not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        return "no unshare, nsenter or ip is installed"
    for command in (["unshare", "--net"], ["unshare", "--net", "--user", "--map-root-user"]):
        tried = subprocess.run([*command, "ip", "link", "add", "bridge", "type", "bridge"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if tried.returncode == 0:
            sys.stdout.flush()
            os.execvpe(command[0], [*command, sys.executable, "-B", *sys.argv], {**os.environ, ENTERED: "1"})
    return "no network namespace can be made: " + tried.stdout.strip()


def ip(*lines, inside=()):
    """Commands of ip. `inside`: what comes before it, to run in another namespace."""
    subprocess.run([*inside, "ip", "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


class Network:
    """Machines 0, 1, ... with the addresses 10.77.0.1, 10.77.0.2, ...; ends all when it is closed."""

    def __init__(self, count, slow=False):
        """`slow`: links have a delay of 20 ms, give or take 5 ms, so that packets overtake each other."""
        self.relay = None
        # Links are gone only some time after the processes of the namespaces that they lead to.
        number = next(numbers)
        self.bridge, self.links = f"bridge{number}", [f"link{number}.{index}" for index in range(count)]
        ip(f"link add {self.bridge} type bridge", f"link set {self.bridge} up")
        self.machines = [subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE) for _ in range(count)]
        try:
            own = os.readlink("/proc/self/ns/net")
            for index, machine in enumerate(self.machines):
                while os.readlink(f"/proc/{machine.pid}/ns/net") == own:
                    time.sleep(0.001)
                if slow:
                    self.relay = self.relay or Relay()
                    self.relay.add(self.links[index], f"end{number}.{index}")
                    ip(f"link set end{number}.{index} netns {machine.pid} name eth0")
                else:
                    ip(f"link add {self.links[index]} type veth peer name eth0 netns {machine.pid}")
                ip(f"link set {self.links[index]} master {self.bridge} up")
                ip("link set lo up", f"address add {self.address(index)}/24 dev eth0", "link set eth0 up",
                   inside=self.inside(index))
            if self.relay:
                self.relay.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.relay:
            self.relay.stop()
        for machine in self.machines:
            machine.kill()
            machine.wait()
        ip(f"link delete {self.bridge}")

    @staticmethod
    def address(index):
        return f"10.77.0.{index + 1}"

    def inside(self, index):
        """What a command begins with to run on a machine."""
        return ["nsenter", f"--net=/proc/{self.machines[index].pid}/ns/net"]

    def sent(self, index):
        """Bytes that a machine has sent."""
        with open(f"/proc/{self.machines[index].pid}/net/dev", encoding="utf-8") as devices:
            return int(re.search(r"eth0:(?:\s+(\d+)){9}", devices.read())[1])

    def unplug(self, index):
        """The cable is out: both ends see it."""
        ip(f"link set {self.links[index]} down")

    def plug(self, index):
        """Nor does anybody take another machine for out of reach because a question from before was not answered."""
        ip(f"link set {self.links[index]} up")
        for machine in range(len(self.machines)):
            ip("neighbour flush dev eth0", inside=self.inside(machine))

    def down(self, index):
        """The machine's own interface is down: it has no route to anybody."""
        ip("link set eth0 down", inside=self.inside(index))

    def silence(self, index):
        """Nothing comes through, and neither end sees why: a loss of 100 %."""
        ip(f"link set {self.links[index]} nomaster")

    def mute(self, index):
        """What the machine sends to the others is lost. What they send comes through."""
        nobody = "lladdr 02:00:00:00:00:01 nud permanent dev eth0"
        ip(*(f"neighbour replace {self.address(other)} {nobody}" for other in range(len(self.machines))
             if other != index), inside=self.inside(index))


class Relay(threading.Thread):
    """Passes on what is sent between pairs of TAP devices."""

    def __init__(self):
        super().__init__(daemon=True)
        self.other = {}  # the other end, by file
        self.ending = False
        self.passed = 0

    def add(self, *names):
        ends = []
        for name in names:
            ends.append(os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK))
            set_name, tap, no_header = 0x400454ca, 0x2, 0x1000  # TUNSETIFF, IFF_TAP, IFF_NO_PI
            fcntl.ioctl(ends[-1], set_name, struct.pack("16sH22x", name.encode(), tap | no_header))
        self.other.update([ends, ends[::-1]])

    def run(self):
        source, waiting = random.Random(1), []  # (when, number, to whom, what)
        while not self.ending:
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                _, _, end, frame = heapq.heappop(waiting)
                try:
                    os.write(end, frame)
                except OSError:
                    pass  # it has no room, or is down: lost
            timeout = min(0.1, waiting[0][0] - now) if waiting else 0.1
            for end in select.select(list(self.other), [], [], max(0, timeout))[0]:
                try:
                    frame = os.read(end, 65536)
                except OSError:
                    continue
                self.passed += 1
                delay = source.uniform(0.015, 0.025)
                heapq.heappush(waiting, (time.monotonic() + delay, self.passed, self.other[end], frame))

    def stop(self):
        if self.is_alive():
            self.ending = True
            self.join()
        for end in self.other:
            os.close(end)

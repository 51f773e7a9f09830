"""From what workers said to medians, ratios and bars. Knows no processes: it also reads recordings.

A recording is a list of events, dictionaries with "row", "worker", "group", "round" (-1 outside rounds), "after"
(seconds since the worker was started) and one of "said" (the worker's message) or "failed" (why it took no further
part). A group is a set of workers that took turns: ratios are formed within one, because the machine's speed changes
with time.
"""
import json
import statistics

from rows import BARS, PEERS, ROWS

STARTUP = "startup"
_KEPT = ("parameters", "batch", "flops_per_step", "compile_seconds", "work", "flops_per_second", "bytes_per_second",
         "checksum")
YARDSTICKS = ("matmul", "roofline")


def parse_line(line):
    """A worker's message; None for anything else, such as a library's greeting."""
    line = line.strip()
    if not line.startswith('{"'):
        return None
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if "event" in message else None


def _workers(events):
    """group -> worker -> what it did."""
    groups = {}
    for e in events:
        worker = groups.setdefault(e["group"], {}).setdefault(e["worker"], {"seconds": []})
        if "failed" in e:
            worker["failed"] = e["failed"]
            continue
        said = e["said"]
        if "peak_rss_bytes" in said:
            worker["peak_rss_bytes"] = max(said["peak_rss_bytes"], worker.get("peak_rss_bytes", 0))
        if said["event"] == "first_step":
            worker["first_step_seconds"] = e["after"]
        elif said["event"] == "ready":
            worker.update({k: said[k] for k in _KEPT if k in said})
        elif said["event"] == "ran" and e["round"] >= 0:
            worker["seconds"].append(said["seconds_per_step"])
            if "host_seconds_per_step" in said:
                worker.setdefault("host_seconds", []).append(said["host_seconds_per_step"])
    for workers in groups.values():
        for worker in workers.values():
            if worker["seconds"]:
                worker["median"] = statistics.median(worker["seconds"])
    return groups


def summarize_row(events):
    """Medians of one row, and the speed-up of "tandem" over every other worker: the ratio of medians in its group."""
    groups = _workers(events)
    row = {"workers": {}}
    baseline = []
    for number, workers in sorted(groups.items()):
        tandem = workers.get("tandem", {})
        for name, worker in workers.items():
            worker["group"] = number
            if "median" in worker and "median" in tandem:
                worker["tandem_speedup"] = worker["median"] / tandem["median"]
            if "median" in worker and "flops_per_step" in tandem and name not in YARDSTICKS:
                worker["gflops_per_second"] = 1e-9 * tandem["flops_per_step"] / worker["median"]
                matmul = workers.get("matmul", {})
                if "median" in matmul:
                    rate = 1e-9 * matmul["flops_per_step"] / matmul["median"]
                    worker["matmul_fraction"] = worker["gflops_per_second"] / rate
            if name == "tandem" or name in YARDSTICKS:
                baseline.append((name, worker))
            else:
                row["workers"][name] = worker
    # Tandem and the yardstick are in every group: those of the first group stand for them in the table.
    for name, worker in reversed(baseline):
        row["workers"][name] = worker
    if "matmul" in row["workers"] and "median" in row["workers"]["matmul"]:
        matmul = row["workers"]["matmul"]
        row["matmul_gflops_per_second"] = 1e-9 * matmul["flops_per_step"] / matmul["median"]
    counts = {w["parameters"] for w in row["workers"].values() if w.get("parameters")}
    row["same_parameters"] = len(counts) <= 1
    # Of the first batch; scaled pictures are others.
    sums = [w["checksum"] for n, w in row["workers"].items() if "checksum" in w and n != "tandem scaled"]
    row["same_input"] = not sums or max(sums) - min(sums) <= 1e-6 * abs(sums[0])
    name = events[0]["row"]
    row["quantities"] = _quantities(row["workers"], ROWS[name].precision if name in ROWS else "float32")
    return row


def _fastest(workers, precision):
    """(ratio to "tandem", name) of the fastest peer."""
    known = [(w["tandem_speedup"], n) for n, w in workers.items()
             if n in PEERS and PEERS[n].precision == precision and "tandem_speedup" in w]
    return min(known) if known else None


def _least_seconds(work, machine):
    """What the commands of a program, pairs of operations and bytes, take at least at the machine's measured rates."""
    return sum(max(flops / machine["flops_per_second"], size / machine["bytes_per_second"]) for flops, size in work)


def _quantities(workers, precision):
    """What bars speak of; a missing measurement is missing here. `precision`: of the row."""
    def ratio(name):  # of name's time to tandem's, in name's group
        return workers.get(name, {}).get("tandem_speedup")

    found = {}
    fastest, fastest_bf16 = _fastest(workers, precision), _fastest(workers, "bfloat16")
    direct, bf16 = ratio("tandem direct"), ratio("tandem bf16")
    if fastest:
        found["speedup"], found["fastest peer"] = fastest
        if direct:
            found["speedup direct"] = fastest[0] / direct
    tandem = workers.get("tandem", {})
    if "matmul_fraction" in tandem:
        found["fraction"] = tandem["matmul_fraction"]
    if "matmul_fraction" in workers.get("tandem direct", {}):
        found["fraction direct"] = workers["tandem direct"]["matmul_fraction"]
    if bf16:
        found["bf16 gain"] = 1 / bf16
        if fastest_bf16:
            found["speedup bf16"], found["fastest bf16 peer"] = fastest_bf16[0] / bf16, fastest_bf16[1]
    if ratio("tandem 1 thread"):
        found["threads"] = ratio("tandem 1 thread")
    if ratio("tandem 2 devices"):
        found["two devices"] = 1 / ratio("tandem 2 devices")
    if "median" in tandem:
        found["microseconds"] = 1e6 * tandem["median"]
    if "host_seconds" in tandem:
        found["host microseconds"] = 1e6 * statistics.median(tandem["host_seconds"])
    machine = workers.get("roofline", {})
    if "median" in tandem and "work" in tandem and "flops_per_second" in machine:
        # What is read and written, as if that were all; and with arithmetic, whose rate was measured in float32 alone.
        found["bandwidth"] = sum(size for _, size in tandem["work"]) / machine["bytes_per_second"] / tandem["median"]
        if precision == "float32":
            found["roofline"] = _least_seconds(tandem["work"], machine) / tandem["median"]
    memory = [(w["peak_rss_bytes"], n) for n, w in workers.items()
              if n in PEERS and not PEERS[n].bf16 and "median" in w and "peak_rss_bytes" in w]
    if memory and "median" in tandem and "peak_rss_bytes" in tandem:
        found["memory"], found["leanest peer"] = tandem["peak_rss_bytes"] / min(memory)[0], min(memory)[1]
    return found


def summarize_startup(events):
    """Process start to first step: medians over the starts, and their ratio."""
    starts = {}
    for e in events:
        if e.get("said", {}).get("event") == "first_step":
            starts.setdefault(e["worker"], []).append(e["after"])
    row = {"workers": {n: {"seconds": s, "median": statistics.median(s)} for n, s in starts.items()}, "quantities": {}}
    if "tandem" in starts and "tf.estimator" in starts:
        row["quantities"]["speedup"] = row["workers"]["tf.estimator"]["median"] / row["workers"]["tandem"]["median"]
        row["quantities"]["fastest peer"] = "tf.estimator"
    return row


def summarize(events):
    """{"rows": {name: ..}, "bars": [..]}: what `run` prints and writes as JSON."""
    rows = {}
    for name in dict.fromkeys(e["row"] for e in events):
        mine = [e for e in events if e["row"] == name]
        rows[name] = summarize_startup(mine) if name == STARTUP else summarize_row(mine)
    bars = []
    for bar in BARS:
        if bar.row not in rows:
            continue
        value = rows[bar.row]["quantities"].get(bar.quantity)
        reached = None
        if value is not None:
            reached = value >= bar.at_least if bar.at_least is not None else value <= bar.at_most
        bars.append({"text": bar.text, "row": bar.row, "quantity": bar.quantity, "measured": value,
                     "at_least": bar.at_least, "at_most": bar.at_most, "reached": reached})
    return {"rows": rows, "bars": bars}

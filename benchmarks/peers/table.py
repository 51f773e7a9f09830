"""The results as text."""
from results import YARDSTICKS


def _seconds(s):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if s >= scale:
            break
    return f"{s / scale:.3g} {unit}" if s < 100 else f"{s:.0f} s"


def _columns(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))).rstrip()
            for line in lines]


def _row(name, row):
    lines = [("", "median step", "fastest-slowest", "examples/s", "GFLOP/s", "of matmul", "Tandem is", "peak RSS",
              "first step")]
    failures = []
    for worker, w in sorted(row["workers"].items(), key=lambda item: item[1].get("median", 1e9)):
        if "median" not in w:
            failures.append(f"  {worker}: {w.get('failed', 'said nothing')}")
            continue
        lines.append((
            "  " + worker, _seconds(w["median"]), f"{_seconds(min(w['seconds']))} - {_seconds(max(w['seconds']))}",
            f"{w['batch'] / w['median']:.4g}" if "batch" in w and worker not in YARDSTICKS else "",
            f"{w['gflops_per_second']:.1f}" if w.get("gflops_per_second", 0) >= 0.1 else "",
            f"{w['matmul_fraction']:.2f}" if w.get("matmul_fraction", 0) >= 0.01 else "",
            f"{w['tandem_speedup']:.2f}x" if "tandem_speedup" in w and worker not in ("tandem", *YARDSTICKS) else "",
            f"{w['peak_rss_bytes'] / 2**20:.0f} MiB" if "peak_rss_bytes" in w else "",
            f"{w['first_step_seconds']:.2f} s" if "first_step_seconds" in w else ""))
    title = name
    if "matmul_gflops_per_second" in row:
        title += f" (1024^3 matmul: {row['matmul_gflops_per_second']:.1f} GFLOP/s)"
    if not row.get("same_parameters", True):
        failures.append("  the workers' models differ: not the same number of parameters")
    if not row.get("same_input", True):
        failures.append("  the workers' first batches differ")
    return [title] + _columns(lines) + failures + [""]


def render(results):
    """Every row with its workers, fastest first, and the bars. "Tandem is 2.00x": a step takes half as long."""
    out = []
    for name, row in results["rows"].items():
        out += _row(name, row)
    if results["bars"]:
        lines = [("bar", "wanted", "measured", "")]
        for bar in results["bars"]:
            wanted = f">= {bar['at_least']:g}" if bar["at_least"] is not None else f"<= {bar['at_most']:g}"
            measured = "-" if bar["measured"] is None else f"{bar['measured']:.3g}"
            verdict = {None: "not measured", True: "reached", False: "NOT reached"}[bar["reached"]]
            lines.append((bar["text"], wanted, measured, verdict))
        out += _columns(lines)
    return "\n".join(out) + "\n"

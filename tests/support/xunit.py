"""Runs named cases of an end-to-end test and writes them as test.xml, so that each one is counted."""
import os
import sys
import time
import traceback
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor


class Skipped(Exception):
    """Raised by a case that cannot run here; says why."""


def timed(function):
    """How a case ends: seconds, the traceback of its failure, why it was skipped."""
    start = time.time()
    error = skipped = None
    try:
        function()
    except Skipped as why:
        skipped = str(why)
    except Exception:  # any failure of a case is that case's
        error = traceback.format_exc()
    return time.time() - start, error, skipped


def run(suite, cases, at_once=1):
    """`cases`: (name, function) pairs, so many of them at once. A case fails by raising. Exits 1 when one failed."""
    root = ET.Element("testsuite", name=suite)
    failed = 0
    functions = [function for _, function in cases]
    results = map(timed, functions) if at_once == 1 else ThreadPoolExecutor(at_once).map(timed, functions)
    for (name, _), (seconds, error, skipped) in zip(cases, results):
        case = ET.SubElement(root, "testcase", classname=suite, name=name, time=f"{seconds:.2f}")
        result = "FAILED" if error else "SKIPPED" if skipped else "ok"
        print(f"{result} {suite}.{name} ({skipped or f'{seconds:.1f} s'})", flush=True)
        if skipped:
            ET.SubElement(case, "skipped", message=skipped)
        if error:
            failed += 1
            ET.SubElement(case, "failure", message=error.strip().splitlines()[-1]).text = error
            print(error, flush=True)
    path = os.environ.get("XML_OUTPUT_FILE")
    if path:
        ET.ElementTree(root).write(path)
    sys.exit(failed > 0)

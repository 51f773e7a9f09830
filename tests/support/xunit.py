"""Runs named cases of an end-to-end test and writes them as test.xml, so that each one is counted."""
import os
import sys
import time
import traceback
import xml.etree.ElementTree as ET


def run(suite, cases):
    """`cases`: (name, function) pairs. A case fails by raising. Exits 1 when one failed."""
    root = ET.Element("testsuite", name=suite)
    failed = 0
    for name, function in cases:
        start = time.time()
        error = None
        try:
            function()
        except Exception:  # any failure of a case is that case's
            error = traceback.format_exc()
        case = ET.SubElement(root, "testcase", classname=suite, name=name, time=f"{time.time() - start:.2f}")
        print(f"{'FAILED' if error else 'ok'} {suite}.{name} ({time.time() - start:.1f} s)", flush=True)
        if error:
            failed += 1
            ET.SubElement(case, "failure", message=error.strip().splitlines()[-1]).text = error
            print(error, flush=True)
    path = os.environ.get("XML_OUTPUT_FILE")
    if path:
        ET.ElementTree(root).write(path)
    sys.exit(failed > 0)

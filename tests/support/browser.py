"""Loads pages of tools in a headless Chromium."""
import html
import os
import re
import shutil
import subprocess


def program():
    for name in ("chromium-headless-shell", "chromium", "google-chrome"):
        if shutil.which(name):
            return name
    raise AssertionError("no chromium here; ./setup installs chromium-headless-shell")


def run(path, fragment, *flags):
    """What the browser prints. The page must not write to the console, as the browser itself does for an error."""
    done = subprocess.run([program(), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                           "--user-data-dir=" + os.path.join(os.environ.get("TEST_TMPDIR", "/tmp"), "browser"),
                           "--virtual-time-budget=10000", *flags, "file://%s#%s" % (path, fragment)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "CONSOLE" not in done.stderr, re.findall(".*CONSOLE.*", done.stderr)
    return done.stdout


def load(path, fragment=""):
    """The data- attributes of the root, and the text of the elements, after the script of the page has run without an
    error: it says so in data-ready and data-errors.
    """
    text = run(path, fragment, "--dump-dom")
    tag = re.search(r"<html([^>]*)>", text).group(1)
    root = {k: html.unescape(v) for k, v in re.findall(r'data-(\w+)="([^"]*)"', tag)}
    assert root.get("ready") == "1" and root.get("errors") == "0", root
    return root, text

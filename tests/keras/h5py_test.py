"""What is written is the same for h5py: each file of testdata that is read, copied by our reader and writer, compared
with the original object by object; then changed in place by h5py, and read again. h5dump reads the copies too. Where
h5py (python3-h5py) or h5dump (hdf5-tools) is not installed, the cases are skipped."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402

try:
    import h5py
    import numpy
except ImportError:
    h5py = None

TMP = os.environ["TEST_TMPDIR"]
DATA = "tests/keras/testdata/"
FILES = [f for f in sorted(glob.glob(DATA + "**/*.h5", recursive=True)) if not re.search("/(hostile|refused)/", f)]
FILES += [DATA + "hostile/%s.h5" % name for name in ("good", "float64", "big_endian", "latest", "not_finite", "integers")]


def copy(original, name):
    path = os.path.join(TMP, name)
    subprocess.run(["tests/keras/hdf5_copy", original, path], check=True)
    return path


def plain(value):
    """An attribute's value: texts whichever way they are stored, no list of nothing with a type."""
    if isinstance(value, h5py.Empty):
        return []
    if isinstance(value, (str, bytes, numpy.bytes_)):
        return value if isinstance(value, str) else value.decode()
    array = numpy.asarray(value)
    if array.size == 0:
        return []
    if array.dtype.kind in "OS":
        return [text if isinstance(text, str) else text.decode() for text in array.flat]
    return array.astype("f8").tolist() if array.dtype.kind == "f" else array.astype("i8").tolist()


def compare(a, b, path="/"):
    """The number of data sets below a and b, which must be the same."""
    assert sorted(a.attrs) == sorted(b.attrs), path
    for name in a.attrs:
        assert plain(a.attrs[name]) == plain(b.attrs[name]), (path, name, a.attrs[name], b.attrs[name])
    if isinstance(a, h5py.Dataset):
        assert isinstance(b, h5py.Dataset) and a.shape == b.shape, path
        assert a.dtype == b.dtype or a.dtype == bool and b.dtype == numpy.int8, (path, a.dtype, b.dtype)
        assert a[()].astype(b.dtype).tobytes() == b[()].tobytes(), path
        return 1
    assert list(a) == list(b), path
    return sum(compare(a[name], b[name], path + name + "/") for name in a)


def need_h5py():
    if h5py is None:
        raise xunit.Skipped("h5py is not installed (python3-h5py)")


def copies_are_the_same():
    need_h5py()
    for original in FILES:
        path = copy(original, "copy.h5")
        with h5py.File(original, "r") as a, h5py.File(path, "r") as b:
            assert compare(a, b) >= 1, original
    assert len(FILES) > 30, FILES


def changed_in_place():
    need_h5py()
    for original in FILES:
        path = copy(original, "changed.h5")
        with h5py.File(path, "r+") as f:
            for i in range(40):
                f["added/%d/kernel:0" % i] = numpy.full((3, 2), i, "f4")
            f.attrs["added"] = "a text"
            f.attrs["names"] = numpy.array([b"a", b"bc"])
            first = next(iter(f))
            if first != "added":
                del f[first]
        again = copy(path, "again.h5")
        with h5py.File(path, "r") as a, h5py.File(again, "r") as b:
            assert compare(a, b) >= 40, original


def h5dump_reads_copies():
    if not shutil.which("h5dump"):
        raise xunit.Skipped("h5dump is not installed (hdf5-tools)")
    for original in FILES:
        path = copy(original, "dumped.h5")
        done = subprocess.run(["h5dump", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0 and not done.stderr, (original, done.stderr)


xunit.run("h5py", [("copies_are_the_same", copies_are_the_same), ("changed_in_place", changed_in_place),
                   ("h5dump_reads_copies", h5dump_reads_copies)])

"""tandem-checkpoint reads the .npz files that others write, and Python's zipfile reads those it writes."""
import ast
import os
import struct
import subprocess
import sys
import zipfile

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402

TOOL = os.path.abspath("tools/tandem-checkpoint")
ARRAYS = {  # name -> (type, shape, values)
    "dense/kernel": ("<f4", (2, 3), [1.5, -2, 0, 4, 5, 1e-30]),
    "dense/kernel/Adam": ("<f4", (2, 3), [0, 1, 2, 3, 4, 5]),
    "scale": ("<f8", (), [0.1]),
    "counts": ("<i8", (3,), [1, -2, 9007199254740993]),
    "rows": ("<i4", (0, 2), []),
    "bytes": ("|u1", (2,), [0, 255]),
    "flags": ("|b1", (2,), [True, False]),
    "global_step": ("<i8", (), [7]),
}
CODES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B", "|b1": "?"}


def tool(*arguments, expect=0):
    result = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)
    assert result.returncode == expect, f"exit code {result.returncode}: {result.stdout}{result.stderr}"
    return result.stdout + result.stderr


def path(name):
    return os.path.join(os.environ["TEST_TMPDIR"], name)


def write(name, arrays):
    """As NumPy's documentation of the format says."""
    with zipfile.ZipFile(path(name), "w") as archive:
        for key, (descr, shape, values) in arrays.items():
            header = repr({"descr": descr, "fortran_order": False, "shape": shape})
            header += " " * (-(len(header) + 11) % 64) + "\n"
            data = struct.pack("<%d%s" % (len(values), CODES[descr]), *values)
            archive.writestr(key + ".npy",
                             b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
    return path(name)


def read(file):
    arrays = {}
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None, "a checksum is wrong"
        for info in archive.infolist():
            data = archive.read(info)
            assert data[:8] == b"\x93NUMPY\x01\x00" and info.filename.endswith(".npy"), info
            length = struct.unpack("<H", data[8:10])[0]
            assert (10 + length) % 64 == 0, "elements are aligned to 64 bytes"
            header = ast.literal_eval(data[10:10 + length].decode())
            assert header["fortran_order"] is False
            code = CODES[header["descr"]]
            values = [v[0] for v in struct.iter_unpack("<" + code, data[10 + length:])]
            arrays[info.filename[:-4]] = (header["descr"], header["shape"], values)
    return arrays


def float32(arrays):
    """The same with numbers as float32 rounds them."""
    return {k: (d, s, [struct.unpack("f", struct.pack("f", v))[0] for v in values] if d == "<f4" else values)
            for k, (d, s, values) in arrays.items()}


def expect_in(part, text):
    assert part in text, f"no {part!r} in {text}"


def there_and_back():
    given = write("given.npz", ARRAYS)
    tool("from_npz", given, path("made"))
    with open(path("made/state.json")) as state:
        expect_in('"global_step": 7', state.read())
    expect_in("1 -2 9007199254740993", tool("show", path("made"), "counts"))
    expect_in("6 variables with", tool("show", path("made")))
    tool("to_npz", path("made"), path("back.npz"))
    assert read(path("back.npz")) == float32(ARRAYS), read(path("back.npz"))
    tool("to_npz", path("made"), path("again.npz"))
    with open(path("back.npz"), "rb") as a, open(path("again.npz"), "rb") as b:
        assert a.read() == b.read(), "equal arrays, other bytes"


def nothing_is_replaced():
    given = write("kept.npz", ARRAYS)
    tool("from_npz", given, path("kept"))
    expect_in("is there already", tool("to_npz", path("kept"), given, expect=2))
    expect_in("is there already", tool("from_npz", given, path("kept"), expect=2))


def bad_files():
    bad = path("bad.npz")
    with open(bad, "wb") as f:
        f.write(b"PK\x03\x04 and nothing else")
    expect_in("bad.npz: it is not an .npz file or damaged", tool("from_npz", bad, path("bad"), expect=65))
    expect_in("absent.npz", tool("from_npz", path("absent.npz"), path("bad"), expect=66))
    with open(write("whole.npz", ARRAYS), "rb") as f:
        content = bytearray(f.read())
    content[content.index(b"\x93NUMPY") + 130] ^= 1  # an element: its checksum is wrong
    with open(bad, "wb") as f:
        f.write(content)
    expect_in("bad.npz", tool("from_npz", bad, path("bad"), expect=65))
    assert not os.path.exists(path("bad"))


xunit.run("checkpoint_npz_test", [(f.__name__, f) for f in (there_and_back, nothing_is_replaced, bad_files)])

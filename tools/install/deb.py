#!/usr/bin/python3
"""deb.py PACKAGE VERSION FOLDER [COMPRESSION]: writes the Debian packages of an installed Tandem, the folder PACKAGE,
into FOLDER; COMPRESSION is xz or, for tests, none.

libtandemX.Y has the library, libtandem-dev what programs are compiled with, tandem-tools the tools, python3-tandem the
module for Python. What they depend on is what dpkg-shlibdeps finds. Prints a line for each.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIBRARY = """Graph compiler and executor for estimator-style model functions
 Tandem compiles models that are written in C++ and trains them on CPUs and NVIDIA GPUs, on one machine or several.
 This package has the shared library."""
DEV = """Graph compiler and executor for estimator-style model functions (development)
 Tandem compiles models that are written in C++ and trains them on CPUs and NVIDIA GPUs, on one machine or several.
 This package has the headers, and files for CMake, pkg-config and Bazel."""
TOOLS = """Graph compiler and executor for estimator-style model functions (tools)
 Tandem compiles models that are written in C++ and trains them on CPUs and NVIDIA GPUs, on one machine or several.
 This package has the tools that show compiled programs, checkpoints and curves, run exported models and launch jobs."""
PYTHON = """Predictions, checkpoints and curves of models that Tandem has trained
 Tandem compiles models that are written in C++ and trains them on CPUs and NVIDIA GPUs, on one machine or several.
 This package has a module for Python that predicts with NumPy arrays."""
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tandem

Files: *
Copyright: 2026 the authors of Tandem
License: Apache-2.0

Files: usr/lib/libtandem-dnnl.so.3
Copyright: 2016-2023 Intel Corporation and others
License: Apache-2.0

License: Apache-2.0
 On Debian systems, the full text is in /usr/share/common-licenses/Apache-2.0.
"""
MODULE = "share/tandem/python/tandem/"
# Why the packages do what lintian asks about.
OVERRIDES = {
    "embedded-library": "Debian 12 has oneDNN 2.6; this is 3.x, under a name of its own",
    "custom-library-search-path": "the library finds that oneDNN beside itself",
    "no-symbols-control-file": "the API changes with every version before 1.0, and the package's name with it",
    "bogus-mail-host": "the project has no address of its own",
    "bogus-mail-host-in-debian-changelog": "the project has no address of its own",
    "package-name-doesnt-match-sonames": "the second library is this one's alone",
}


def wrapped(text):
    """A description in lines of at most 79 characters."""
    head, *rest = text.split("\n")
    words, lines = " ".join(rest).split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 77:
            lines.append("")
        lines[-1] += " " + word
    return "\n".join([head] + lines)


def shared_dependencies(root, libraries):
    """What the programs and libraries under `root` need of other packages than that of the folder `libraries`."""
    files = subprocess.run(["find", os.path.join(root, "usr"), "-type", "f", "(", "-name", "*.so.*", "-o", "-path",
                            "*/bin/*", ")"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    if not files:
        return []
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "debian"))
        with open(os.path.join(folder, "debian/control"), "w", encoding="utf-8") as control:
            control.write("Source: tandem\n\nPackage: tandem\nArchitecture: amd64\n")
        said = subprocess.run(["dpkg-shlibdeps", "-O", "--ignore-missing-info", "-l" + os.path.abspath(libraries),
                               *files], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if said.returncode:
            sys.exit("deb.py: dpkg-shlibdeps failed:\n" + said.stderr)
    return [name for name in said.stdout.strip().partition("shlibs:Depends=")[2].split(", ") if name]


def build(name, version, description, files, depends, libraries, folder, compression):
    """`files`: (source, path in the package)."""
    with tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o755)
        for source, path in files:
            target = os.path.join(root, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target, follow_symlinks=False)
            if not os.path.islink(target):
                os.chmod(target, 0o755 if "/bin/" in path else 0o644)
        doc = os.path.join(root, "usr/share/doc", name)
        os.makedirs(doc)
        with open(os.path.join(doc, "copyright"), "w", encoding="utf-8") as text:
            text.write(COPYRIGHT)
        changes = "tandem (%s) bookworm; urgency=medium\n\n  * Release.\n\n -- Tandem <tandem@localhost.localdomain>  %s\n"
        stamp = subprocess.run(["date", "-R", "-u", "-d", "@" + os.environ.get("SOURCE_DATE_EPOCH", "1767225600")],
                               stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        compressed = subprocess.run(["gzip", "-9n"], input=(changes % (version, stamp)).encode(), stdout=subprocess.PIPE,
                                    check=True).stdout
        with open(os.path.join(doc, "changelog.gz"), "wb") as text:
            text.write(compressed)
        lintian = os.path.join(root, "usr/share/lintian/overrides")
        os.makedirs(lintian)
        with open(os.path.join(lintian, name), "w", encoding="utf-8") as text:
            text.write("".join("# %s\n%s: %s\n" % (why, name, tag) for tag, why in OVERRIDES.items()))
        control = os.path.join(root, "DEBIAN")
        os.makedirs(control)
        size = sum(os.lstat(os.path.join(at, file)).st_size for at, _, names in os.walk(root) for file in names) // 1024
        with open(os.path.join(control, "control"), "w", encoding="utf-8") as text:
            text.write("Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: Tandem <tandem@localhost.localdomain>\n"
                       "Installed-Size: %d\nSection: %s\nPriority: optional\nDepends: %s\nDescription: %s\n" % (
                           name, version, size, "libdevel" if name.endswith("-dev") else "libs" if name.startswith("lib")
                           else "python" if name.startswith("python3-") else "science", ", ".join(depends + shared_dependencies(root, libraries)), wrapped(description)))
        if name.startswith("lib") and not name.endswith("-dev"):
            with open(os.path.join(control, "triggers"), "w", encoding="utf-8") as text:
                text.write("activate-noawait ldconfig\n")
            with open(os.path.join(control, "shlibs"), "w", encoding="utf-8") as text:
                text.write("".join("%s %s %s (>= %s)\n" % (library, name[len("libtandem"):], name, version)
                                   for library in ("libtandem", "libtandem_rt")) + "libtandem-dnnl 3 %s\n" % name)
        for at, folders, names in os.walk(root):
            for entry in folders:
                os.chmod(os.path.join(at, entry), 0o755)
        package = os.path.join(folder, "%s_%s_amd64.deb" % (name, version))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Z" + compression, "--build", root, package], check=True,
                       stdout=subprocess.DEVNULL)
        print("%s %.1f MB" % (package, os.path.getsize(package) / 1e6))


def main():
    package, version, folder, *rest = sys.argv[1:]
    compression = rest[0] if rest else "xz"
    os.makedirs(folder, exist_ok=True)
    files = {}
    for at, folders, names in os.walk(package):
        for name in names + [entry for entry in folders if os.path.islink(os.path.join(at, entry))]:
            path = os.path.relpath(os.path.join(at, name), package)
            kind = ("library" if re.match(r"lib/[^/]+\.so\.", path) else "tools" if path.startswith("bin/") else
                    "python" if path.startswith(MODULE) else "dev")
            place = path.replace(MODULE, "lib/python3/dist-packages/tandem/") if kind == "python" else path
            files.setdefault(kind, []).append((os.path.join(at, name), "usr/" + place))
    libraries = os.path.join(package, "lib")
    library = "libtandem" + version.rpartition(".")[0]
    same = "%s (= %s)" % (library, version)
    build(library, version, LIBRARY, files["library"], [], libraries, folder, compression)
    build("libtandem-dev", version, DEV, files["dev"], [same, "libabsl-dev"], libraries, folder, compression)
    build("tandem-tools", version, TOOLS, files["tools"], [same], libraries, folder, compression)
    build("python3-tandem", version, PYTHON, files["python"], [same, "python3:any", "python3-numpy"], libraries, folder,
          compression)


main()

"""LLVM and MLIR as shared libraries that have what some programs use, and no more: a quarter of the bytes.

Programs that are linked with Debian's libLLVM.so and libMLIR.so name what they take from them. Libraries of the same
names are linked anew from LLVM's static archives, with these names as the only ones that must be there.
"""
import glob
import os
import subprocess

LLVM = "/usr/lib/llvm-19/lib"
# Name, version of its symbols, archives, what it is linked with.
LIBRARIES = (
    ("libMLIR.so.19.1", "", "libMLIR*.a", ["-L" + LLVM, "-lLLVM-19"]),
    ("libLLVM.so.19.1", "LLVM_19.1", "libLLVM*.a", ["-lz", "-l:libzstd.so.1", "-lm"]),
)


def symbols(path):
    """Of a program's or library's dynamic table: name -> type as of `nm`, for what it defines; names of the rest."""
    defined, undefined = {}, set()
    for line in subprocess.run(["nm", "-D", path], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        name = words[-1].split("@")[0]
        if words[-2] in "Uwv":
            undefined.add(name)
        else:
            defined[name] = words[-2]
    return defined, undefined


def link(programs, folder):
    """Links the libraries that `programs` need into `folder`."""
    tables = {name: symbols(os.path.join(LLVM, name))[0] for name, *_ in LIBRARIES}
    first, second = tables.values()
    # Static data of inline functions is in both, and must be one. What a program exports takes the libraries' place, too.
    data = {s for s in first if s in second and first[s] in "uVBD"}
    users = list(programs)
    for name, version, archives, options in LIBRARIES:
        table, wanted = tables[name], set(data)
        for user in users:
            defined, undefined = symbols(user)
            wanted |= set(defined) | undefined
        wanted &= set(table)
        target = os.path.join(folder, name)
        script, roots = target + ".map", target + ".roots"
        with open(script, "w", encoding="utf-8") as out:
            out.write(version + "{ global:\n" + "".join(f'"{s}";\n' for s in sorted(wanted)) + "local: *; };\n")
        with open(roots, "w", encoding="utf-8") as out:
            out.write("".join(f"-Wl,-u,{s}\n" for s in sorted(wanted) if table[s] in "TDBR"))
        subprocess.run(["g++", "-shared", "-o", target, f"-Wl,-soname,{name}", "-Wl,--gc-sections",
                        f"-Wl,--version-script={script}", "@" + roots, "-Wl,--start-group",
                        *sorted(glob.glob(os.path.join(LLVM, archives))), "-Wl,--end-group", *options], check=True)
        os.remove(script)
        os.remove(roots)
        users.append(target)

"""An installed Tandem: what it exports and contains, and projects outside of the repository that use it."""
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]
PACKAGE = os.path.abspath("tools/install/package")
SAMPLE = os.path.abspath("samples/fashion_mnist")
NOBODY = 65534
OTHER_LLVM = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"  # of the package libllvm14, which clang-format needs


def run(*command, cwd=None, expect=0, env=None, **options):
    """Its output (stdout and stderr); raises unless it exits with `expect`."""
    result = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
                            env={**os.environ, **(env or {})}, **options)
    if result.returncode != expect:
        raise AssertionError("exit code %d instead of %d of %s:\n%s" % (result.returncode, expect, " ".join(command),
                                                                        result.stdout[-3000:]))
    return result.stdout


@functools.cache
def prefix():
    """The folder that is installed, in another place than where it was made, readable by all."""
    os.chmod(TMP, 0o755)
    folder = os.path.join(TMP, "moved")
    shutil.copytree(PACKAGE, folder, symlinks=True)
    run("chmod", "-R", "u+w,a+rX", folder)
    return folder


def library():
    return os.path.join(prefix(), "lib/libtandem.so.0.1")


def compile_flags():
    """Flags of pkg-config."""
    found = run("pkg-config", "--cflags", "--libs", "tandem",
                env={"PKG_CONFIG_PATH": os.path.join(prefix(), "lib/pkgconfig")})
    return found.split()


@functools.cache
def host():
    """A program that uses the library without RunProgram."""
    program = os.path.join(TMP, "host")
    run("g++", "-O1", os.path.abspath("tests/install/host.cc"), *compile_flags(), "-ldl", "-lpthread", "-o", program)
    return program


def names_of(path):
    """Demangled names that a library exports."""
    return run("nm", "-D", "--defined-only", "--demangle", path).splitlines()


def exports_the_api_only():
    names = [line.split(" ", 2)[2] for line in names_of(library())]
    others = [name for name in names if not re.match(r"(vtable for |typeinfo (name )?for |VTT for )?tandem::", name)
              and not name.startswith("tandem_")]
    assert not others, others[:20]
    inner = [name for name in names if re.search("llvm|mlir", name, re.I)]
    assert not inner, inner[:20]
    assert any("tandem::Estimator::Train(" in name for name in names), len(names)


def programs_export_nothing_of_the_compiler():
    inner = [name for name in names_of(host()) if re.search("llvm|mlir", name, re.I)]
    assert not inner, inner[:20]


def programs_of_the_repository_hide_the_compiler():
    inner = [name for name in names_of(SAMPLE) if re.search("llvm|mlir|tandem", name, re.I)]
    assert not inner, inner[:20]
    said = run(SAMPLE, "--max_steps=2", "--eval_examples=train:64", env={"LD_PRELOAD": OTHER_LLVM})
    assert "accuracy = " in said, said


def needs_packages_of_debian_and_its_own_onednn():
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", library()))
    assert "libtandem-dnnl.so.3" in needed, needed
    assert not [name for name in needed if re.search("LLVM|MLIR|dnnl", name) and name != "libtandem-dnnl.so.3"], needed
    assert re.search(r"RUNPATH.*\[\$ORIGIN\]", run("readelf", "-d", library()))
    assert "not found" not in run("ldd", library())


def headers_include_only_what_is_installed():
    includes = os.path.join(prefix(), "include")
    count = 0
    for folder, _, names in os.walk(includes):
        for name in names:
            count += 1
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for header in re.findall(r'^\s*#\s*include\s*["<]([^">]+\.h)[">]', file.read(), re.M):
                    there = os.path.exists(os.path.join(includes, header))
                    assert there or re.match(r"absl/|std(int|def)\.h$", header), (name, header)
    assert count > 100, count


def every_header_compiles_by_itself():
    headers = run("find", ".", "-name", "*.h", cwd=os.path.join(prefix(), "include")).split()
    source = os.path.join(TMP, "headers.cc")
    # Twice, since each must have a guard; in the order of a listing, which is not the one that they were written for.
    with open(source, "w", encoding="utf-8") as file:
        file.write("".join('#include "%s"\n' % name[2:] for name in sorted(headers, reverse=True) * 2))
    run("g++", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-missing-field-initializers", source,
        *compile_flags())


def another_abseil_is_named():
    folder = os.path.join(TMP, "other/absl/base")
    os.makedirs(folder)
    with open(os.path.join(folder, "options.h"), "w", encoding="utf-8") as file:
        file.write("#define ABSL_OPTION_USE_INLINE_NAMESPACE 1\n#define ABSL_OPTION_INLINE_NAMESPACE_NAME lts_20230125\n")
    source = os.path.join(TMP, "other.cc")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "tandem/base/api.h"\n')
    said = run("g++", "-fsyntax-only", "-I" + os.path.join(TMP, "other"), *compile_flags(), source, expect=1)
    assert "Tandem needs Debian 12's Abseil" in said, said


@functools.cache
def fashion():
    """The program of examples/cmake."""
    project, build = os.path.join(TMP, "cmake"), os.path.join(TMP, "cmake_build")
    shutil.copytree("examples/cmake", project)
    run("cmake", "-S", project, "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix())
    run("cmake", "--build", build)
    run("chmod", "-R", "a+rX", build)
    return os.path.join(build, "fashion")


def the_cmake_example_trains_and_predicts():
    said = run(fashion(), "--model_dir=" + os.path.join(TMP, "model"), "--max_steps=200")
    accuracy = float(re.search(r"accuracy = ([\d.]+)", said)[1])
    assert accuracy > 0.7, said
    assert "the first image is of class 9" in said, said
    assert os.path.getsize(fashion()) < 2 << 20


def the_same_bits_as_a_second_run():
    said = [run(fashion(), "--model_dir=" + os.path.join(TMP, name), "--max_steps=20") for name in ("a", "b")]
    losses = [re.findall(r"loss = [\d.]+", text) for text in said]
    assert losses[0] and losses[0] == losses[1], losses


def another_user_runs_it():
    if os.getuid() != 0:
        raise xunit.Skipped("needs root, to become another user")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # where anybody may go
        shutil.copytree(os.path.join(prefix(), "lib"), os.path.join(folder, "lib"), symlinks=True)
        program = shutil.copy(fashion(), folder)
        os.chown(folder, NOBODY, NOBODY)
        run("setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups", program, "--max_steps=2",
            "--model_dir=" + os.path.join(folder, "model"), cwd=folder,
            env={"HOME": folder, "TMPDIR": folder, "LD_LIBRARY_PATH": os.path.join(folder, "lib")})


def a_wrong_version_is_refused():
    project = os.path.join(TMP, "wrong")
    os.makedirs(project)
    with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write("cmake_minimum_required(VERSION 3.18)\nproject(p CXX)\nfind_package(Tandem 0.2 REQUIRED)\n")
    said = run("cmake", "-S", project, "-B", os.path.join(project, "b"), "-DCMAKE_PREFIX_PATH=" + prefix(), expect=1)
    assert "0.1.0" in said, said


def a_sample_builds_as_source():
    build = os.path.join(TMP, "samples_build")
    run("cmake", "-S", os.path.join(prefix(), "share/tandem/samples"), "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix())
    run("cmake", "--build", build, "--target", "linear_estimator", "-j2")
    said = run(os.path.join(build, "linear_estimator"), "--epochs=3")
    assert "kernel" in said or "loss" in said, said


def the_bazel_example_runs():
    project, base = os.path.join(TMP, "bazel"), os.path.join(TMP, "bazel_base")
    shutil.copytree("examples/bazel", project)
    rules = os.path.join(prefix(), "share/tandem/bazel")
    bazel = ["bazel", "--output_user_root=" + base, "--max_idle_secs=1"]
    try:
        said = run(*bazel, "run", "--override_repository=tandem_rules=" + rules, "//:points", cwd=project)
    finally:
        run(*bazel, "shutdown", cwd=project)
    assert re.search(r"y = (9\.9|10\.0)\d x \+ (4\.9|5\.0)\d", said), said


def tools_are_in_the_library():
    tools = os.listdir(os.path.join(prefix(), "bin"))
    assert "tandem-dump" in tools and "tandem-serve" in tools, tools
    for tool in tools:
        path = os.path.join(prefix(), "bin", tool)
        assert os.path.getsize(path) < 100_000, tool
        assert "Flags:" in run(path, "--help"), tool
    model = os.path.join(TMP, "dumped")
    run(fashion(), "--model_dir=" + model, "--max_steps=2")
    assert "conv2d" in run(os.path.join(prefix(), "bin/tandem-dump"), model)
    assert "no_such_flag" in run(os.path.join(prefix(), "bin/tandem-dump"), model, "--no_such_flag", expect=2)


def serving_needs_no_compiler():
    library_of_c = os.path.join(prefix(), "lib/libtandem_rt.so.0.1")
    assert os.path.getsize(library_of_c) < 8 << 20, os.path.getsize(library_of_c)
    names = [line.split(" ", 2)[2] for line in names_of(library_of_c)]
    assert "tandem_predict" in names, names
    exports = os.path.join(TMP, "served/export")
    run(fashion(), "--model_dir=" + os.path.dirname(exports), "--max_steps=2")
    program = ("import numpy, tandem; model = tandem.load(%r); "
               "print(model.predict(numpy.zeros((3, 28, 28, 1), numpy.float32))['logits'].shape)" % exports)
    said = run(sys.executable, "-c", program, env={"PYTHONPATH": os.path.join(prefix(), "share/tandem/python"),
                                                  "TANDEM_LIBRARY": library_of_c})
    assert said == "(3, 10)\n", said


def the_c_header_is_c():
    source = os.path.join(TMP, "version.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "tandem/tandem_c.h"\nint main(void) { return tandem_c_version() != TANDEM_C_VERSION; }\n')
    program = os.path.join(TMP, "version")
    run("gcc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I" + os.path.join(prefix(), "include"), source,
        library(), "-Wl,-rpath," + os.path.join(prefix(), "lib"), "-o", program)
    run(program)


def debian_packages():
    folder = os.path.join(TMP, "deb")
    run("tools/install/deb.py", PACKAGE, "0.1.0", folder, "none")
    packages = {name.partition("_")[0]: os.path.join(folder, name) for name in os.listdir(folder)}
    assert set(packages) == {"libtandem0.1", "libtandem-dev", "tandem-tools", "python3-tandem"}, packages
    depends = {name: run("dpkg-deb", "-f", path, "Depends") for name, path in packages.items()}
    assert re.search(r"libabsl20220623.*libc6 \(>= 2.36\).*libprotobuf32", depends["libtandem0.1"]), depends
    assert not re.search("LLVM|libdnnl|libgrpc|libssl", depends["libtandem0.1"], re.I), depends
    assert "libtandem0.1 (= 0.1.0), libabsl-dev" in depends["libtandem-dev"], depends
    root = os.path.join(TMP, "deb_root")
    for path in packages.values():
        run("dpkg-deb", "-x", path, root)
    run("cmake", "-S", "examples/cmake", "-B", os.path.join(TMP, "deb_build"),
        "-DCMAKE_PREFIX_PATH=" + os.path.join(root, "usr"))
    if not shutil.which("lintian"):
        raise xunit.Skipped("all but lintian, which is not here")
    said = subprocess.run(["lintian", "--allow-root", *packages.values()], stdout=subprocess.PIPE, text=True).stdout
    complaints = [line for line in said.splitlines() if line.startswith("E:") and "uses-no-compression" not in line]
    assert not complaints, complaints


def flags_of_the_program_are_known():
    said = run(fashion(), "--help")
    assert "--max_steps" in said, said
    said = run(fashion(), "--max_step=3", expect=2)
    assert "max_step" in said, said


def the_host_keeps_what_is_its():
    said = run(host(), "handlers")
    assert said.splitlines()[-1] == "as before", said


def a_plugin_is_opened_closed_and_opened_again():
    said = run(host(), "plugin", library())
    assert said.splitlines()[-1] == "opened twice", said


@functools.cache
def beside_llvm():
    """A program that links LLVM 14 in front of Tandem."""
    if not os.path.exists(OTHER_LLVM):
        raise xunit.Skipped("there is no libLLVM-14.so.1")
    program = os.path.join(TMP, "beside_llvm")
    run("g++", "-O1", os.path.abspath("tests/install/beside_llvm.cc"), "-Wl,--no-as-needed", OTHER_LLVM, *compile_flags(),
        "-o", program)
    return program


def another_llvm_before_and_after():
    for order, count in (("llvm-first", 2), ("tandem-first", 1)):
        said = run(beside_llvm(), order)
        assert said.count("LLVM 14: 42\n") == count and "Tandem: kernel 2.0\n" in said, (order, said)


def a_library_that_hides_nothing_fails_there():
    folder = os.path.join(TMP, "naive")
    os.makedirs(folder)
    os.symlink(os.path.join(prefix(), "lib/libtandem-dnnl.so.3"), os.path.join(folder, "libtandem-dnnl.so.3"))
    shutil.copy("tools/install/libtandem_that_hides_nothing.so", os.path.join(folder, "libtandem.so.0.1"))
    for order in ("llvm-first", "tandem-first"):
        done = subprocess.run([beside_llvm(), order], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                              env={**os.environ, "LD_LIBRARY_PATH": folder})
        assert done.returncode != 0, (order, done.stdout[-1000:])


CASES = [exports_the_api_only, programs_export_nothing_of_the_compiler, programs_of_the_repository_hide_the_compiler,
         needs_packages_of_debian_and_its_own_onednn,
         headers_include_only_what_is_installed, every_header_compiles_by_itself, another_abseil_is_named,
         the_cmake_example_trains_and_predicts, the_same_bits_as_a_second_run, another_user_runs_it,
         a_wrong_version_is_refused, a_sample_builds_as_source, the_bazel_example_runs, tools_are_in_the_library,
         serving_needs_no_compiler, the_c_header_is_c, debian_packages,
         flags_of_the_program_are_known, the_host_keeps_what_is_its,
         a_plugin_is_opened_closed_and_opened_again,
         another_llvm_before_and_after, a_library_that_hides_nothing_fails_there]
xunit.run("install", [(case.__name__, case) for case in CASES])

"""deploy/Dockerfile, without Docker: its instructions, what they copy, packages, and the programs as it stages them."""
import functools
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tests/deploy"))
import tasks  # noqa: E402
import xunit  # noqa: E402

INSTRUCTIONS = ("FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "CMD")
# In every image of Debian.
BASE = {"libc6"}


def lines(path):
    """Without comments and blank lines; what goes on in the next line is joined."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^\s*#.*\n", "", file.read(), flags=re.M)
    return [line.strip() for line in re.sub(r"\\\n\s*", "", text).splitlines() if line.strip()]


def stages():
    """[(base, name, [(instruction, rest)])]"""
    result = []
    for line in lines("deploy/Dockerfile"):
        instruction, _, rest = line.partition(" ")
        assert instruction in INSTRUCTIONS, line
        if instruction == "FROM":
            base, _, name = rest.partition(" AS ")
            result.append((base, name, []))
        else:
            result[-1][2].append((instruction, rest))
    return result


def of(stage, instruction):
    return [rest for kind, rest in stage[2] if kind == instruction]


def installed_packages(stage):
    install, = [run for run in of(stage, "RUN") if "apt-get install" in run]
    words = re.search(r"apt-get install (.*?) &&", install)[1].split()
    return [word for word in words if not word.startswith("-")]


@functools.cache
def stage_here():
    """A folder in place of /opt/tandem, filled as the first stage fills it from bazel-bin."""
    target = tasks.fresh_dir("opt_tandem")
    command, = [run for run in of(stages()[0], "RUN") if "bazel-bin" in run]
    here = command.replace("/opt/tandem", target).replace("cd bazel-bin", "cd " + os.getcwd())
    assert here != command
    subprocess.run(["/bin/sh", "-ec", here], check=True)
    return target


def stages_and_user():
    build, image = stages()
    assert build[:2] == ("debian:12", "build") and image[:2] == ("debian:12-slim", ""), (build, image)
    kinds = [kind for kind, _ in image[2]]
    assert of(image, "USER") == ["1000:1000"] and kinds.index("USER") > max(
        i for i, kind in enumerate(kinds) if kind == "RUN"), "commands behind USER cannot install"
    assert any("useradd --uid 1000 " in run for run in of(image, "RUN"))
    # Setup and build are those of README.md, and build what is staged.
    runs = of(build, "RUN")
    assert runs[0] == "./setup --no-tests" and runs[1].startswith("bazel build //"), runs
    for target in runs[1].split()[2:]:
        path = target[2:].replace(":", "/")
        assert path in runs[2] and os.path.isfile(path), f"{target} is not what is staged"


def copies_what_is_there():
    build, image = stages()
    for copy in of(build, "COPY"):
        *sources, target = copy.split()
        assert target == "./", copy
        for source in sources:
            assert not source.startswith(("/", "..")) and os.path.exists(source), f"{source} is not in the repository"
    for copy in of(image, "COPY"):
        assert re.fullmatch(r"--from=build (/\S+) \1", copy), copy
        assert any(f"mkdir -p {copy.split()[1]} " in run for run in of(build, "RUN")), copy


def names_no_host():
    for name in ("deploy/Dockerfile", "deploy/Dockerfile.dockerignore"):
        found = re.findall(r"\w+://\S+|\b\d+\.\d+\.\d+\.\d+\b|\blocalhost\b", "\n".join(lines(name)))
        assert not found, found


def build_outputs_are_not_sent():
    ignored = {line.strip("/") for line in lines(".gitignore")} - {"__pycache__"}
    missing = ignored - set(lines("deploy/Dockerfile.dockerignore"))
    assert not missing and ".git" in lines("deploy/Dockerfile.dockerignore"), missing


@functools.cache
def installed_here():
    """{package: what it depends on}"""
    query = subprocess.run(["dpkg-query", "-W", "-f", "${Package}=${Pre-Depends},${Depends}\n"], stdout=subprocess.PIPE,
                           text=True, check=True).stdout
    return {name: re.findall(r"([a-z0-9][a-z0-9.+-]+)(?:[ :][^,|]*)?(?:[,|]|$)", rest)
            for name, _, rest in (line.partition("=") for line in query.splitlines())}


def packages_exist():
    # setup installs most of them, as what its packages depend on.
    unknown = sorted(set(installed_packages(stages()[1])) - set(installed_here()))
    if not unknown:
        return
    # apt-cache knows no package at all where nothing was fetched.
    known = subprocess.run(["apt-cache", "show", "libc6", *unknown], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True, check=False).stdout
    names = set(re.findall(r"^Package: (\S+)$", known, re.M))
    assert "libc6" not in names or set(unknown) <= names, sorted(set(unknown) - names)


def files_of(package):
    for name in (package, package + ":amd64"):
        path = f"/var/lib/dpkg/info/{name}.list"
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                # As they are where /lib is a link to /usr/lib.
                return {os.path.realpath(line) for line in file.read().splitlines() if ".so" in line}
    return set()


def with_dependencies(packages):
    seen, work = set(), list(packages)
    while work:
        package = work.pop()
        if package not in seen:
            seen.add(package)
            work += installed_here().get(package, [])
    return seen


def linked_libraries(program):
    linked = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "not found" not in linked, linked
    return {os.path.realpath(path) for path in re.findall(r"=> (/\S+)", linked)}


def libraries_are_in_the_image():
    target = os.path.realpath(stage_here())
    packages = installed_packages(stages()[1])
    there = set().union(*(files_of(package) for package in with_dependencies(packages) | BASE))
    libraries = linked_libraries(target + "/samples/fashion_mnist")
    staged = {library for library in libraries if library.startswith(target)}
    assert [os.path.basename(library) for library in staged] == ["libdnnl.so.3"], staged
    libraries |= linked_libraries(target + "/tools/tandem-cluster")
    assert libraries - staged <= there, f"the image lacks {sorted(libraries - staged - there)}"
    # Opened with the first archive (data/files/libzip.h).
    opened = {"libzip4"}
    assert opened <= set(packages), f"the image lacks {sorted(opened - set(packages))}"
    needless = [p for p in packages if not files_of(p) & libraries and p not in opened | {"dataset-fashion-mnist"}]
    assert not needless, f"the image needs no {needless}"


def staged_programs_run():
    target = stage_here()
    program, flag = json.loads(of(stages()[1], "CMD")[0])
    assert flag == "--model_dir=/model_dir/fashion_mnist", flag
    model_dir = os.path.join(tasks.fresh_dir("model_dir"), "fashion_mnist")
    running = tasks.Tasks({"one": ([program.replace("/opt/tandem", target), "--model_dir=" + model_dir,
                                    *tasks.quick_flags(tasks.small_data())], {})})
    running.expect(0)
    assert "global_step = 6," in running.output("one").splitlines()[-1], running.tails()
    environment = {"TANDEM_NUM_PROCESSES": "2", "JOB_COMPLETION_INDEX": "1", "TANDEM_COORDINATOR": "train-0.train:2222"}
    running = tasks.Tasks({"two": ([target + "/tools/tandem-cluster"], environment)})
    running.expect(0)
    assert "rank 1 of 2, rank 0 at train-0.train:2222, by Kubernetes" in running.output("two"), running.tails()


xunit.run("image", [(f.__name__, f) for f in (
    stages_and_user, copies_what_is_there, names_no_host, build_outputs_are_not_sent, packages_exist,
    libraries_are_in_the_image, staged_programs_run)])

"""The folder that ./install copies, and the headers in it."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_VIRTUAL = "/_virtual_includes/"

def _write_listing(ctx, placed):
    """A file with a line "FILE<tab>PLACE" for each of `placed`, pairs of a file and where it goes."""
    listing = ctx.actions.declare_file(ctx.label.name + ".files")
    ctx.actions.write(listing, "\n".join([file.path + "\t" + place for file, place in placed]))
    return listing

def _headers_for_users(ctx):
    headers = depset(transitive = [
        dep[CcInfo].compilation_context.headers
        for dep in ctx.attr.deps
    ]).to_list()
    placed = [
        (file, file.path.split(_VIRTUAL)[1].partition("/")[2])
        for file in headers
        if _VIRTUAL in file.path
    ]
    placed_alone = [(target.files.to_list()[0], place) for target, place in ctx.attr.others.items()]
    listing = _write_listing(ctx, placed + placed_alone)
    out = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run(
        executable = ctx.file._collect,
        arguments = [listing.path, out.path] + [place for _, place in placed_alone],
        inputs = [file for file, _ in placed + placed_alone] + [listing],
        outputs = [out],
        mnemonic = "HeadersForUsers",
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

headers_for_users = rule(
    doc = "A folder with the headers that tandem/tandem.h reaches, and others.",
    implementation = _headers_for_users,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "others": attr.label_keyed_string_dict(allow_files = True, doc = "headers -> how they are included"),
        "_collect": attr.label(default = "//tools/install:collect_headers.py", allow_single_file = True),
    },
)

def _package(ctx):
    placed = [(file, "include") for file in ctx.files.headers]
    for target, place in ctx.attr.files.items():
        for file in target.files.to_list():
            placed.append((file, place + file.basename if place.endswith("/") else place))
    listing = _write_listing(ctx, placed)
    out = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run(
        executable = ctx.file._package,
        arguments = [listing.path, ctx.file.version.path, out.path],
        inputs = [file for file, _ in placed] + [listing, ctx.file.version],
        outputs = [out],
        # It is as large as all that is in it.
        execution_requirements = {"no-cache": "1"},
        mnemonic = "Package",
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

tandem_package = rule(
    doc = "A folder with what is installed.",
    implementation = _package,
    attrs = {
        "files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "files -> where they go; into a folder that ends in /",
        ),
        "headers": attr.label(doc = "headers_for_users"),
        "version": attr.label(allow_single_file = True, doc = "a file with the version, put in for @VERSION@"),
        "_package": attr.label(default = "//tools/install:package.py", allow_single_file = True),
    },
)

def _tool_programs(ctx):
    programs = []
    for tool in ctx.attr.tools:
        program = ctx.actions.declare_file(ctx.label.name + "/tandem-" + tool)
        ctx.actions.run(
            executable = find_cpp_toolchain(ctx).compiler_executable,
            arguments = [
                "-O1",
                "-s",
                "-DTANDEM_TOOL=\"%s\"" % tool,
                "-I" + ctx.file.headers.path + "/tandem",
                ctx.file.src.path,
                "-o",
                program.path,
                "-Wl,-rpath,$ORIGIN/../lib",
            ] + [library.path for library in ctx.files.libraries],
            inputs = [ctx.file.src, ctx.file.headers] + ctx.files.libraries,
            outputs = [program],
            env = {"PATH": "/usr/bin:/bin"},
            mnemonic = "ToolProgram",
        )
        programs.append(program)
    return [DefaultInfo(files = depset(programs), runfiles = ctx.runfiles(files = programs))]

tool_programs = rule(
    doc = "Programs of tools that are in a shared library.",
    implementation = _tool_programs,
    attrs = {
        "headers": attr.label(allow_single_file = True, doc = "headers_for_users"),
        "libraries": attr.label_list(allow_files = True),
        "src": attr.label(allow_single_file = True, doc = "source in C, which finds the tool's name in TANDEM_TOOL"),
        "tools": attr.string_list(doc = "their names, without tandem-"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

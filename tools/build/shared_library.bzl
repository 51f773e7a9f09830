"""One shared library with all of Tandem in it, and LLVM and MLIR inside, unseen.

All objects of its dependencies are in it, whether something refers to them or not: what refers to them is in programs.
It exports what headers for users declare (base/api.h, exported_names.py). Abseil and protobuf stay shared: Debian's
archives of them are for programs alone (R_X86_64_TPOFF32), and there must be one registry of flags.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("//third_party:program.bzl", "STATIC_COMPILER")

_LINKER = ["-fuse-ld=lld", "-B/usr/lib/llvm-19/bin"]

# Archives that programs link and a shared library cannot.
_NOT_FOR_LIBRARIES = ("-l:libabsl_", "-l:libprotobuf.", "-l:libre2.")

def _flag(flag):
    """A linker flag of a dependency as the library takes it; None for the compiler's shared libraries."""
    if flag in ("-lMLIR", "-lLLVM-19") or flag.startswith("-Wl,-rpath,/usr/lib/llvm"):
        return None
    for archive in _NOT_FOR_LIBRARIES:
        if flag.startswith(archive):
            return "-l" + flag[len("-l:lib"):-len(".a")]
    return flag

def _shared_library(ctx):
    toolchain = find_cpp_toolchain(ctx)
    linker_inputs = depset(
        transitive = [dep[CcInfo].linking_context.linker_inputs for dep in ctx.attr.deps],
        order = "topological",
    ).to_list()
    objects = [
        file
        for linker_input in linker_inputs
        for library in linker_input.libraries
        for file in (library.pic_objects or library.objects or [])
    ]
    flags = [_flag(flag) for linker_input in linker_inputs for flag in linker_input.user_link_flags]
    listing = ctx.actions.declare_file(ctx.label.name + ".objects")
    ctx.actions.write(listing, "\n".join([file.path for file in objects]))

    exports = ctx.actions.declare_file(ctx.label.name + ".exports")
    ctx.actions.run(
        executable = ctx.file._exported_names,
        arguments = ["list", listing.path, ctx.file.headers.path, exports.path],
        inputs = objects + [listing, ctx.file.headers],
        outputs = [exports],
        mnemonic = "ExportedNames",
    )

    linked = ctx.actions.declare_file(ctx.label.name + ".linked")
    ctx.actions.run(
        executable = toolchain.compiler_executable,
        arguments = [
            "-shared",
            "-o",
            linked.path,
            "-Wl,-soname," + (ctx.attr.soname or ctx.label.name),
            "-Wl,--build-id",
            "-Wl,--gc-sections",
            "-Wl,--strip-all",
            "-Wl,-z,defs",
            # Programs may go on using it while they end, and kernels have no end.
            "-Wl,-z,nodelete",
            "-Wl,-rpath,$ORIGIN",
            "@" + listing.path,
        ] + (["-Wl,--version-script=" + exports.path] if ctx.attr.hides else []) + _LINKER + STATIC_COMPILER + [file.path for file in ctx.files.libraries] + [flag for flag in flags if flag] + ["-lstdc++", "-lm"],
        inputs = objects + [listing, exports] + ctx.files.libraries,
        outputs = [linked],
        env = {"PATH": "/usr/bin:/bin"},
        # To link it takes about as long as to copy it from a cache.
        execution_requirements = {"no-cache": "1"},
        mnemonic = "LinkSharedLibrary",
    )

    library = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.run(
        executable = ctx.file._exported_names,
        arguments = ["publish", linked.path, library.path],
        inputs = [linked],
        outputs = [library],
        execution_requirements = {"no-cache": "1"},
        mnemonic = "PublishNames",
    )
    return [
        DefaultInfo(files = depset([library]), runfiles = ctx.runfiles(files = [library])),
        OutputGroupInfo(exports = depset([exports])),
    ]

tandem_shared_library = rule(
    implementation = _shared_library,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "soname": attr.string(doc = "empty: the rule's name"),
        "headers": attr.label(allow_single_file = True, doc = "the folder of headers for users"),
        "hides": attr.bool(
            default = True,
            doc = "False: exports every name, so that a test can see what that does to a process",
        ),
        "libraries": attr.label_list(allow_files = True, doc = "shared libraries that lie beside it"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_exported_names": attr.label(
            default = "//tools/build:exported_names.py",
            allow_single_file = True,
        ),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

"""tandem_installed: an installed Tandem as an external repository, of which nothing is compiled.

In WORKSPACE, with the folder that ./install was given:

    local_repository(name = "tandem_rules", path = "/opt/tandem/share/tandem/bazel")
    load("@tandem_rules//:tandem.bzl", "tandem_installed")
    tandem_installed(name = "tandem")

Debian's Bazel has no network in its builds; where it misses rules_cc, add

    load("@tandem_rules//:tandem.bzl", "debian_bazel")
    debian_bazel()

Programs depend on @tandem//:tandem and are compiled as C++20 (build --cxxopt=-std=c++20).
"""

_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "tandem",
    # Bazel links both into one folder, where the first finds the second.
    srcs = [
        "lib/libtandem-dnnl.so.3",
        "lib/libtandem.so.{version}",
    ],
    hdrs = glob(["include/tandem/**/*.h"]),
    includes = ["include"],
    # What pkg-config says of the Abseil that headers use.
    linkopts = ["-Wl,--as-needed"] + ["-labsl_" + name for name in [
        "bad_optional_access",
        "bad_variant_access",
        "base",
        "city",
        "civil_time",
        "cord",
        "cord_internal",
        "cordz_functions",
        "cordz_handle",
        "cordz_info",
        "debugging_internal",
        "demangle_internal",
        "exponential_biased",
        "flags_commandlineflag",
        "flags_commandlineflag_internal",
        "flags_config",
        "flags_internal",
        "flags_marshalling",
        "flags_private_handle_accessor",
        "flags_program_name",
        "flags_reflection",
        "graphcycles_internal",
        "hash",
        "hashtablez_sampler",
        "int128",
        "log_severity",
        "low_level_hash",
        "malloc_internal",
        "raw_hash_set",
        "raw_logging_internal",
        "spinlock_wait",
        "stacktrace",
        "status",
        "statusor",
        "str_format_internal",
        "strerror",
        "strings",
        "strings_internal",
        "symbolize",
        "synchronization",
        "throw_delegate",
        "time",
        "time_zone",
    ]],
)

# Tools: bazel run @tandem//:tandem-dump -- FOLDER.
[sh_binary(
    name = file.split("/")[-1],
    srcs = [file],
) for file in glob(["bin/tandem-*"])]
"""

def _tandem_installed(ctx):
    here = ctx.path(Label("//:tandem.bzl")).realpath  # PREFIX/share/tandem/bazel/tandem.bzl
    prefix = ctx.path(ctx.attr.prefix) if ctx.attr.prefix else here.dirname.dirname.dirname.dirname
    if not prefix.get_child("include").get_child("tandem").exists:
        fail("tandem_installed: there is no Tandem in %s; prefix is the folder that ./install --prefix was given" % prefix)
    for folder in ["bin", "include", "lib"]:
        if prefix.get_child(folder).exists:
            ctx.symlink(prefix.get_child(folder), folder)
    ctx.file("BUILD", _BUILD.replace("{version}", ctx.read(Label("//:SOVERSION")).strip()))

tandem_installed = repository_rule(
    implementation = _tandem_installed,
    attrs = {"prefix": attr.string(doc = "the installed folder; empty: the one that this file is in")},
    local = True,
)

# What Bazel's own BUILD files load of three repositories that it would download.
_OF_BAZEL = {
    "rules_cc": {
        "cc/BUILD": "exports_files([\"defs.bzl\"])\ntoolchain_type(name = \"toolchain_type\", visibility = [\"//visibility:public\"])\n",
        "cc/defs.bzl": "".join(["%s = native.%s\n" % (rule, rule) for rule in [
            "cc_library",
            "cc_binary",
            "cc_test",
            "cc_import",
            "cc_toolchain",
            "cc_toolchain_suite",
            "cc_toolchain_alias",
            "cc_proto_library",
            "fdo_prefetch_hints",
            "fdo_profile",
        ]]) + "cc_flags_supplier = None\ncompiler_flag = None\n",
    },
    "rules_java": {
        "java/BUILD": "exports_files([\"defs.bzl\"])\n",
        "java/defs.bzl": "".join(["%s = native.%s\n" % (rule, rule) for rule in [
            "java_binary",
            "java_import",
            "java_library",
            "java_lite_proto_library",
            "java_package_configuration",
            "java_plugin",
            "java_proto_library",
            "java_runtime",
            "java_test",
            "java_toolchain",
        ]]),
    },
    "remote_coverage_tools": {
        "BUILD": "filegroup(name = \"coverage_report_generator\", visibility = [\"//visibility:public\"])\n",
    },
}

def _stand_in(ctx):
    for path, text in _OF_BAZEL[ctx.attr.repository].items():
        ctx.file(path, text)

_stand_in_repository = repository_rule(
    implementation = _stand_in,
    attrs = {"repository": attr.string()},
)

def debian_bazel():
    """Stands in for rules_cc, rules_java and remote_coverage_tools, as far as C++ programs need them."""
    for repository in _OF_BAZEL:
        _stand_in_repository(name = repository, repository = repository)

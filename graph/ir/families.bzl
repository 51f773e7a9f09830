"""op_family: one .td file of ops, its TableGen outputs and its translation unit."""

load("//tools/build:tblgen.bzl", "mlir_tblgen")

def op_family(name, deps = []):
    """NAME.td, NAME.h and NAME.cc (and NAME_*.cc) become the library NAME."""
    mlir_tblgen(
        name = name + "_inc",
        src = name + ".td",
        outs = {
            name + ".h.inc": "-gen-op-decls",
            name + ".cc.inc": "-gen-op-defs",
        },
        deps = ["attributes.td", "interfaces.td", "td_base.td"],
    )
    native.cc_library(
        name = name,
        srcs = native.glob([name + ".cc", name + "_*.cc"], exclude = ["*_test.cc"]),
        hdrs = [name + ".h"],
        textual_hdrs = [":" + name + "_inc"],
        # Families build each other's ops (graph/ir/build.h), so the linker must not drop or order them.
        alwayslink = True,
        deps = ["//graph/ir:interfaces", "@llvm//:mlir", "@system//:absl"] + deps,
    )

def op_family_test(name):
    """NAME_test.cc: the reference semantics of a family."""
    native.cc_test(
        name = name + "_test",
        size = "small",
        srcs = [name + "_test.cc"],
        deps = [
            "//graph/ir:evaluate_test_util",
            "@system//:gmock",
            "@system//:gtest_main",
        ],
    )

"""op_family: the TableGen outputs of one .td file of ops."""

load("//tools/build:jumbo.bzl", "folder_test")
load("//tools/build:tblgen.bzl", "mlir_tblgen")

def op_family(name):
    """NAME.td becomes NAME.h.inc and NAME.cc.inc, which NAME.h and NAME.cc of the library td include."""
    mlir_tblgen(
        name = name + "_inc",
        src = name + ".td",
        outs = {
            name + ".h.inc": "-gen-op-decls",
            name + ".cc.inc": "-gen-op-defs",
        },
        deps = ["attributes.td", "interfaces.td", "td_base.td"],
    )

def op_family_test(name):
    """NAME_test.cc: the reference semantics of a family."""
    folder_test(
        name = name + "_test",
        size = "small",
        srcs = [name + "_test.cc"],
        deps = [
            "//graph/ir:evaluate_test_util",
            "@system//:gmock",
            "@system//:gtest_main",
        ],
    )

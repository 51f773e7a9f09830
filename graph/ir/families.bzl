"""op_family: the TableGen outputs of one .td file of ops."""

load("//tools/build:tblgen.bzl", "mlir_tblgen")

def op_family(name):
    """NAME.td becomes NAME.h.inc and NAME.cc.inc, which NAME.h and NAME.cc include."""
    mlir_tblgen(
        name = name + "_inc",
        src = name + ".td",
        outs = {
            name + ".h.inc": "-gen-op-decls",
            name + ".cc.inc": "-gen-op-defs",
        },
        deps = ["attributes.td", "interfaces.td", "td_base.td"],
    )

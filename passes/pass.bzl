"""td_pass: one pass, one library."""

def td_pass(name, deps = []):
    """NAME.h and NAME.cc become the library NAME.

    Args:
      name: the pass's file name.
      deps: what it needs beyond the dialect and pass_util.
    """
    native.cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = [name + ".h"],
        deps = ["//passes:pass_util", "//graph/ir:td", "@llvm//:mlir"] + deps,
    )

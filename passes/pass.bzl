"""td_pass: one pass, or a part of several, one library."""

def td_pass(name, deps = []):
    """NAME.cc, and NAME.h where there is one, become the library NAME.

    Args:
      name: the pass's file name.
      deps: what it needs beyond the dialect and pass_util.
    """
    native.cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = native.glob([name + ".h"]),
        deps = ["//passes:pass_util", "//passes", "//graph/ir:td", "@llvm//:mlir"] + deps,
    )

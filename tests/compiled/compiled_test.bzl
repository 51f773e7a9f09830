"""compiled_test: a test that holds compiled programs to the reference interpreter or to one another."""

load("//tools/build:jumbo.bzl", "folder_test")

def compiled_test(name, deps = [], own_process = False, **kwargs):
    """NAME.cc becomes the test NAME.

    Args:
      name: the test's file name.
      deps: what it needs beyond the harness and the parts of a model.
      own_process: it compiles for another processor than this one. oneDNN computes with one instruction set in a process.
      **kwargs: as of cc_test; "src" for another source.
    """
    alone = own_process or "args" in kwargs or "tags" in kwargs or "shard_count" in kwargs
    (native.cc_test if alone else folder_test)(
        name = name,
        size = kwargs.pop("size", "large"),
        srcs = [kwargs.pop("src", name + ".cc")],
        deps = [
            ":harness",
            "//frontends:layers",
            "//frontends:losses",
            "//frontends:optimizers",
            "//graph",
            "@system//:absl",
            "@system//:gtest_main",
        ] + deps,
        **kwargs
    )

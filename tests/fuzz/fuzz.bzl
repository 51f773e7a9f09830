"""fuzz_target: one target of targets/, as a program and as a test that replays its corpus."""

def fuzz_target(name, deps, runs, data = []):
    """targets/NAME.cc becomes the program NAME, and NAME_test runs it on corpus/NAME and `runs` changed inputs.

    `data`: files that the target's Seeds() reads."""
    native.cc_binary(
        name = name,
        testonly = True,
        srcs = ["targets/" + name + ".cc"],
        data = data,
        deps = ["//tests/fuzz:target"] + deps,
    )
    native.sh_test(
        name = name + "_test",
        size = "medium",
        srcs = ["replay.sh"],
        args = ["$(rootpath :%s)" % name, "--runs=%d" % runs, "tests/fuzz/corpus/" + name],
        data = [":" + name] + native.glob(["corpus/%s/*" % name]),
    )

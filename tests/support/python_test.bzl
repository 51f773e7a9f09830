"""python_test: an end-to-end test in Python (standard library only) as an sh_test."""

def python_test(name, src, data = [], size = "medium", shard_count = None, tags = []):
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tests/support:run_python.sh"],
        args = ["$(rootpath %s)" % src],
        data = [src, "//tests/support"] + data,
        tags = tags,
    )

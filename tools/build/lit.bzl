"""lit_test: a folder of FileCheck tests as one sh_test whose cases are counted one by one."""

def lit_test(name, srcs, tools, data = [], size = "small"):
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools/build:run_lit.sh"],
        args = ["$(rootpath //tools/build:lit.cfg.py)"] + ["$(rootpath %s)" % t for t in tools] + ["--"] +
               ["$(rootpath %s)" % s for s in srcs],
        data = srcs + tools + data + ["//tools/build:lit.cfg.py"],
    )

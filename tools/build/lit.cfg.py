import os

import lit.formats

config.name = "tandem"
config.suffixes = [".mlir"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(os.environ["TEST_TMPDIR"], "out")
config.environment["PATH"] = os.path.join(config.test_source_root, "bin") + ":/usr/lib/llvm-19/bin:/usr/bin"
# What a test may name in REQUIRES.
with open("/proc/cpuinfo") as cpuinfo:
    if " avx512bw " in cpuinfo.read():
        config.available_features.add("avx512")

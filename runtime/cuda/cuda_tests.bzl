"""Forms of tests of the CUDA runtime."""

load("//tools/build:jumbo.bzl", "folder_test")

def cuda_session_test(name, deps, part = "run"):
    """NAME.cc becomes the test NAME of the session.

    Args:
      name: the test's file name.
      deps: what it needs beyond the session.
      part: the subfolder that it is in.
    """
    folder_test(
        name = name,
        size = "small",
        srcs = [part + "/" + name + ".cc"],
        deps = [
            ":cuda_session",
            "@system//:absl",
            "@system//:gtest_main",
        ] + deps,
    )

def ptx_text_test(name, kernels, size = "small"):
    """KERNELS_ptx_test.py against the text that print_KERNELS.cc prints of the library KERNELS.

    Args:
      name: KERNELS_ptx_test.
      kernels: the library.
      size: of the test.
    """
    printer = "print_" + kernels
    native.cc_binary(
        name = printer,
        testonly = True,
        srcs = ["kernels/" + printer + ".cc"],
        deps = [":" + kernels],
    )
    native.sh_test(
        name = name,
        size = size,
        srcs = ["kernels/library_kernels_ptx_test.sh"],
        args = [
            "$(rootpath :%s)" % printer,
            "$(rootpath kernels/%s.py)" % name,
        ],
        data = [
            "kernels/" + name + ".py",
            ":" + printer,
            "//runtime/cuda/testing:ptx_interpreter",
        ],
    )

"""Forms of tests of the CUDA runtime."""

def ptx_text_test(name, kernels, size = "small"):
    """KERNELS_ptx_test.py against the text that print_KERNELS.cc prints of KERNELS.

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
        deps = [":device"],
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

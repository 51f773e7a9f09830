"""cuda_headers: a repository with the headers that cudnn-frontend needs, where this machine has them.

From the folder `.deps/cudnn_frontend` (./setup --cuda puts it there), and CUDA's and cuDNN's from a toolkit (CUDA_HOME,
else /usr/local/cuda) or from `.deps/cuda`. @cuda//:found.bzl says whether all are there; only then is there anything in
@cuda//:headers. Nothing is linked: the libraries are opened when a program runs.
"""

_NEEDED = ["cuda_runtime.h", "cudnn.h"]

_BUILD = """
package(default_visibility = ["//visibility:public"])

# nvrtc.h is the one header that a machine without the compiler's wheel may lack: "first" holds a stand-in.
cc_library(
    name = "headers",
    hdrs = glob([
        "frontend/**",
        "cuda/*.h",
        "cuda/*.hpp",
        "cuda/crt/*",
        "cuda/nv/**",
        "cuda/cccl/nv/**",
        "fallback/*.h",
    ]),
    includes = [
        "frontend",
        "cuda",
        "cuda/cccl",
        "fallback",
    ],
)
"""

# What the frontend's never-used run-time compilation of its own kernels mentions.
_NVRTC = """#pragma once
#include <cstddef>
extern "C" {
typedef enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_COMPILATION = 6, NVRTC_ERROR_INTERNAL_ERROR = 11 } nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
}
"""

def _cuda_headers_impl(ctx):
    workspace = ctx.path(Label("//:WORKSPACE")).dirname
    deps = workspace.get_child(".deps")
    frontend = deps.get_child("cudnn_frontend").get_child("include")
    toolkit = ctx.path(ctx.os.environ.get("CUDA_HOME", "/usr/local/cuda")).get_child("include")
    cuda = None
    for folder in [toolkit, deps.get_child("cuda").get_child("include")]:
        if cuda == None and all([folder.get_child(name).exists for name in _NEEDED]):
            cuda = folder
    found = cuda != None and frontend.get_child("cudnn_frontend.h").exists
    ctx.file("found.bzl", "CUDA_HEADERS = %s\n" % found)
    if not found:
        ctx.file("BUILD", "package(default_visibility = [\"//visibility:public\"])\n\ncc_library(name = \"headers\")\n")
        return
    ctx.symlink(frontend, "frontend")
    ctx.symlink(cuda, "cuda")
    ctx.file("fallback/cuda_fallback.h", "")
    if not cuda.get_child("nvrtc.h").exists:
        ctx.file("fallback/nvrtc.h", _NVRTC)
    ctx.file("BUILD", _BUILD)

cuda_headers = repository_rule(
    implementation = _cuda_headers_impl,
    environ = ["CUDA_HOME"],
    local = True,
)

"""Tools: the function of each is a library, which its program calls, and so does RunTool (tools/run_tool.h)."""

# What an installed package has, as the table in tools/run_tool.cc.
INSTALLED_TOOLS = [
    "calibrate",
    "checkpoint",
    "cluster",
    "compare",
    "devices",
    "dump",
    "launch",
    "onnx",
    "plot",
    "records",
    "run",
    "scale",
    "serve",
    "stablehlo",
    "textures",
]

def tool(name, deps):
    """The program tandem-NAME, and the library tandem_NAME with the function TandemName (tools/tool_functions.h).

    Args:
      name: of the tool; its source is tandem_NAME.cc.
      deps: what the source needs beside //base and Abseil.
    """
    native.cc_library(
        name = "tandem_" + name,
        srcs = ["tandem_%s.cc" % name],
        deps = deps + [
            ":tool_functions",
            "//base",
            "@system//:absl",
        ],
    )
    native.cc_binary(
        name = "tandem-" + name,
        srcs = ["tool_main.cc"],
        local_defines = ["TANDEM_TOOL=Tandem" + name.capitalize()],
        deps = [
            ":tandem_" + name,
            ":tool_functions",
        ],
    )

"""TableGen outputs of one .td file."""

def mlir_tblgen(name, src, outs, deps = []):
    """Runs Debian's mlir-tblgen once per output.

    Args:
      name: a filegroup with all outputs.
      src: the .td file.
      outs: output file name -> mlir-tblgen options.
      deps: the .td files that src includes from this repository.
    """
    for out, opts in outs.items():
        native.genrule(
            name = "%s_%s" % (name, out.replace(".", "_")),
            srcs = [src] + deps,
            outs = [out],
            cmd = "/usr/bin/mlir-tblgen-19 -I . -I /usr/lib/llvm-19/include %s $(location %s) -o $@" % (opts, src),
        )
    native.filegroup(name = name, srcs = outs.keys())

def td_records(name, src, out, deps = []):
    """Prints all records as JSON.

    Args:
      name: of the rule.
      src: the .td file.
      out: the JSON file.
      deps: the .td files that src includes from this repository.
    """
    native.genrule(
        name = name,
        srcs = [src] + deps,
        outs = [out],
        cmd = "/usr/bin/llvm-tblgen-19 -I . -I /usr/lib/llvm-19/include --dump-json $(location %s) -o $@" % src,
    )

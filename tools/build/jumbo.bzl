"""jumbo_library: a cc_library whose sources are compiled several to a translation unit.

Where MLIR's headers are read, nearly all of a compile is reading them, so that a unit of six sources takes little
longer than one source. The units are the sources one behind the other, each with a #line that names it: messages,
__FILE__ and debug information are those of the sources, and the same sources make the same bytes.

For daily work, where one source changes at a time, --config=fine compiles every source by itself.
"""

def jumbo_library(name, srcs, sources_per_unit = 6, **kwargs):
    """A cc_library that compiles its sources in units of several.

    What a unit demands of its sources: file-local names that differ, and no macro that is left behind.

    Args:
      name: of the library.
      srcs: sources and private headers, of this package.
      sources_per_unit: the most sources of a unit.
      **kwargs: what else cc_library takes.
    """
    headers = [src for src in srcs if src.endswith(".h")]
    sources = [src for src in srcs if not src.endswith(".h")]
    count = (len(sources) + sources_per_unit - 1) // sources_per_unit
    units = []
    for i in range(count):
        part = sources[i * len(sources) // count:(i + 1) * len(sources) // count]
        if len(part) == 1:
            units += part
            continue
        unit = "jumbo/%s_%d.cc" % (name, i)
        native.genrule(
            name = "%s_unit_%d" % (name, i),
            srcs = part,
            outs = [unit],
            cmd = "for source in $(SRCS); do echo \"#line 1 \\\"$$source\\\"\"; cat $$source; done > $@",
            visibility = ["//visibility:private"],
        )
        units.append(unit)
    native.cc_library(
        name = name,
        srcs = headers + select({
            "//tools/build:fine": sources,
            "//conditions:default": units,
        }),
        **kwargs
    )

"""Libraries and tests whose sources are compiled several to a translation unit.

Nearly all of a compile is reading headers, so that a unit of several sources takes little longer than one source. The
units are the sources one behind the other, each with a #line that names it: messages, __FILE__ and debug information
are those of the sources, and the same sources make the same bytes.

  jumbo_library   compiles the sources of one library together;
  folder_library  compiles a library's together with those of its folder's other folder_librarys;
  folder_test     the same for tests, which are one program for each folder;
  part_library    compiles a library's together with those of libraries of other folders, as the joined_library says
                  that it is a part of.

A folder with folder_librarys or folder_tests calls folder_end() at the end of its BUILD file.

For daily work, where one source changes at a time, --config=fine compiles every source by itself, and libraries are
those that the BUILD files name.

What a unit demands of its sources: file-local names that differ (tests may have the same ones), and no macro that is
left behind.
"""

_FINE = "//tools/build:fine"
_TEST = "folder_test"
_SOURCES_PER_UNIT = 32

def _units(name, srcs, command = "cat $$source"):
    """srcs of a rule, by --config: the sources, or units of them; headers stay what they are."""
    headers = [src for src in srcs if src.endswith(".h")]
    sources = [src for src in srcs if not src.endswith(".h")]
    count = (len(sources) + _SOURCES_PER_UNIT - 1) // _SOURCES_PER_UNIT
    units = []
    for i in range(count):
        part = sources[i * len(sources) // count:(i + 1) * len(sources) // count]
        if len(part) == 1:
            units += part
            continue
        units.append(_unit(name, i, part, command))
    return headers + select({_FINE: sources, "//conditions:default": units})

def _unit(name, i, srcs, command = "cat $$source"):
    """Makes the i-th unit of a rule, and returns its file."""
    unit = "jumbo/%s_%d.cc" % (name, i)
    native.genrule(
        name = "%s_unit_%d" % (name, i),
        srcs = srcs,
        outs = [unit],
        cmd = "for source in $(SRCS); do echo \"#line 1 \\\"$$source\\\"\"; %s; done > $@" % command,
        visibility = ["//visibility:private"],
    )
    return unit

def jumbo_library(name, srcs, **kwargs):
    """A cc_library that compiles its sources in units of several.

    Args:
      name: of the library.
      srcs: sources and private headers, of this package.
      **kwargs: what else cc_library takes.
    """
    native.cc_library(
        name = name,
        srcs = _units(name, srcs),
        **kwargs
    )

def folder_library(name, part = "", visibility = None, **kwargs):
    """A library that is one with its folder's others, unless each source is compiled by itself.

    Libraries with other copts are one by themselves.

    Args:
      name: of the library.
      part: tells libraries of a folder apart that cannot be one, since what lies between them is in other folders, or
        that should not be, since programs without LLVM, gRPC or the like use some of them.
      visibility: as of cc_library.
      **kwargs: srcs, hdrs, textual_hdrs, deps, copts and linkopts, as of cc_library.
    """
    whole = _whole("folder", part, kwargs)
    native.cc_library(name = name + ".fine", tags = ["manual", "folder=" + whole], **kwargs)
    native.alias(
        name = name,
        actual = select({_FINE: name + ".fine", "//conditions:default": whole}),
        visibility = visibility,
    )

def part_library(name, whole, srcs, within = [], hdrs = [], deps = [], visibility = None):
    """A library that is a part of a joined_library, unless each source is compiled by itself.

    Args:
      name: of the library.
      whole: the joined_library.
      srcs: sources and private headers.
      within: those of its dependencies that are parts of the same joined_library.
      hdrs: as of cc_library.
      deps: the other dependencies.
      visibility: as of cc_library.
    """
    native.cc_library(name = name + ".fine", srcs = srcs, hdrs = hdrs, deps = deps + within, tags = ["manual"])

    # All that the sources need, and nothing of their own: so the joined library can depend on it.
    native.cc_library(
        name = name + ".headers",
        srcs = [src for src in srcs if src.endswith(".h")],
        hdrs = hdrs,
        deps = deps + [_of_part(part, "headers") for part in within],
        tags = ["manual"],
    )
    native.filegroup(name = name + ".sources", srcs = [src for src in srcs if not src.endswith(".h")])
    native.alias(
        name = name,
        actual = select({_FINE: name + ".fine", "//conditions:default": whole}),
        visibility = visibility,
    )

def joined_library(name, units, visibility = None):
    """The part_librarys of several folders as one library.

    A part may depend on another; what lies between two of them may not be outside of the library.

    Args:
      name: of the library.
      units: for each unit the part_librarys that it compiles.
      visibility: for the folders of its parts.
    """
    native.cc_library(
        name = name,
        srcs = [_unit(name, i, [_of_part(part, "sources") for part in parts]) for i, parts in enumerate(units)],
        deps = [_of_part(part, "headers") for parts in units for part in parts],
        # Where each source is compiled by itself, nothing uses this.
        tags = ["manual"],
        visibility = visibility,
    )

def _of_part(part, what):
    """The label of a part_library's headers or sources."""
    return (part if ":" in part else part + ":" + part.split("/")[-1]) + "." + what

def folder_test(name, part = "", size = "small", tags = [], **kwargs):
    """A test that is part of its folder's test program, :tests. By itself it runs when its name is given.

    Its source is all in an anonymous namespace; its suites and temporary files have names of their own.

    Args:
      name: of the test.
      part: tells programs of a folder apart.
      size: the largest of a program's is the program's.
      tags: of the test by itself.
      **kwargs: srcs, deps, data and copts, as of cc_test.
    """
    if "args" in kwargs:
        fail("the program of a folder's tests has no arguments: make %s a cc_test" % name)
    whole = _whole("tests", part, kwargs)
    native.cc_test(name = name, size = size, tags = ["manual", _TEST + "=" + whole] + tags, **kwargs)

def _whole(word, part, kwargs):
    """The name of what a library or test is a part of."""
    return "_".join([word] + ([part] if part else []) + [copt.strip("-") for copt in kwargs.get("copts", [])])

def _tagged(prefix):
    """whole -> rules of this package that are part of it."""
    wholes = {}
    for rule in native.existing_rules().values():
        for tag in rule.get("tags", []):
            if tag.startswith(prefix + "="):
                wholes.setdefault(tag[len(prefix) + 1:], []).append(rule)
    return wholes

def _union(rules, attribute, without = []):
    """The elements of a list attribute of the rules, each once."""
    elements = {}
    for rule in rules:
        for element in rule.get(attribute, []):
            if element not in without:
                elements[element] = None
    return elements.keys()

def folder_end(shard_count = {}):
    """Makes one library of the folder's folder_librarys, and one program of its folder_tests.

    Args:
      shard_count: of test programs that take minutes, by name, so that they run in several processes.
    """
    for whole, rules in _tagged("folder").items():
        own = [":" + rule["name"][:-len(".fine")] for rule in rules]
        native.cc_library(
            name = whole,
            srcs = _units(whole, _sources(rules)),
            hdrs = _union(rules, "hdrs"),
            textual_hdrs = _union(rules, "textual_hdrs"),
            copts = _union(rules[:1], "copts"),
            linkopts = _union(rules, "linkopts"),
            deps = _union(rules, "deps", own),
            # Where each source is compiled by itself, nothing uses this.
            tags = ["manual"],
            visibility = ["//visibility:private"],
        )
    for whole, rules in _tagged(_TEST).items():
        sizes = [rule["size"] for rule in rules]
        native.cc_test(
            name = whole,
            size = [size for size in ["large", "medium", "small"] if size in sizes][0],
            shard_count = shard_count.get(whole),
            srcs = _units(whole, _sources(rules), command = _OWN_NAMES),
            copts = _union(rules[:1], "copts"),
            data = _union(rules, "data"),
            deps = _union(rules, "deps"),
        )

def _sources(rules):
    return [src[1:] if src.startswith(":") else src for src in _union(rules, "srcs")]

# A test's anonymous namespace holds one named like its file, so that file-local names of a unit's tests do not meet.
_OWN_NAMES = ("own=$$(basename $$source .cc); sed -e \"s/^namespace {$$/namespace { namespace $$own {/\" " +
              "-e 's/^}  \\/\\/ namespace$$/} }/' $$source")

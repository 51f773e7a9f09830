"""Libraries and tests whose sources are compiled several to a translation unit.

Nearly all of a compile is reading headers, so that a unit of several sources takes little longer than one source. The
units are the sources one behind the other, each with a #line that names it: messages, __FILE__ and debug information
are those of the sources, and the same sources make the same bytes.

  folder_sources  lists the sources and headers of a folder;
  jumbo_library   is the library of a folder, or of a part of it;
  folder_tests    are the tests of a folder, most of them one program.

For daily work, where one source changes at a time, --config=fine compiles every source by itself.

What a unit demands of its sources: file-local names that differ (tests may have the same ones), and no macro that is
left behind.
"""

_FINE = "//tools/build:fine"

# Folders with headers for users, who include them as "tandem/FOLDER/...".
_USERS_FOLDERS = ["base", "cluster", "data", "estimator", "frontends", "graph"]

# Headers then mark what libtandem.so exports (base/api.h).
_DEFINES = ["TANDEM_LIBRARY"]
_SOURCES_PER_UNIT = 32

def folder_sources(folders = [""], exclude = []):
    """The sources and headers of folders of this package, without tests and *_test_util.

    Args:
      folders: their paths; "" is the package's own folder.
      exclude: files that are left out, without .cc or .h.
    """
    return native.glob(
        [(folder + "/" if folder else "") + "*" + extension for folder in folders for extension in [".cc", ".h"]],
        exclude = ["**/*_test.cc", "**/*_test_util.*"] + [file + ".*" for file in exclude],
    )

def jumbo_library(name, srcs = [], hdrs = [], units = [], flags = {}, copts = [], deps = [], **kwargs):
    """A cc_library that compiles its sources in units of several.

    Args:
      name: of the library.
      srcs: its sources, and headers, which are as those in hdrs.
      hdrs: its headers.
      units: more sources and headers, as lists that say what is compiled together.
      flags: "FLAG FLAG" -> those of the sources that are compiled with these flags instead of copts, each by itself.
      copts: flags of the other sources.
      deps: what the sources need.
      **kwargs: what else cc_library takes.
    """
    files = srcs + [file for unit in units for file in unit]
    headers = hdrs + [file for file in files if file.endswith(".h") and file not in hdrs]
    flagged = [source for sources in flags.values() for source in sources]
    package = native.package_name()
    include_prefix = "tandem/" + package if package.split("/")[0] in _USERS_FOLDERS else None
    libraries = []
    if flags:
        # What sources with flags of their own need.
        native.cc_library(
            name = name + ".headers",
            hdrs = headers,
            include_prefix = include_prefix,
            textual_hdrs = kwargs.get("textual_hdrs"),
            testonly = kwargs.get("testonly"),
            visibility = ["//visibility:private"],
            deps = deps,
        )
    for options, sources in flags.items():
        library = "_".join([name] + [option.strip("-") for option in options.split(" ")])
        native.cc_library(
            name = library,
            srcs = sources,
            copts = options.split(" "),
            local_defines = _DEFINES,
            alwayslink = kwargs.get("alwayslink"),
            testonly = kwargs.get("testonly"),
            visibility = ["//visibility:private"],
            deps = [name + ".headers"],
        )
        libraries.append(library)
    native.cc_library(
        name = name,
        srcs = _by_config(name, _split([file for file in srcs if file not in flagged]) + [
            [file for file in unit if not file.endswith(".h")]
            for unit in units
        ]),
        hdrs = headers,
        include_prefix = include_prefix,
        copts = copts,
        local_defines = _DEFINES,
        deps = deps + libraries,
        **kwargs
    )

def folder_tests(srcs = [], name = "tests", alone = [], size = "small", shard_count = None, **kwargs):
    """The tests of a folder: one program, and each by itself when its name is given.

    A test's source is all in an anonymous namespace; its suites and temporary files have names of their own.

    Args:
      srcs: NAME.cc for each test.
      name: of the program.
      alone: tests that are only programs of their own, as they fork, measure the process, or change its limits,
        signals or environment. They may be in srcs or not.
      size: of each test and of the program.
      shard_count: of the program, if it takes minutes.
      **kwargs: deps, data and copts, for all of them.
    """
    together = [source for source in srcs if source not in alone]
    for source in alone:
        native.cc_test(name = _test_name(source), size = size, srcs = [source], **kwargs)
    for source in together:
        native.cc_test(name = _test_name(source), size = size, srcs = [source], tags = ["manual"], **kwargs)
    if together:
        native.cc_test(
            name = name,
            size = size,
            srcs = _by_config(name, _split(together), _OWN_NAMES),
            shard_count = shard_count,
            **kwargs
        )

def _test_name(source):
    """The name of a source's test."""
    return source.split("/")[-1][:-len(".cc")]

# A test's anonymous namespace holds one named like its file, so that file-local names of a unit's tests do not meet.
_OWN_NAMES = ("own=$$(basename $$source .cc); sed -e \"s/^namespace {$$/namespace { namespace $$own {/\" " +
              "-e 's/^}  \\/\\/ namespace$$/} }/' $$source")

def _split(files):
    """The sources among files, as lists of what is compiled together."""
    sources = [file for file in files if not file.endswith(".h")]
    count = (len(sources) + _SOURCES_PER_UNIT - 1) // _SOURCES_PER_UNIT
    return [sources[i * len(sources) // count:(i + 1) * len(sources) // count] for i in range(count)]

def _by_config(name, groups, command = "cat $$source"):
    """srcs of a rule, by --config: the sources, or a unit of each group.

    Args:
      name: of the rule.
      groups: lists of sources that are compiled together.
      command: prints a source for its unit.
    """
    return select({
        _FINE: [source for group in groups for source in group],
        "//conditions:default": [
            group[0] if len(group) == 1 else _unit(name, i, group, command)
            for i, group in enumerate(groups)
        ],
    })

def _unit(name, i, sources, command):
    """Makes the i-th unit of a rule, and returns its file."""
    unit = "jumbo/%s_%d.cc" % (name, i)
    native.genrule(
        name = "%s_unit_%d" % (name, i),
        srcs = sources,
        outs = [unit],
        cmd = "for source in $(SRCS); do echo \"#line 1 \\\"$$source\\\"\"; %s; done > $@" % command,
        visibility = ["//visibility:private"],
    )
    return unit

"""page_test: compiles and runs the C++ blocks of pages."""

def page_test(name, page, deps, data = [], more_pages = []):
    """A test NAME.cc that includes "docs/guide/NAME_blocks.inc", the blocks of `page` as code_blocks.py prints them.

    Args:
      name: of the test, and of NAME.cc.
      page: the Markdown file.
      deps: libraries that the blocks and the test use.
      data: files that the test reads.
      more_pages: whose blocks stand behind those of `page`.
    """
    native.genrule(
        name = name + "_blocks",
        srcs = [page] + more_pages,
        outs = [name + "_blocks.inc"],
        cmd = "/usr/bin/python3 $(location code_blocks.py) $(SRCS) > $@",
        tools = ["code_blocks.py"],
    )
    native.cc_test(
        name = name,
        size = "small",
        srcs = [
            name + ".cc",
            name + "_blocks",
        ],
        data = data,
        deps = deps + ["@system//:gtest_main"],
    )

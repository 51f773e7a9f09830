"""The folder that ./install copies, and the headers in it."""

_VIRTUAL = "/_virtual_includes/"

def _write_listing(ctx, placed):
    """A file with a line "FILE<tab>PLACE" for each of `placed`, pairs of a file and where it goes."""
    listing = ctx.actions.declare_file(ctx.label.name + ".files")
    ctx.actions.write(listing, "\n".join([file.path + "\t" + place for file, place in placed]))
    return listing

def _headers_for_users(ctx):
    headers = depset(transitive = [
        dep[CcInfo].compilation_context.headers
        for dep in ctx.attr.deps
    ]).to_list()
    placed = [
        (file, file.path.split(_VIRTUAL)[1].partition("/")[2])
        for file in headers
        if _VIRTUAL in file.path
    ]
    listing = _write_listing(ctx, placed)
    out = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run(
        executable = ctx.file._collect,
        arguments = [listing.path, out.path],
        inputs = [file for file, _ in placed] + [listing],
        outputs = [out],
        mnemonic = "HeadersForUsers",
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

headers_for_users = rule(
    doc = "A folder with the headers that tandem/tandem.h reaches.",
    implementation = _headers_for_users,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "_collect": attr.label(default = "//tools/install:collect_headers.py", allow_single_file = True),
    },
)

def _package(ctx):
    placed = [(file, "include") for file in ctx.files.headers]
    for target, place in ctx.attr.files.items():
        for file in target.files.to_list():
            placed.append((file, place + file.basename if place.endswith("/") else place))
    listing = _write_listing(ctx, placed)
    out = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run(
        executable = ctx.file._package,
        arguments = [listing.path, ctx.file.version.path, out.path],
        inputs = [file for file, _ in placed] + [listing, ctx.file.version],
        outputs = [out],
        # It is as large as all that is in it.
        execution_requirements = {"no-cache": "1"},
        mnemonic = "Package",
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

tandem_package = rule(
    doc = "A folder with what is installed.",
    implementation = _package,
    attrs = {
        "files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "files -> where they go; into a folder that ends in /",
        ),
        "headers": attr.label(doc = "headers_for_users"),
        "version": attr.label(allow_single_file = True, doc = "a file with the version, put in for @VERSION@"),
        "_package": attr.label(default = "//tools/install:package.py", allow_single_file = True),
    },
)

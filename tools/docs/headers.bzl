"""The headers of libraries, under their paths in the repository."""

_VIRTUAL = "/_virtual_includes/"

def _public_headers(ctx):
    places = {}
    for dep in ctx.attr.deps:
        for file in dep[CcInfo].compilation_context.headers.to_list():
            if _VIRTUAL in file.path:
                # Behind it come the name of the library and "tandem".
                places[file.path.split(_VIRTUAL)[1].split("/", 2)[2]] = file
    return [DefaultInfo(runfiles = ctx.runfiles(symlinks = places))]

public_headers = rule(
    implementation = _public_headers,
    attrs = {
        "deps": attr.label_list(
            providers = [CcInfo],
            doc = "libraries; those of their headers that are included as tandem/... are runfiles of this target",
        ),
    },
)

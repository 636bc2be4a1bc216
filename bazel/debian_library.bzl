"""An external repository for a system library that a Debian -dev package installs."""

def _debian_library_impl(ctx):
    header = ctx.path("/usr/include/" + ctx.attr.header)
    if not header.exists:
        fail(("%s is not on this machine: install the Debian package %s " +
              "(./tlsgate installs everything that packages.txt lists)") %
             (header, ctx.attr.package))
    ctx.symlink(header, "include/" + ctx.attr.header)
    for extra in ctx.attr.extra_headers:
        ctx.symlink("/usr/include/" + extra, "include/" + extra)
    ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % ctx.name)
    ctx.file("BUILD", """cc_library(
    name = "{name}",
    hdrs = glob(["include/**"]),
    includes = ["include"],
    # A program for the fuzzing service runs on machines that do not have it.
    linkopts = select({{
        "@tlsgate//bazel:oss_fuzz": ["{static}"],
        "@tlsgate//bazel:oss_fuzz_fm": ["{static}"],
        "//conditions:default": ["{linkopt}"],
    }}),
    visibility = ["//visibility:public"],
)
""".format(name = ctx.name, linkopt = ctx.attr.linkopt, static = "-l:lib%s.a" % ctx.attr.linkopt[len("-l"):]))

debian_library = repository_rule(
    implementation = _debian_library_impl,
    attrs = {
        "extra_headers": attr.string_list(),
        "header": attr.string(mandatory = True),
        "linkopt": attr.string(mandatory = True),
        "package": attr.string(mandatory = True),
    },
    local = True,
)

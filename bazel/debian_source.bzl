"""An external repository made from the upstream tarball of a Debian source package."""

def _from_checkout(ctx, root):
    root = ctx.path(root)
    if not root.exists:
        fail("%s names %s, which is not there" % (ctx.attr.path_env, root))
    for entry in root.readdir():
        if entry.basename not in ["WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel"]:
            ctx.symlink(entry, entry.basename)

def _from_debian(ctx):
    # The repository cache knows the archive by its sha256, whatever its address.
    got = ctx.download(
        url = "file:///nonexistent/" + ctx.attr.archive,
        output = ctx.attr.archive,
        sha256 = ctx.attr.sha256,
        allow_fail = True,
    )
    if not got.success:
        ctx.report_progress("apt-get source " + ctx.attr.package)
        run = ctx.execute(
            [
                ctx.path(ctx.attr._apt_source),
                "%s=%s" % (ctx.attr.package, ctx.attr.version),
                ctx.attr.archive,
                ctx.path("apt"),
            ],
            timeout = 900,
        )
        if run.return_code != 0:
            fail(("cannot get the Debian source package %s %s; set %s to the folder of a " +
                  "checkout that has its BUILD file instead\n%s%s") %
                 (ctx.attr.package, ctx.attr.version, ctx.attr.path_env, run.stdout, run.stderr))
        ctx.download(
            url = "file://%s" % ctx.path("apt/" + ctx.attr.archive),
            output = ctx.attr.archive,
            sha256 = ctx.attr.sha256,
        )
        ctx.delete("apt")
    ctx.extract(ctx.attr.archive, stripPrefix = ctx.attr.strip_prefix)
    ctx.delete(ctx.attr.archive)

def _debian_source_impl(ctx):
    checkout = ctx.os.environ.get(ctx.attr.path_env, "")
    if checkout:
        _from_checkout(ctx, checkout)
    else:
        _from_debian(ctx)
    ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % ctx.name)

debian_source = repository_rule(
    implementation = _debian_source_impl,
    attrs = {
        "package": attr.string(mandatory = True),
        "version": attr.string(mandatory = True),
        "archive": attr.string(mandatory = True),
        "revision": attr.string(mandatory = True),
        "sha256": attr.string(mandatory = True),
        "strip_prefix": attr.string(),
        "path_env": attr.string(mandatory = True),
        "_apt_source": attr.label(default = "//bazel:apt_source.sh"),
    },
    # Every path_env in use: environ cannot depend on an attribute.
    environ = ["BORINGSSL_SRC"],
)

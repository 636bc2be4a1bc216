"""An external repository made from the upstream tarball of a Debian source package.

An environment variable can name a checkout to use instead. A BoringSSL
checkout of today has no BUILD file that Bazel 4.2 reads; its sources are
listed in gen/sources.json, from which boringssl.bzl writes one.
"""

load("//bazel:boringssl.bzl", "boringssl_build_file", "boringssl_build_file_in_parts")

_BUILD_FILES = ["BUILD", "BUILD.bazel"]
_OTHER_WORKSPACES = ["WORKSPACE", "WORKSPACE.bazel", "WORKSPACE.bzlmod", "MODULE.bazel", "MODULE.bazel.lock", ".bazelrc", ".bazelversion"]

def _revision_of(ctx, root):
    git = ctx.execute(["git", "-C", str(root), "rev-parse", "HEAD"])
    if git.return_code != 0:
        return "unknown"
    changes = ctx.execute(["git", "-C", str(root), "status", "--porcelain"])
    return git.stdout.strip() + ("-dirty" if changes.stdout.strip() else "")

def _write_build_file(ctx, original):
    text = boringssl_build_file_in_parts(ctx.read(original))
    if not text:
        fail("%s does not declare cc_library targets \"crypto\" and \"ssl\" as BoringSSL's own does" % original)
    ctx.delete("BUILD")
    ctx.delete("BUILD.bazel")
    ctx.file("BUILD", text)

def _from_checkout(ctx, root):
    root = ctx.path(root)
    if not root.exists:
        fail("%s names %s, which is not there" % (ctx.attr.path_env, root))
    listed = root.get_child("gen").get_child("sources.json")
    own_build = [name for name in _BUILD_FILES if root.get_child(name).exists]
    if not listed.exists and not own_build:
        fail(("%s names %s, which has neither gen/sources.json nor a BUILD file: " +
              "it must be the root of a BoringSSL checkout") % (ctx.attr.path_env, root))
    for entry in root.readdir():
        if entry.basename not in _OTHER_WORKSPACES + _BUILD_FILES:
            ctx.symlink(entry, entry.basename)
    if listed.exists:
        ctx.file("BUILD", boringssl_build_file(json.decode(ctx.read(listed))))
    else:
        _write_build_file(ctx, root.get_child(own_build[0]))
    return _revision_of(ctx, root)

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
                  "checkout instead\n%s%s") %
                 (ctx.attr.package, ctx.attr.version, ctx.attr.path_env, run.stdout, run.stderr))
        ctx.download(
            url = "file://%s" % ctx.path("apt/" + ctx.attr.archive),
            output = ctx.attr.archive,
            sha256 = ctx.attr.sha256,
        )
        ctx.delete("apt")
    ctx.extract(ctx.attr.archive, stripPrefix = ctx.attr.strip_prefix)
    ctx.delete(ctx.attr.archive)
    _write_build_file(ctx, ctx.path("BUILD"))
    return ctx.attr.revision

def _debian_source_impl(ctx):
    checkout = ctx.os.environ.get(ctx.attr.path_env, "")
    revision = _from_checkout(ctx, checkout) if checkout else _from_debian(ctx)
    ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % ctx.name)

    # What reports name as the library's revision.
    ctx.file("revision/boringssl_revision.h", "#define TG_BORINGSSL_REVISION \"%s\"\n" % revision)
    ctx.file("revision/BUILD", """cc_library(
    name = "revision",
    hdrs = ["boringssl_revision.h"],
    includes = ["."],
    visibility = ["//visibility:public"],
)
""")

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

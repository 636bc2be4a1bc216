"""@local_tools//:defs.bzl says where this machine keeps AFL++ and LLVM's tools.

A tool that is missing is an empty string there; need_tool() turns it into an
error that names the package, wherever a target cannot do without it.
"""

_PACKAGE_OF = {
    "AFL_DIR": "afl++",
    "AFL_FUZZ": "afl++",
    "LLVM_COV": "llvm",
    "LLVM_PROFDATA": "llvm",
    "LLVM_SYMBOLIZER": "llvm",
}

def need_tool(name, value):
    """Fails, naming the Debian package, if a path from @local_tools is empty.

    Args:
      name: of the constant in @local_tools//:defs.bzl.
      value: of that constant.

    Returns:
      The value.
    """
    if not value:
        fail(("%s is not on this machine, or was made for another LLVM than this machine's clang: " +
              "install the Debian package %s (./tlsgate installs everything that packages.txt lists)") %
             (name, _PACKAGE_OF[name]))
    return value

def _major(text):
    # "Debian clang version 14.0.6" -> "14"
    for word in text.split(" "):
        if word[:1].isdigit():
            return word.split(".")[0]
    return ""

def _major_of(ctx, program):
    got = ctx.execute([program, "--version"]) if program else None
    return _major(got.stdout) if got and got.return_code == 0 else ""

def _which(ctx, program):
    return ctx.path(program) if program.startswith("/") else ctx.which(program)

def _local_tools_impl(ctx):
    major = _major_of(ctx, _which(ctx, ctx.os.environ.get("CC", "clang")))

    # AFL++'s passes are plug-ins of the compiler, and must have been made for its version.
    afl = ""
    if major and _major_of(ctx, ctx.which("afl-clang-fast")) == major:
        for folder in [ctx.os.environ.get("AFL_PATH", ""), "/usr/lib/afl", "/usr/local/lib/afl"]:
            if folder and ctx.path(folder + "/SanitizerCoveragePCGUARD.so").exists:
                afl = folder
                break

    tools = {"AFL_DIR": afl, "AFL_FUZZ": str(ctx.which("afl-fuzz") or "")}
    for name in ["llvm-cov", "llvm-profdata", "llvm-symbolizer"]:
        path = ctx.which("%s-%s" % (name, major)) or ctx.which(name)
        tools[name.upper().replace("-", "_")] = str(path) if path else ""

    if ctx.os.environ.get("TLSGATE_OSS_FUZZ"):
        # fuzz/oss-fuzz/build.sh brings its own engine, and builds nothing that needs one of these.
        tools = {name: path or "/not/in/an/oss-fuzz/build" for name, path in tools.items()}

    ctx.file("BUILD", "")
    ctx.file("defs.bzl", "".join(["%s = %r\n" % item for item in sorted(tools.items())]))

local_tools = repository_rule(
    implementation = _local_tools_impl,
    configure = True,
    environ = ["AFL_PATH", "CC", "PATH", "TLSGATE_OSS_FUZZ"],
    local = True,
)

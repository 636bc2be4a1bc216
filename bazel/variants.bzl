"""Build a target in a named variant, whatever the command line says.

A variant is a set of compiler and linker flags for the target and everything
that it depends on, BoringSSL included. variant_binary() and variant_test()
put the same executable, built in that variant, at a stable path in bazel-bin;
one invocation can hold every variant at once.
"""

# What ships and is timed. The alignments pin where functions and loops start,
# so that an unrelated change elsewhere in a file does not move a timing.
RELEASE_COPT = [
    "-O2",
    "-g1",
    "-falign-functions=64",
    "-falign-loops=32",
    "-fno-omit-frame-pointer",
]

# Bazel's opt mode passes -DNDEBUG and fortifies; a checking build wants the opposite.
_CHECKED = [
    "-O1",
    "-g1",
    "-UNDEBUG",
    "-U_FORTIFY_SOURCE",
    "-fno-omit-frame-pointer",
]

_ADDRESS_UNDEFINED = [
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=undefined",
]

VARIANTS = {
    "release": struct(
        copt = RELEASE_COPT,
        linkopt = [],
    ),
    "asan": struct(
        copt = _CHECKED + _ADDRESS_UNDEFINED,
        # Bazel links C++ with clang, not clang++, and so without UBSan's C++ half.
        linkopt = _ADDRESS_UNDEFINED + ["-fsanitize-link-c++-runtime"],
    ),
    "tsan": struct(
        copt = _CHECKED + ["-fsanitize=thread"],
        linkopt = ["-fsanitize=thread"],
    ),
}

def _variant_flag_impl(ctx):
    return []

variant_flag = rule(
    implementation = _variant_flag_impl,
    build_setting = config.string(flag = True),
)

def _variant_transition_impl(settings, attr):
    variant = VARIANTS[attr.variant]
    return {
        "//bazel:variant": attr.variant,
        "//command_line_option:compilation_mode": "opt",
        "//command_line_option:copt": variant.copt,
        "//command_line_option:linkopt": variant.linkopt,
        "//command_line_option:strip": "never",
    }

_variant_transition = transition(
    implementation = _variant_transition_impl,
    inputs = [],
    outputs = [
        "//bazel:variant",
        "//command_line_option:compilation_mode",
        "//command_line_option:copt",
        "//command_line_option:linkopt",
        "//command_line_option:strip",
    ],
)

def _variant_impl(ctx):
    target = ctx.attr.target[0][DefaultInfo]
    executable = target.files_to_run.executable
    out = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = out, target_file = executable, is_executable = True)
    runfiles = ctx.runfiles(files = [out, executable] + ctx.files.data)
    for dep in [target] + [data[DefaultInfo] for data in ctx.attr.data]:
        runfiles = runfiles.merge(dep.default_runfiles)
    providers = [DefaultInfo(executable = out, files = depset([out]), runfiles = runfiles)]
    if hasattr(ctx.attr, "env"):
        providers.append(testing.TestEnvironment(ctx.attr.env))
    return providers

_ATTRS = {
    # What `args` may name with $(location); built in the configuration of the command line.
    "data": attr.label_list(allow_files = True),
    "target": attr.label(
        cfg = _variant_transition,
        executable = True,
        mandatory = True,
    ),
    "variant": attr.string(mandatory = True, values = VARIANTS.keys()),
    "_allowlist_function_transition": attr.label(
        default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
    ),
}

variant_binary = rule(
    implementation = _variant_impl,
    attrs = _ATTRS,
    executable = True,
)

variant_test = rule(
    implementation = _variant_impl,
    attrs = dict(_ATTRS, env = attr.string_dict()),
    test = True,
)

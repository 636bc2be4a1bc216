"""server_flag: the described server that the gates judge, chosen on Bazel's command line.

    bazel test //perf:gates --//perf:server=FILE

FILE is absolute, or relative to the workspace. It reaches the test as an argument, by a Make variable: the file is read
where it lies, with the templates beside it.
"""

def _server_flag_impl(ctx):
    file = ctx.build_setting_value
    if "'" in file or "$" in file:
        fail("--%s: %s: a path with ' or $ cannot be passed to a test" % (ctx.label, file))
    return [platform_common.TemplateVariableInfo({
        "SERVER_ARGUMENTS": "--server '%s'" % file if file else "",
    })]

server_flag = rule(
    implementation = _server_flag_impl,
    build_setting = config.string(flag = True),
)

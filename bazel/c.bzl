"""How this project compiles C: one set of flags, and tests in every variant.

c_library and c_binary are cc_library and cc_binary with the project's flags.
c_test makes NAME (release, the top-level configuration), and NAME_asan and
any other variant asked for, from the same sources.
"""

load("//bazel:variants.bzl", "variant_binary", "variant_test")

_COPTS = [
    "-std=c11",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Wwrite-strings",
    "-Wvla",
    "-Wundef",
    "-Wformat=2",
    "-Werror",
    # Cheap assertions stay in what ships.
    "-UNDEBUG",
]

_TEST_ENV = {
    "asan": {
        "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    },
    "tsan": {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1"},
}

def _at(texts, suffix):
    return [text.replace("{variant}", suffix) for text in texts]

def c_library(name, copts = [], **kwargs):
    native.cc_library(name = name, copts = _COPTS + copts, **kwargs)

def c_binary(name, copts = [], **kwargs):
    native.cc_binary(name = name, copts = _COPTS + copts, **kwargs)

def c_variant_binaries(name, variants):
    """NAME_<variant> for each variant: the same program, instrumented."""
    for variant in variants:
        variant_binary(
            name = name + "_" + variant,
            target = ":" + name,
            variant = variant,
        )

def c_test(name, variants = ["asan"], copts = [], size = "small", env = {}, tags = [], args = [], data = [], **kwargs):
    """A C test program in release and in each of `variants`.

    A test that takes another program as an argument says so with a `{variant}`
    in args and data: "$(location //harness/server:https_server{variant})"
    becomes ..._asan in the asan variant and nothing in release.

    The package gets a suite of all its tests, package_tests, for //:certification.
    """
    if not native.existing_rule("package_tests"):
        native.test_suite(name = "package_tests")

    native.cc_binary(
        name = name + "_bin",
        testonly = True,
        copts = _COPTS + copts,
        tags = ["manual"],
        **kwargs
    )
    for variant in ["release"] + variants:
        suffix = "" if variant == "release" else "_" + variant
        variant_test(
            name = name + suffix,
            size = size,
            args = _at(args, suffix),
            data = _at(data, suffix),
            env = dict(_TEST_ENV.get(variant, {}), **env),
            tags = tags,
            target = ":" + name + "_bin",
            variant = variant,
        )

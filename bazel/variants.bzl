"""Build a target in a named variant, whatever the command line says.

A variant is a set of compiler and linker flags for the target and everything
that it depends on, BoringSSL included. variant_binary() and variant_test()
put the same executable, built in that variant, at a stable path in bazel-bin;
one invocation can hold every variant at once.

Parts that gain nothing from a variant's flags are built in another one:
library_in_part() wraps BoringSSL's libraries, so that the fuzzing variants
share two builds of libcrypto.
"""

load("@local_tools//:defs.bzl", "AFL_DIR")

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
    # Its runtime asks the kernel, by a pipe, which addresses can be read: not on a simulated kernel.
    "-fno-sanitize=vptr",
    "-fno-sanitize-recover=undefined",
]

# MemorySanitizer has to see every store to what it judges: BoringSSL is built without its assembly.
_MEMORY = [
    "-O2",
    "-fsanitize=memory",
    "-fsanitize-memory-track-origins=1",
    "-DOPENSSL_NO_ASM",
]

_MEMORY_LINK = _MEMORY + ["-fsanitize-link-c++-runtime"]

# A random number generator that RAND_reset_for_fuzzing() starts over, and a fixed time for TLS.
_DETERMINISTIC = ["-DBORINGSSL_UNSAFE_DETERMINISTIC_MODE"]

# As well: null ciphers, and signatures, Finished and ticket MACs that are checked and always accepted.
_FUZZER_MODE = _DETERMINISTIC + [
    "-DBORINGSSL_UNSAFE_FUZZER_MODE",
    "-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION",
]

# Comparisons that AFL++'s CmpLog wants to see as calls (afl-clang-fast's list).
_AFL_COMPARES = [
    "-fno-builtin-" + function
    for function in ["bcmp", "memcmp", "strcasecmp", "strcasestr", "strcmp", "strncasecmp", "strncmp", "strstr"]
]

def _afl_passes(names):
    return ["-fpass-plugin=%s/%s.so" % (AFL_DIR, name) for name in names]

_AFL_LINK = [
    AFL_DIR + "/afl-compiler-rt.o",
    "-Wl,--dynamic-list=%s/dynamic_list.txt" % AFL_DIR,
]

def _variant(copt, linkopt = [], crypto = None, ssl = None):
    """Flags for a build.

    Args:
      copt: for the compiler.
      linkopt: for the linker.
      crypto: the variant to take libcrypto from; None: this one.
      ssl: likewise for libssl.
    """
    return struct(copt = copt, linkopt = linkopt, parts = {"crypto": crypto, "ssl": ssl})

def _fuzzing_variants(suffix, defines, plain):
    """Every engine on one of the two builds of BoringSSL.

    libssl is instrumented like the code under test. libcrypto is not: what
    its branches depend on are keys and digests, which teach a fuzzer nothing.
    """
    return {
        "libfuzzer" + suffix: _variant(
            copt = _CHECKED + defines + _ADDRESS_UNDEFINED + ["-fsanitize=fuzzer-no-link"],
            linkopt = _ADDRESS_UNDEFINED + ["-fsanitize-link-c++-runtime"],
            crypto = "det_asan",
        ),
        # What afl-clang-fast passes to the same clang.
        "afl" + suffix: _variant(
            copt = _CHECKED + defines + _AFL_COMPARES + _afl_passes(["SanitizerCoveragePCGUARD"]),
            linkopt = _AFL_LINK,
            crypto = "det",
        ),
        # For afl-fuzz -c: logs the operands of comparisons.
        "afl_cmplog" + suffix: _variant(
            copt = _CHECKED + defines + ["-fno-inline"] + _AFL_COMPARES + _afl_passes([
                "cmplog-switches-pass",
                "split-switches-pass",
                "SanitizerCoveragePCGUARD",
                "cmplog-instructions-pass",
                "cmplog-routines-pass",
            ]),
            linkopt = _AFL_LINK,
            crypto = "det",
        ),
        # Clang's source-based coverage, of this workspace's own code.
        "coverage" + suffix: _variant(
            copt = _CHECKED + defines + [
                "-fprofile-instr-generate",
                "-fcoverage-mapping",
                "-fcoverage-compilation-dir=.",
                # glibc declares what assert() calls when it fails as never returning, upon which clang 14 counts the
                # line behind an assert() as never run.
                "-D__noreturn__=__cold__",
            ],
            linkopt = ["-fprofile-instr-generate"],
            crypto = "det",
            ssl = plain,
        ),
        plain: _variant(
            copt = _CHECKED + defines + ["-O2"],
            crypto = "det",
        ),
    }

# What the fuzzing service's own flags (CFLAGS) leave to say.
_OSS_FUZZ = [
    "-UNDEBUG",
    "-U_FORTIFY_SOURCE",
    "-fno-omit-frame-pointer",
    # An engine runs the program, and nobody reads what it prints, unless TLSGATE_THRIFT says otherwise.
    "-DTG_FUZZ_THRIFT_DEFAULT=1",
]

# What $CXX is to $CC: Bazel links with the latter. Nothing is dynamic but libc.
_OSS_FUZZ_LINK = [
    "--driver-mode=g++",
    "-static-libstdc++",
    "-static-libgcc",
]

# The service's CFLAGS ask every build for BoringSSL's fuzzer mode, which is for the targets that say so.
_NOT_FUZZER_MODE = ["-UFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION"]

VARIANTS = {
    "release": _variant(copt = RELEASE_COPT),
    "asan": _variant(
        copt = _CHECKED + _ADDRESS_UNDEFINED,
        # Bazel links C++ with clang, not clang++, and so without UBSan's C++ half.
        linkopt = _ADDRESS_UNDEFINED + ["-fsanitize-link-c++-runtime"],
    ),
    "tsan": _variant(
        copt = _CHECKED + ["-fsanitize=thread"],
        linkopt = ["-fsanitize=thread"],
    ),
    # For libcrypto under libFuzzer: misuse of its objects is seen, and handshakes are not slowed down by UBSan's look at
    # each addition of a bignum.
    "det_asan": _variant(
        copt = _CHECKED + _DETERMINISTIC + ["-O2", "-fsanitize=address"],
        linkopt = ["-fsanitize=address"],
    ),
    # Fuzz targets under MemorySanitizer, on both builds of BoringSSL; libcrypto, which is instrumented too, is built once.
    "msan": _variant(
        copt = _CHECKED + _DETERMINISTIC + _MEMORY,
        linkopt = _MEMORY_LINK,
    ),
    "msan_fm": _variant(
        copt = _CHECKED + _FUZZER_MODE + _MEMORY,
        linkopt = _MEMORY_LINK,
        crypto = "msan",
    ),
    # What is counted (//perf/exact): our own objects as release's, to the byte, on a BoringSSL of release's flags whose
    # random numbers are the same in every run.
    "counted": _variant(
        copt = RELEASE_COPT,
        crypto = "counted_tls",
        ssl = "counted_tls",
    ),
    "counted_tls": _variant(copt = RELEASE_COPT + _DETERMINISTIC),
    # What fuzz/oss-fuzz/build.sh builds: these come behind the flags that it was given (oss_fuzz_binary).
    "oss_fuzz": _variant(
        copt = _OSS_FUZZ + _DETERMINISTIC + _NOT_FUZZER_MODE,
        linkopt = _OSS_FUZZ_LINK,
        crypto = "oss_fuzz_crypto",
    ),
    "oss_fuzz_fm": _variant(
        copt = _OSS_FUZZ + _FUZZER_MODE,
        linkopt = _OSS_FUZZ_LINK,
        crypto = "oss_fuzz_crypto",
    ),
    "oss_fuzz_crypto": _variant(copt = _DETERMINISTIC + _NOT_FUZZER_MODE + ["-O2"]),
}
VARIANTS.update(_fuzzing_variants("", _DETERMINISTIC, "det"))
VARIANTS.update(_fuzzing_variants("_fm", _FUZZER_MODE, "fuzzmode"))

def if_memory_sanitizer(labels):
    """Labels for srcs or deps, in the variants with MemorySanitizer only."""
    return select({
        "//bazel:msan": labels,
        "//bazel:msan_fm": labels,
        "//bazel:oss_fuzz_memory": labels,
        "//bazel:oss_fuzz_memory_fm": labels,
        "//conditions:default": [],
    })

def if_oss_fuzz(labels):
    """Labels or options, in the variants of fuzz/oss-fuzz/build.sh only."""
    return select({
        "//bazel:oss_fuzz": labels,
        "//bazel:oss_fuzz_fm": labels,
        "//conditions:default": [],
    })

def if_fuzzed(copts):
    """Flags for copts, in the variants that libFuzzer drives only."""
    return select({
        "//bazel:libfuzzer": copts,
        "//bazel:libfuzzer_fm": copts,
        "//conditions:default": [],
    })

def _variant_flag_impl(ctx):
    return []

variant_flag = rule(
    implementation = _variant_flag_impl,
    build_setting = config.string(flag = True),
)

_SETTINGS = [
    # What is built in a variant has chosen its engine: --config=afl builds no variant anew.
    "//bazel:engine",
    "//bazel:variant",
    "//command_line_option:compilation_mode",
    "//command_line_option:copt",
    "//command_line_option:linkopt",
    "//command_line_option:strip",
]

# What fuzz/oss-fuzz/build.sh was given, each as one text.
_GIVEN = [
    "//bazel:oss_fuzz_cflags",
    "//bazel:oss_fuzz_cxxflags",
    "//bazel:oss_fuzz_link",
    "//bazel:oss_fuzz_sanitizer",
]

def _words(text):
    return [word for word in text.split(" ") if word]

def _oss_fuzz_copt(variant, settings):
    cflags = _words(settings["//bazel:oss_fuzz_cflags"])

    # What is for C++ alone (-stdlib=libc++) means nothing to C, and is no reason to complain.
    more = [flag for flag in _words(settings["//bazel:oss_fuzz_cxxflags"]) if flag not in cflags]
    sanitizer = {
        "memory": ["-DOPENSSL_NO_ASM"],
        # As in _ADDRESS_UNDEFINED.
        "undefined": ["-fno-sanitize=vptr"],
    }.get(settings["//bazel:oss_fuzz_sanitizer"], [])
    return cflags + more + ["-Wno-unused-command-line-argument"] + sanitizer + variant.copt

# The flags of a fuzz target, for libcrypto: as for the project's own variants, neither edges nor UBSan, and one build.
def _oss_fuzz_crypto_copt(copt):
    kept = ["-fsanitize=address", "-fsanitize=memory"]
    dropped = ["-fsanitize=", "-fno-sanitize=", "-fno-sanitize-recover="]
    return [
        flag
        for flag in copt
        if flag in kept or
           not ([prefix for prefix in dropped if flag.startswith(prefix)] or flag in _FUZZER_MODE + _NOT_FUZZER_MODE)
    ] + VARIANTS["oss_fuzz_crypto"].copt

def _settings_of(name):
    variant = VARIANTS[name]
    return {
        "//bazel:engine": "libfuzzer",
        "//bazel:variant": name,
        "//command_line_option:compilation_mode": "opt",
        "//command_line_option:copt": variant.copt,
        "//command_line_option:linkopt": variant.linkopt,
        "//command_line_option:strip": "never",
    }

def _variant_transition_impl(settings, attr):
    return _settings_of(attr.variant)

_variant_transition = transition(
    implementation = _variant_transition_impl,
    inputs = [],
    outputs = _SETTINGS,
)

def _oss_fuzz_transition_impl(settings, attr):
    variant = VARIANTS[attr.variant]
    new = _settings_of(attr.variant)
    new["//command_line_option:copt"] = _oss_fuzz_copt(variant, settings)
    new["//command_line_option:linkopt"] = (variant.linkopt +
                                            _words(settings["//bazel:oss_fuzz_cxxflags"]) +
                                            _words(settings["//bazel:oss_fuzz_link"]))
    return new

# Apart from _variant_transition: what a transition reads is part of the names of all output folders.
_oss_fuzz_transition = transition(
    implementation = _oss_fuzz_transition_impl,
    inputs = _GIVEN,
    outputs = _SETTINGS,
)

def _part_transition_impl(settings, attr):
    variant = VARIANTS.get(settings["//bazel:variant"])
    other = variant.parts[attr.part] if variant else None
    if not other:
        return settings
    new = _settings_of(other)
    if other == "oss_fuzz_crypto":
        new["//command_line_option:copt"] = _oss_fuzz_crypto_copt(settings["//command_line_option:copt"])
    return new

_part_transition = transition(
    implementation = _part_transition_impl,
    inputs = _SETTINGS,
    outputs = _SETTINGS,
)

def _library_in_part_impl(ctx):
    return [ctx.attr.library[0][CcInfo], ctx.attr.library[0][DefaultInfo]]

# A cc_library, built in the variant that the variant in force names for this part.
library_in_part = rule(
    implementation = _library_in_part_impl,
    attrs = {
        "library": attr.label(
            cfg = _part_transition,
            mandatory = True,
            providers = [CcInfo],
        ),
        "part": attr.string(mandatory = True, values = ["crypto", "ssl"]),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
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

def _variant_files_impl(ctx):
    # Two variants' files have the same path among a test's runfiles: these get one of their own.
    links = []
    for target in ctx.attr.targets:
        for file in target[DefaultInfo].files.to_list():
            link = ctx.actions.declare_file("%s/%s" % (ctx.label.name, file.short_path))
            ctx.actions.symlink(output = link, target_file = file)
            links.append(link)
    return [DefaultInfo(files = depset(links))]

# What libraries are built as in a variant, at NAME/PATH.
variant_files = rule(
    implementation = _variant_files_impl,
    attrs = {
        "targets": attr.label_list(cfg = _variant_transition, mandatory = True),
        "variant": attr.string(mandatory = True, values = VARIANTS.keys()),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)

variant_binary = rule(
    implementation = _variant_impl,
    attrs = _ATTRS,
    executable = True,
)

# variant_binary for "oss_fuzz" and "oss_fuzz_fm", with the flags that fuzz/oss-fuzz/build.sh was given.
oss_fuzz_binary = rule(
    implementation = _variant_impl,
    attrs = dict(
        _ATTRS,
        target = attr.label(
            cfg = _oss_fuzz_transition,
            executable = True,
            mandatory = True,
        ),
    ),
    executable = True,
)

variant_test = rule(
    implementation = _variant_impl,
    attrs = dict(_ATTRS, env = attr.string_dict()),
    test = True,
)

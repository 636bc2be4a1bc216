"""cc_fuzz_test: one fuzz target, with both engines, its corpus and its tests.

    cc_fuzz_test(
        name = "X",
        srcs = ["x.c"],              # has LLVMFuzzerTestOneInput; fuzz/base/target.h declares it
        boringssl = "det",           # or "fuzzmode"
        dict = "x.dict",
        mutator = "//fuzz/x:mutator",         # alwayslink: LLVMFuzzerCustomMutator, LLVMFuzzerCustomCrossOver
        afl_mutator = "//fuzz/x:afl_mutator.so",  # the same for AFL_CUSTOM_MUTATOR_LIBRARY
        linkopts = ["-Wl,--wrap=..."],
        libfuzzer_floor = (executions, edges),
        afl_floor = (executions, edges),
        deps = [...],
    )

and seeds in corpora/X/, one file for each bug that was fixed in
corpora/X/regressions/. All targets are declared in fuzz/BUILD, so that
//fuzz:stats finds them. The names are those of rules_fuzzing:

    X                  test: replays the corpus and the regressions
    X_run              launcher: --engine, --timeout_secs, --corpus_dir, --regression
    X_bin              the target with the engine that --config=asan-libfuzzer, afl or coverage selects
    X_corpus, X_dict   what their names say
    X_msan             test: replays the same under MemorySanitizer, on a BoringSSL that is instrumented too
    X_oss_fuzz         archive in OSS-Fuzz's layout: X, its seeds, dictionary and options; X is X_libfuzzer, or what
                       fuzz/oss-fuzz/build.sh asks for
    X_libfuzzer_test, X_afl_test    a short bounded run of each engine, which must reach its floor

and, built in their own variants whatever the command line says, X_libfuzzer
(ASan and UBSan; what replays an input), X_afl, X_afl_cmplog, X_coverage and
X_msan_bin.
"""

load("@local_tools//:defs.bzl", "AFL_DIR", "LLVM_COV", "LLVM_PROFDATA")
load("//bazel:c.bzl", "c_binary")
load("//bazel:local_tools.bzl", "need_tool")
load("//bazel:variants.bzl", "oss_fuzz_binary", "variant_binary")

_SUFFIX = {"det": "", "fuzzmode": "_fm"}
_ENGINES = ["libfuzzer", "afl", "afl_cmplog", "coverage"]
_SANITIZERS = ["msan"]

_FuzzTargetInfo = provider(fields = ["entry", "runfiles"])

def _c_text(text):
    return "NULL" if not text else "\"%s\"" % text

def _entry(ctx, field, text):
    return "    .%s = %s,\n" % (field, text)

def _fuzz_target_impl(ctx):
    floor = "{.executions = %d, .edges = %d}"
    programs = [
        program
        for program in [
            ctx.attr.replayer,
            ctx.attr.libfuzzer,
            ctx.attr.afl,
            ctx.attr.afl_cmplog,
            ctx.attr.coverage,
        ]
        if program
    ]
    entry = "  {\n" + "".join([
        _entry(ctx, field, _c_text(text))
        for field, text in [
            ("name", ctx.attr.fuzz_test),
            ("replayer", ctx.executable.replayer.short_path),
            ("replay", "bazel run //%s:%s" % (ctx.label.package, ctx.attr.replay)),
            ("libfuzzer", ctx.executable.libfuzzer.short_path if ctx.attr.libfuzzer else None),
            ("afl", ctx.executable.afl.short_path if ctx.attr.afl else None),
            ("afl_cmplog", ctx.executable.afl_cmplog.short_path if ctx.attr.afl_cmplog else None),
            ("coverage", ctx.executable.coverage.short_path if ctx.attr.coverage else None),
            ("mutator", ctx.file.mutator.short_path if ctx.file.mutator else None),
            ("dictionary", ctx.file.dictionary.short_path if ctx.file.dictionary else None),
            ("corpus", ctx.attr.corpus_folder),
        ]
    ] + [
        _entry(ctx, "max_len", str(ctx.attr.max_len)),
        _entry(ctx, "detect_leaks", "true" if ctx.attr.detect_leaks else "false"),
        _entry(ctx, "libfuzzer_floor", floor % tuple(ctx.attr.libfuzzer_floor)),
        _entry(ctx, "afl_floor", floor % tuple(ctx.attr.afl_floor)),
    ]) + "  },\n"
    files = ctx.files.corpus + ctx.files.mutator + ctx.files.dictionary
    runfiles = ctx.runfiles(files = files)
    for program in programs:
        runfiles = runfiles.merge(program[DefaultInfo].default_runfiles)
    return [_FuzzTargetInfo(entry = entry, runfiles = runfiles), DefaultInfo(runfiles = runfiles)]

def _program(**kwargs):
    return attr.label(executable = True, cfg = "target", **kwargs)

_fuzz_target = rule(
    implementation = _fuzz_target_impl,
    attrs = {
        "afl": _program(),
        "afl_cmplog": _program(),
        "afl_floor": attr.int_list(mandatory = True),
        "corpus": attr.label_list(allow_files = True, mandatory = True),
        "corpus_folder": attr.string(mandatory = True),
        "coverage": _program(),
        "detect_leaks": attr.bool(mandatory = True),
        "dictionary": attr.label(allow_single_file = True),
        "fuzz_test": attr.string(mandatory = True),
        "libfuzzer": _program(),
        "libfuzzer_floor": attr.int_list(mandatory = True),
        "max_len": attr.int(mandatory = True),
        "mutator": attr.label(allow_single_file = True),
        "replay": attr.string(mandatory = True),
        "replayer": _program(mandatory = True),
    },
)

def _fuzz_table_impl(ctx):
    targets = [target[_FuzzTargetInfo] for target in ctx.attr.targets]
    out = ctx.actions.declare_file(ctx.label.name + ".c")
    ctx.actions.write(out, """#include "fuzz/launcher/targets.h"

const struct tg_fuzz_target tg_fuzz_targets[] = {
%s};
const size_t tg_num_fuzz_targets = sizeof(tg_fuzz_targets) / sizeof(tg_fuzz_targets[0]);
const char *const tg_llvm_cov = "%s";
const char *const tg_llvm_profdata = "%s";
""" % ("".join([target.entry for target in targets]), LLVM_COV, LLVM_PROFDATA))
    runfiles = ctx.runfiles()
    for target in targets:
        runfiles = runfiles.merge(target.runfiles)
    return [DefaultInfo(files = depset([out]), runfiles = runfiles)]

# A C file with the table that fuzz/launcher/targets.h declares, and everything it names as runfiles.
_fuzz_table = rule(
    implementation = _fuzz_table_impl,
    attrs = {"targets": attr.label_list(providers = [_FuzzTargetInfo])},
)

# The engines' own runtimes: libFuzzer's also replays inputs in the coverage variant and under other sanitizers.
def _engine_linkopts(suffix):
    afl = [AFL_DIR + "/libAFLDriver.a"]
    return select({
        "//bazel:libfuzzer" + suffix: ["-fsanitize=fuzzer"],
        "//bazel:coverage" + suffix: ["-fsanitize=fuzzer"],
        "//bazel:msan" + suffix: ["-fsanitize=fuzzer"],
        "//bazel:afl" + suffix: afl,
        "//bazel:afl_cmplog" + suffix: afl,
        "//conditions:default": [],
    })

def _archive(name, suffix, options, has_dict, tags):
    """name_oss_fuzz.zip: the program, its seeds, dictionary and options, named as OSS-Fuzz asks for."""
    oss_fuzz_binary(
        name = name + "_oss_fuzz_program",
        testonly = True,
        tags = ["manual"],
        target = ":%s_raw" % name,
        variant = "oss_fuzz" + suffix,
    )
    native.alias(
        name = name + "_oss_fuzz_bin",
        testonly = True,
        actual = select({
            "//bazel:oss_fuzz_afl": ":%s_oss_fuzz_program" % name,
            "//bazel:oss_fuzz_libfuzzer": ":%s_oss_fuzz_program" % name,
            "//conditions:default": ":%s_libfuzzer" % name,
        }),
    )
    copies = [
        "cp -L $(location :{name}_oss_fuzz_bin) $$out/{name}",
        "printf '[libfuzzer]\\n{options}' > $$out/{name}.options",
        "for f in $(locations :{name}_corpus); do cp -L $$f $$seeds/$$(echo $$f | tr / _); done",
        "(cd $$seeds && touch -d @315532800 * && zip -qX $$out/{name}_seed_corpus.zip *)",
    ]
    if has_dict:
        copies.append("cp -L $(location :{name}_dict) $$out/{name}.dict")
    commands = ["set -e", "root=$$PWD", "out=$$(mktemp -d)", "seeds=$$(mktemp -d)"] + copies + [
        "(cd $$out && touch -d @315532800 * && zip -qX $$root/$@ *)",
        "rm -r $$out $$seeds",
    ]
    native.genrule(
        name = name + "_oss_fuzz",
        testonly = True,
        srcs = [":%s_corpus" % name, ":%s_oss_fuzz_bin" % name] + ([":%s_dict" % name] if has_dict else []),
        outs = [name + "_oss_fuzz.zip"],
        cmd = "\n".join(commands).format(name = name, options = "".join(["%s = %s\\n" % item for item in options.items()])),
        tags = tags,
    )

def cc_fuzz_test(
        name,
        srcs,
        libfuzzer_floor,
        afl_floor,
        boringssl = "det",
        corpus = None,
        corpus_folder = None,
        tests = True,
        dict = None,
        mutator = None,
        afl_mutator = None,
        max_len = 4096,
        detect_leaks = True,
        sanitizers = _SANITIZERS,
        size = "medium",
        copts = [],
        linkopts = [],
        deps = [],
        **kwargs):
    """Declares a fuzz target; the head of this file lists what comes of it.

    Args:
      name: of the target, and of its folder in //corpora.
      srcs: C files; one defines LLVMFuzzerTestOneInput.
      libfuzzer_floor: (executions, edges): how long X_libfuzzer_test runs and
        how many edges it must cover. The run has a fixed seed, so it is the
        same on every machine.
      afl_floor: likewise for X_afl_test, in AFL++'s edges.
      boringssl: "det" (deterministic random numbers, real ciphers) or
        "fuzzmode" (as well null ciphers and accepted signatures).
      corpus: labels of the seeds; None: "//corpora:NAME".
      corpus_folder: where they are, from the workspace's root; None:
        "corpora/NAME".
      tests: False for a target that only serves a test of the launcher.
      dict: a dictionary in libFuzzer's and AFL++'s format.
      mutator: a library, always linked, with libFuzzer's custom mutator and
        cross-over.
      afl_mutator: a shared library with AFL++'s (afl_custom_fuzz). Either
        both or none is given.
      max_len: of an input, in bytes, for both engines.
      detect_leaks: whether libFuzzer looks for leaks after inputs. Not where
        the simulated kernel's books do, after every one of them.
      sanitizers: beside ASan and UBSan, with a test X_SANITIZER each: "msan".
      size: of the tests.
      copts: for srcs.
      linkopts: for the target, --wrap lists for instance.
      deps: of srcs.
      **kwargs: passed to the cc_binary.
    """
    need_tool("AFL_DIR", AFL_DIR)
    if native.existing_rule("stats"):
        fail("%s stands below fuzz_stats, which would not know it: move it up" % name)
    suffix = _SUFFIX[boringssl]
    tags = [] if tests else ["manual"]
    if bool(mutator) != bool(afl_mutator):
        fail("%s: a mutator for one engine alone: give mutator and afl_mutator" % name)
    c_binary(
        name = name + "_raw",
        testonly = True,
        srcs = srcs,
        copts = copts,
        linkopts = linkopts + _engine_linkopts(suffix),
        tags = ["manual"],
        deps = deps + select({
            "//bazel:libfuzzer" + suffix: [mutator] if mutator else [],
            "//bazel:oss_fuzz_mutates" + suffix: [mutator] if mutator else [],
            "//conditions:default": [],
        }),
        **kwargs
    )
    for program, variant in [(engine, engine) for engine in _ENGINES] + [(of + "_bin", of) for of in sanitizers]:
        variant_binary(
            name = "%s_%s" % (name, program),
            testonly = True,
            tags = tags,
            target = ":%s_raw" % name,
            variant = variant + suffix,
        )
    native.alias(
        name = name + "_bin",
        testonly = True,
        tags = tags,
        actual = select({
            "//bazel:engine_afl": ":%s_afl" % name,
            "//bazel:engine_coverage": ":%s_coverage" % name,
            "//conditions:default": ":%s_libfuzzer" % name,
        }),
    )
    native.filegroup(
        name = name + "_corpus",
        srcs = ["//corpora:" + name] if corpus == None else corpus,
    )
    if dict:
        native.filegroup(
            name = name + "_dict",
            srcs = [dict],
        )
    for table, coverage in [("_engines", None), ("_measured", ":%s_coverage" % name)]:
        _fuzz_target(
            name = name + table,
            testonly = True,
            tags = tags,
            afl = ":%s_afl" % name,
            afl_cmplog = ":%s_afl_cmplog" % name,
            afl_floor = afl_floor,
            corpus = [":%s_corpus" % name],
            corpus_folder = corpus_folder or "corpora/" + name,
            coverage = coverage,
            detect_leaks = detect_leaks,
            dictionary = dict,
            fuzz_test = name,
            libfuzzer = ":%s_libfuzzer" % name,
            libfuzzer_floor = libfuzzer_floor,
            max_len = max_len,
            mutator = afl_mutator,
            replay = name + "_run -- --regression",
            replayer = ":%s_libfuzzer" % name,
        )
    _fuzz_table(
        name = name + "_table",
        testonly = True,
        targets = [":%s_engines" % name],
    )
    c_binary(
        name = name + "_run",
        testonly = True,
        srcs = [":%s_table" % name],
        data = [":%s_table" % name],
        tags = tags,
        deps = ["//fuzz/launcher:main"],
    )
    for sanitizer in sanitizers:
        _fuzz_target(
            name = "%s_%s_replayed" % (name, sanitizer),
            testonly = True,
            tags = tags,
            afl_floor = afl_floor,
            corpus = [":%s_corpus" % name],
            corpus_folder = corpus_folder or "corpora/" + name,
            detect_leaks = detect_leaks,
            fuzz_test = name,
            libfuzzer_floor = libfuzzer_floor,
            max_len = max_len,
            replay = "%s_%s --" % (name, sanitizer),
            replayer = ":%s_%s_bin" % (name, sanitizer),
        )
        _fuzz_table(
            name = "%s_%s_table" % (name, sanitizer),
            testonly = True,
            targets = [":%s_%s_replayed" % (name, sanitizer)],
        )
    if not tests:
        return
    for test, table, arguments in [
        (name, name, ["--regression"]),
        (name + "_libfuzzer_test", name, ["--test", "--engine", "libfuzzer"]),
        (name + "_afl_test", name, ["--test", "--engine", "afl"]),
    ] + [("%s_%s" % (name, of), "%s_%s" % (name, of), ["--regression"]) for of in sanitizers]:
        native.cc_test(
            name = test,
            size = size,
            srcs = [":%s_table" % table],
            args = arguments,
            data = [":%s_table" % table],
            deps = ["//fuzz/launcher:main"],
        )
    options = {"max_len": "%d" % max_len}
    if not detect_leaks:
        options["detect_leaks"] = "0"
    if dict:
        options["dict"] = name + ".dict"
    _archive(
        name,
        suffix,
        options,
        bool(dict),
        # What build.sh leaves out of a build for MemorySanitizer.
        tags = [] if "msan" in sanitizers else ["no_memory_sanitizer"],
    )

def fuzz_program(name, targets, deps, **kwargs):
    """A program over some fuzz targets, without their coverage variant.

    Args:
      name: of the program.
      targets: labels of cc_fuzz_test rules.
      deps: a library with main(), which reads the table of fuzz/launcher/targets.h.
      **kwargs: passed to the cc_binary.
    """
    _fuzz_table(
        name = name + "_table",
        testonly = True,
        targets = [target + "_engines" for target in targets],
    )
    c_binary(
        name = name,
        testonly = True,
        srcs = [":%s_table" % name],
        data = [":%s_table" % name],
        deps = deps,
        **kwargs
    )

def fuzz_service(name, deps, without = [], **kwargs):
    """fuzz_program over every cc_fuzz_test that was declared above it in the package.

    Args:
      name: of the program.
      deps: a library with main().
      without: names of targets that are left out.
      **kwargs: passed to the cc_binary.
    """
    fuzz_program(
        name = name,
        targets = sorted([
            ":" + rule_name[:-len("_engines")]
            for rule_name, rule in native.existing_rules().items()
            if rule["kind"] == "_fuzz_target" and rule_name.endswith("_engines") and
               rule_name[:-len("_engines")] not in without
        ]),
        deps = deps,
        **kwargs
    )

def fuzz_stats(name, deps, **kwargs):
    """A program over every cc_fuzz_test that was declared above it in the package.

    Args:
      name: of the program.
      deps: a library with main(), which reads the table of fuzz/launcher/targets.h.
      **kwargs: passed to the cc_binary.
    """
    need_tool("LLVM_COV", LLVM_COV)
    need_tool("LLVM_PROFDATA", LLVM_PROFDATA)
    _fuzz_table(
        name = name + "_table",
        testonly = True,
        targets = sorted([
            ":" + target
            for target, rule in native.existing_rules().items()
            if rule["kind"] == "_fuzz_target" and target.endswith("_measured")
        ]),
    )
    c_binary(
        name = name + "_program",
        testonly = True,
        srcs = [":%s_table" % name],
        data = [":%s_table" % name],
        deps = deps,
        **kwargs
    )

    # Its own name may be that of a folder, which is in the way of a file.
    native.alias(
        name = name,
        testonly = True,
        actual = name + "_program",
    )

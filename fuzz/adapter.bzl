"""accept_path_fuzz_tests: any non-blocking accept path under the simulated kernel, with every target that drives one.

    load("//fuzz:adapter.bzl", "accept_path_fuzz_tests")

    accept_path_fuzz_tests(
        name = "myserver",
        adapter = ":adapter",   # a library that defines tg_world_accept_path (fuzz/world/accept_path.h)
    )

makes, for each TARGET of TARGETS, what cc_fuzz_test (defs.bzl) makes of a target: the test myserver_TARGET, which
replays the corpora that are committed for the project's own server, myserver_TARGET_run, which fuzzes,
myserver_TARGET_libfuzzer_test and _afl_test, bounded runs of both engines, and myserver_TARGET_msan. docs/adapter.md
has the rest.

accept_path_calls_test makes a test that the accept path makes no call which the kernel does not know, and
accept_path_fault one that a planted fault is caught by such a target.
"""

load("//bazel:c.bzl", "c_binary")
load("//bazel:variants.bzl", "variant_binary", "variant_test")
load("//fuzz:defs.bzl", "cc_fuzz_test")
load("//harness/faults:defs.bzl", "fault_record", "patched_files")

def _own(label):
    return str(Label(label))

# The longest schedule is of TG_SCHEDULE_BYTES_MAX bytes.
_SCHEDULE = struct(
    boringssl = "det",
    max_len = 1168,
    runs = 300,
    mutator = _own("//fuzz/schedule:mutator"),
    afl_mutator = _own("//fuzz/schedule:afl_mutator.so"),
    deps = [_own(label) for label in [
        "//fuzz:schedule_target",
        "//fuzz/base:target",
        "//fuzz/base:thrift",
        "//fuzz/schedule:encoding",
        "//fuzz/world:core",
    ]],
)

def _bytes(boringssl, max_len):
    return struct(
        boringssl = boringssl,
        max_len = max_len,
        runs = 1000,
        mutator = None,
        afl_mutator = None,
        deps = [_own(label) for label in [
            "//fuzz:byte_target",
            "//fuzz/base:target",
            "//fuzz/world:core",
        ]],
    )

_TARGETS = {
    "accept_schedule": _SCHEDULE,
    "exhaustion": _SCHEDULE,
    # BoringSSL in fuzzer mode: for accept paths that use it.
    "handshake_bytes": _bytes("fuzzmode", 16384),
    "request_bytes": _bytes("det", 20480),
    "teardown_schedule": _SCHEDULE,
}

# The targets there are.
TARGETS = sorted(_TARGETS.keys())

def accept_path_fuzz_tests(
        name,
        adapter,
        targets = TARGETS,
        libfuzzer_floor = (200, 1000),
        afl_floor = (100, 500),
        corpora = {},
        **kwargs):
    """Declares NAME_TARGET and what belongs to it; the head of this file lists that.

    Args:
      name: of the accept path.
      adapter: a library that defines tg_world_accept_path, with the accept path itself among its deps.
      targets: those of TARGETS that make sense for it.
      libfuzzer_floor: (executions, edges) for each target's bounded run, see cc_fuzz_test. What is looked for is code
        that was compiled for fuzzing: the accept path's, the TLS library's and the TCP model's.
      afl_floor: likewise, in AFL++'s edges.
      corpora: for a target, labels of seeds of the accept path's own, beside those that are committed for all.
      **kwargs: passed to cc_fuzz_test: dict, sanitizers, size, linkopts...
    """
    for target in targets:
        kind = _TARGETS[target]
        cc_fuzz_test(
            name = "%s_%s" % (name, target),
            srcs = [_own("//fuzz:accept_schedule.c").replace("accept_schedule", target)],
            afl_floor = afl_floor,
            afl_mutator = kind.afl_mutator,
            boringssl = kind.boringssl,
            corpus = [_own("//corpora:accept_schedule").replace("accept_schedule", target)] + corpora.get(target, []),
            corpus_folder = "corpora/" + target,
            # The simulated kernel's books do, after every run.
            detect_leaks = False,
            libfuzzer_floor = libfuzzer_floor,
            max_len = kind.max_len,
            mutator = kind.mutator,
            deps = [adapter] + kind.deps,
            **kwargs
        )

def accept_path_calls_test(name, libraries, **kwargs):
    """NAME: the test that whatever the libraries call is on the lists of harness/kernel/wrap.bzl.

    A call that is on none is the real one in a run, without a word.

    Args:
      name: of the test.
      libraries: the accept path's, and those that it calls, BoringSSL aside.
      **kwargs: passed to the test.
    """
    lists = _own("//harness/kernel:wrap_lists")
    archives = libraries + ["@boringssl//:crypto", "@boringssl//:ssl"]
    variant_test(
        name = name,
        size = "small",
        args = ["$(location %s)" % lists] + ["$(locations %s)" % library for library in archives],
        data = [lists] + archives,
        target = _own("//harness/kernel:wrap_test_bin"),
        variant = "release",
        **kwargs
    )

def accept_path_fault(name, of, target, sources, deps, caught_by, breaks):
    """NAME: the test that NAME_TARGET of an accept path catches the fault patches/NAME.patch, and passes without it.

    The patched sources take the place of the library's own: each of them must define what the library's does.

    Args:
      name: of the fault, in the calling package, as of its patch.
      of: the name that accept_path_fuzz_tests was given, in the same package.
      target: of TARGETS: its seeds are replayed, then it fuzzes, with a fixed seed and number of runs.
      sources: the C files of the calling package that the patch changes; it is made with -p1 at the workspace's root.
      deps: the adapter, and the headers that the sources need.
      caught_by: what the target must say, each good enough: a property ("P5") or "assertion".
      breaks: in one line, what the patched code does wrong.
    """
    kind = _TARGETS[target]
    if not breaks or "\n" in breaks:
        fail("%s: breaks is one line of text" % name)
    patched_files(name, sources)
    c_binary(
        name = name + "_raw",
        testonly = True,
        srcs = [
            ":%s_sources" % name,
            _own("//fuzz:accept_schedule.c").replace("accept_schedule", target),
        ],
        linkopts = ["-fsanitize=fuzzer"] + (["-Wl,-u," + function for function in [
            "LLVMFuzzerCustomMutator",
            "LLVMFuzzerCustomCrossOver",
        ]] if kind.mutator else []),
        tags = ["manual"],
        deps = deps + kind.deps + ([kind.mutator] if kind.mutator else []),
    )
    variant_binary(
        name = name + "_program",
        testonly = True,
        target = ":%s_raw" % name,
        variant = "libfuzzer" + ("_fm" if kind.boringssl == "fuzzmode" else ""),
    )
    fault_record(
        name = name + "_record",
        testonly = True,
        caught_by = caught_by,
        check = target,
        clean = ":%s_%s_libfuzzer" % (of, target),
        corpus = [":%s_%s_corpus" % (of, target)],
        fault = name,
        max_len = kind.max_len,
        patched = ":%s_program" % name,
        runs = kind.runs,
        with_own_regression = True,
    )
    variant_test(
        name = name,
        size = "small",
        args = [
            "score",
            "$(location :%s_record)" % name,
        ],
        data = [":%s_record" % name],
        target = _own("//harness/faults/report"),
        variant = "release",
    )

"""The checks that faults are tried against.

Each links the patched objects before the libraries. A linker takes an object of a library only for a symbol that is
still missing, so the patched one stands in for the shipped one of the same name; would both be taken, the link fails
on the symbols that they share.
"""

def _test(program, srcs, deps, linkopts = [], variant = "asan"):
    """A cmocka test of the accept path or the server: its sources, with the patched objects."""
    return struct(
        clean = program + "_" + variant,
        deps = deps,
        fuzz_target = None,
        linkopts = linkopts,
        server_test = None,
        srcs = srcs,
        variant = variant,
    )

def _server_test(program):
    """A test that runs https_server as a child: the patched server, and the test as it is."""
    return struct(
        clean = program + "_asan",
        deps = ["//harness/server:main"],
        fuzz_target = None,
        linkopts = [],
        server_test = program + "_asan",
        srcs = [],
        variant = "asan",
    )

def _fuzz_target(target, deps, runs, max_len, mutator = [], variant = "libfuzzer"):
    """A fuzz target of //fuzz: its entry point and its world, with the patched objects."""
    return struct(
        clean = "//fuzz:%s_libfuzzer" % target,
        deps = deps + mutator,
        fuzz_target = struct(
            corpus = "//corpora:" + target,
            max_len = max_len,
            runs = runs,
        ),
        # libFuzzer finds a custom mutator by weak symbols, which pull nothing out of a library.
        linkopts = ["-fsanitize=fuzzer"] + (["-Wl,-u," + function for function in [
            "LLVMFuzzerCustomMutator",
            "LLVMFuzzerCustomCrossOver",
        ]] if mutator else []),
        server_test = None,
        srcs = ["//fuzz:%s.c" % target],
        variant = variant,
    )

def _schedule_target(target):
    return _fuzz_target(
        target,
        max_len = 1168,
        mutator = ["//fuzz/schedule:mutator"],
        runs = 300,
        deps = [
            "//fuzz:schedule_target",
            "//fuzz/base:target",
            "//fuzz/schedule:encoding",
            "//fuzz/world",
        ],
    )

_ACCEPT_TEST_DEPS = [
    "//harness/accept",
    "//harness/accept:testing_rig",
    "@boringssl//:crypto",
    "@boringssl//:ssl",
    "@cmocka//:cmocka",
]

CHECKS = {
    "accept_calls": _test(
        program = "//harness/accept:faults_test",
        srcs = [
            "//harness/accept:faults_test.c",
            "//harness/accept:testing_calls.c",
            "//harness/accept:testing_calls.h",
        ],
        linkopts = ["-Wl,--wrap=" + call for call in [
            "accept4",
            "calloc",
            "close",
            "epoll_ctl",
            "malloc",
            "recv",
            "send",
            "setsockopt",
            "shutdown",
        ]],
        deps = _ACCEPT_TEST_DEPS,
    ),
    "accept_threads": _test(
        program = "//harness/accept:threads_test",
        srcs = ["//harness/accept:threads_test.c"],
        deps = _ACCEPT_TEST_DEPS,
        variant = "tsan",
    ),
    "accept_timeouts": _test(
        program = "//harness/accept:timeouts_test",
        srcs = ["//harness/accept:timeouts_test.c"],
        deps = _ACCEPT_TEST_DEPS,
    ),
    "accept_schedule": _schedule_target("accept_schedule"),
    "exhaustion": _schedule_target("exhaustion"),
    "handshake_bytes": _fuzz_target(
        "handshake_bytes",
        max_len = 16384,
        runs = 1000,
        variant = "libfuzzer_fm",
        deps = [
            "//fuzz:byte_target",
            "//fuzz/base:target",
            "//fuzz/world",
        ],
    ),
    "http_app": _test(
        program = "//harness/server:http_app_test",
        srcs = ["//harness/server:http_app_test.c"],
        deps = [
            "//harness/accept",
            "//harness/server:http_app",
            "@cmocka//:cmocka",
        ],
    ),
    "http_request": _test(
        program = "//harness/server:http_request_test",
        srcs = ["//harness/server:http_request_test.c"],
        deps = [
            "//harness/server:http",
            "@cmocka//:cmocka",
        ],
    ),
    "request_bytes": _fuzz_target(
        "request_bytes",
        max_len = 16384,
        runs = 1000,
        deps = [
            "//fuzz:byte_target",
            "//fuzz/base:target",
            "//fuzz/world",
        ],
    ),
    "server_tls": _server_test("//harness/server:tls_test"),
    "teardown_schedule": _schedule_target("teardown_schedule"),
    "ticket_keys": _test(
        program = "//harness/accept:ticket_keys_test",
        srcs = ["//harness/accept:ticket_keys_test.c"],
        deps = _ACCEPT_TEST_DEPS,
    ),
}

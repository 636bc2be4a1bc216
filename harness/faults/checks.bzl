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
    "http_request": _test(
        program = "//harness/server:http_request_test",
        srcs = ["//harness/server:http_request_test.c"],
        deps = [
            "//harness/server:http",
            "@cmocka//:cmocka",
        ],
    ),
    "server_tls": _server_test("//harness/server:tls_test"),
    "ticket_keys": _test(
        program = "//harness/accept:ticket_keys_test",
        srcs = ["//harness/accept:ticket_keys_test.c"],
        deps = _ACCEPT_TEST_DEPS,
    ),
}

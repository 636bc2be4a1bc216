"""What the simulated world is made of, and the project's own accept path in it."""

load("//bazel:variants.bzl", "if_fuzzed")

# The world judges and is not judged: optimised, what it covers is nothing for a fuzzer to look for, and its own mistakes
# are not looked for with every input.
WORLD_COPTS = [
    "-O2",
    "-fno-sanitize=fuzzer-no-link",
] + if_fuzzed(["-fno-sanitize=address,undefined"])

# Without an accept path.
CORE_SRCS = [
    "black_box.c",
    "black_box.h",
    "bytes.c",
    "bytes.h",
    "canonical.c",
    "finding.c",
    "fixture_texts.h",
    "fixtures.c",
    "fixtures.h",
    "http_reader.c",
    "http_reader.h",
    "http_script.c",
    "http_script.h",
    "oracle.c",
    "oracle.h",
    "peer.c",
    "peer.h",
    "peer_tls.c",
    "peer_tls.h",
    "steps.c",
    "steps.h",
    "world.c",
    "world_state.h",
]

CORE_HDRS = [
    "accept_path.h",
    "canonical.h",
    "finding.h",
    "world.h",
]

CORE_DEPS = [
    "//fuzz/base:rng",
    "//fuzz/schedule:encoding",
    "//fuzz/schedule:prefix",
    "//harness/accept:internals",
    "//harness/kernel:kernel",
    "@boringssl//:crypto",
    "@boringssl//:ssl",
]

# The project's own accept path, looked at from the inside too.
OWN_SRCS = [
    "fixtures.h",
    "refused.c",
    "refused.h",
    "server.c",
    "server.h",
    "server_tls.c",
    "server_tls.h",
    "watch.c",
    "watch.h",
]

OWN_DEPS = [
    "//fuzz/schedule:encoding",
    "//harness/accept",
    "//harness/accept:internals",
    "//harness/kernel:kernel",
    "//harness/server:http_app",
    "@boringssl//:crypto",
    "@boringssl//:ssl",
]

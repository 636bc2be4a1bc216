"""What the simulated world is made of, apart from the accept path that it is linked with."""

# The world judges and is not judged: optimised, and what it covers is nothing for a fuzzer to look for.
WORLD_COPTS = [
    "-O2",
    "-fno-sanitize=fuzzer-no-link",
]

WORLD_SRCS = [
    "bytes.c",
    "bytes.h",
    "canonical.c",
    "finding.c",
    "finding.h",
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
    "refused.c",
    "refused.h",
    "server.c",
    "server.h",
    "server_tls.c",
    "server_tls.h",
    "steps.c",
    "steps.h",
    "watch.c",
    "watch.h",
    "world.c",
    "world_state.h",
]

WORLD_HDRS = [
    "canonical.h",
    "world.h",
]

WORLD_DEPS = [
    "//fuzz/base:rng",
    "//fuzz/schedule:encoding",
    "//fuzz/schedule:prefix",
    "//harness/kernel:kernel",
    "@boringssl//:crypto",
    "@boringssl//:ssl",
]

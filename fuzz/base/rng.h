// The TLS library's random numbers, the same in every run.
#ifndef TLSGATE_FUZZ_BASE_RNG_H
#define TLSGATE_FUZZ_BASE_RNG_H

// tg_fuzz_reset_rng starts BoringSSL's random number generator over, so that what follows depends on nothing that was
// done before. A target calls it first thing in every input, and in LLVMFuzzerInitialize before it makes keys.
//
// RAND_reset_for_fuzzing() alone is not enough: it starts the source of entropy over, but the generator of the calling
// thread (a CTR-DRBG, crypto/fipsmodule/rand/rand.c) keeps the state that earlier runs left. This drops that state too.
//
// What it cannot reset is kept in the caller's objects: ticket keys in an SSL_CTX, and the blinding of an RSA key,
// which is renewed every 32 signatures: make such objects anew in each run or avoid them.
//
// Needs a build of BoringSSL with BORINGSSL_UNSAFE_DETERMINISTIC_MODE (every fuzzing variant of bazel/variants.bzl);
// it aborts in any other. Called on the thread that runs the input; allocates, so call it before malloc may fail.
void tg_fuzz_reset_rng(void);

#endif

// BoringSSL's deterministic generator, put back to its beginning.
#ifndef TLSGATE_FUZZ_WORLD_RANDOM_H
#define TLSGATE_FUZZ_WORLD_RANDOM_H

// tg_random_reset makes the library's next random bytes the same as after any other reset. Its deterministic mode
// (BORINGSSL_UNSAFE_DETERMINISTIC_MODE) makes the entropy deterministic, but each thread draws from a DRBG that lives on
// from one run to the next; it is thrown away here, and seeded again at the next use. The program must be linked with
// -Wl,--wrap=CRYPTO_get_thread_local and -Wl,--wrap=CRYPTO_set_thread_local.
void tg_random_reset(void);

#endif

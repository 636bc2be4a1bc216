#include "fuzz/base/rng.h"

#include <openssl/mem.h>
#include <openssl/rand.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(BORINGSSL_UNSAFE_DETERMINISTIC_MODE)

// libcrypto's own interface to thread-local data (crypto/internal.h): exported, but in no public header. Weak, so that
// a version without them links; the check below then decides.
__attribute__((weak)) void *CRYPTO_get_thread_local(int index);
__attribute__((weak)) int CRYPTO_set_thread_local(int index, void *value, void (*destructor)(void *));
#define THREAD_LOCAL_RAND 1  // OPENSSL_THREAD_LOCAL_RAND

static void start_over(void) {
  RAND_reset_for_fuzzing();
  if (CRYPTO_get_thread_local != NULL && CRYPTO_set_thread_local != NULL) {
    void *state = CRYPTO_get_thread_local(THREAD_LOCAL_RAND);
    if (state != NULL && CRYPTO_set_thread_local(THREAD_LOCAL_RAND, NULL, OPENSSL_free) == 1) {
      OPENSSL_free(state);
    }
  }
  // Makes the new state now, while malloc still works.
  uint8_t byte;
  RAND_bytes(&byte, sizeof(byte));
}

void tg_fuzz_reset_rng(void) {
  static bool checked;
  if (!checked) {
    checked = true;
    uint8_t first[16];
    uint8_t second[16];
    start_over();
    RAND_bytes(first, sizeof(first));
    start_over();
    RAND_bytes(second, sizeof(second));
    if (memcmp(first, second, sizeof(first)) != 0) {
      fprintf(stderr, "tg_fuzz_reset_rng: this version of BoringSSL keeps random state that cannot be started over\n");
      abort();
    }
  }
  start_over();
}

#else

void tg_fuzz_reset_rng(void) {
  fprintf(stderr,
          "tg_fuzz_reset_rng: BoringSSL was built without BORINGSSL_UNSAFE_DETERMINISTIC_MODE: build the program in a "
          "fuzzing variant of bazel/variants.bzl\n");
  abort();
}

#endif

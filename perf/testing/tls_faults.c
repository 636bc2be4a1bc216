// The planted faults that need to see what TLS has decrypted, or why it failed: SSL_read and SSL_free pass here.
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "perf/testing/active.h"

#define EXIT_STATUS 70

// What a connection may have had before further input is swallowed: a request, but no limit of a head's.
#define SWALLOW_AFTER 4096
#define SLOTS         4096  // of connections, by the address of their SSL; two that share one swallow a little early

static atomic_size_t had[SLOTS];

int __real_SSL_read(SSL *ssl, void *out, int len);
void __real_SSL_free(SSL *ssl);
int __wrap_SSL_read(SSL *ssl, void *out, int len);
void __wrap_SSL_free(SSL *ssl);

static atomic_size_t *slot_of(const SSL *ssl) {
  return &had[((uintptr_t)ssl >> 6) % SLOTS];
}

static void exit_on(const char *fault, int reason) {
  if (tg_fault_is(fault) && ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_SSL &&
      ERR_GET_REASON(ERR_peek_last_error()) == reason) {
    _exit(EXIT_STATUS);
  }
}

int __wrap_SSL_read(SSL *ssl, void *out, int len) {
  int got = __real_SSL_read(ssl, out, len);
  while (tg_fault_is("swallows_requests") && got > 0 &&
         atomic_fetch_add(slot_of(ssl), (size_t)got) + (size_t)got > SWALLOW_AFTER) {
    got = __real_SSL_read(ssl, out, len);
  }
  if (got > 0 && tg_fault_is("exits_on_nul") && memchr(out, 0, (size_t)got) != NULL) {
    _exit(EXIT_STATUS);
  }
  if (got <= 0) {
    exit_on("exits_on_renegotiation", SSL_R_NO_RENEGOTIATION);
  }
  return got;
}

void __wrap_SSL_free(SSL *ssl) {
  atomic_store(slot_of(ssl), 0);
  __real_SSL_free(ssl);
}

// The TLS configuration that all shards of a server share.
#ifndef TLSGATE_HARNESS_ACCEPT_TLS_CONTEXT_H
#define TLSGATE_HARNESS_ACCEPT_TLS_CONTEXT_H

#include <openssl/base.h>
#include <openssl/stack.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"

struct tg_tls_context;

struct tg_tls_config {
  EVP_PKEY *key;           // a reference is taken
  STACK_OF(X509) * chain;  // leaf first; references are taken
  const char *groups;      // BoringSSL's list, e.g. "P-384:P-256", in order of preference; NULL: the library's own
  const char
      *client_ca_file;  // PEM; a client certificate signed by one of these is then required. NULL: none asked for
  bool early_data;      // accept TLS 1.3 early data; requests in it are answered once the handshake is confirmed
  uint32_t ticket_key_lifetime_s;  // a ticket key encrypts this long, then decrypts that long again. 1 to 604,800 (RFC
                                   // 8446, 4.6.1: at most 7 days)
};

// tg_tls_context_create returns a context, or NULL with `err` filled in (the key does not match the certificate, a file
// cannot be read, an unknown group, ...).
struct tg_tls_context *tg_tls_context_create(const struct tg_tls_config *config, struct tg_error *err);

// tg_tls_context_destroy frees a context no shard uses any more. NULL is ignored.
void tg_tls_context_destroy(struct tg_tls_context *context);

#endif

// The server's certificate chain and key: from PEM files, or made in the process.
#ifndef TLSGATE_HARNESS_SERVER_CREDENTIALS_H
#define TLSGATE_HARNESS_SERVER_CREDENTIALS_H

#include <openssl/x509.h>
#include <stdbool.h>

#include "harness/base/error.h"

enum tg_key_type { TG_KEY_P256, TG_KEY_RSA2048, TG_KEY_RSA4096 };

struct tg_credentials {
  EVP_PKEY *key;
  STACK_OF(X509) * chain;  // leaf first
};

// tg_credentials_load reads a PEM chain, leaf first, and a PEM key without a passphrase. Returns false with `err`
// filled in when a file cannot be read or parsed, when the key is RSA of fewer than 2048 bits, or when it is not the
// leaf's.
bool tg_credentials_load(const char *cert_file, const char *key_file, struct tg_credentials *out, struct tg_error *err);

// tg_credentials_self_signed makes a key and a certificate for localhost, 127.0.0.1 and ::1, valid from an hour ago
// for ten years. RSA-4096 may take seconds. Returns false with `err` filled in on failure.
bool tg_credentials_self_signed(enum tg_key_type type, struct tg_credentials *out, struct tg_error *err);

// tg_credentials_free releases both and sets them to NULL.
void tg_credentials_free(struct tg_credentials *credentials);

#endif

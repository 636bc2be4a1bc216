#include "harness/server/test_credentials.h"

#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "harness/server/test_server.h"

static void write_files(struct test_credentials *out, const char *name) {
  char file[64];
  snprintf(file, sizeof(file), "%s.crt", name);
  test_file(out->cert_file, file, "");
  snprintf(file, sizeof(file), "%s.key", name);
  test_file(out->key_file, file, "");
  FILE *cert = fopen(out->cert_file, "we");
  FILE *key = fopen(out->key_file, "we");
  assert_true(cert != NULL && key != NULL);
  assert_true(PEM_write_X509(cert, sk_X509_value(out->made.chain, 0)));
  assert_true(PEM_write_PrivateKey(key, out->made.key, NULL, NULL, 0, NULL, NULL));
  assert_int_equal(fclose(cert), 0);
  assert_int_equal(fclose(key), 0);
}

static void make(struct test_credentials *out, enum tg_key_type type) {
  struct tg_error err;
  if (!tg_credentials_self_signed(type, &out->made, &err)) {
    fail_msg("%s", err.text);
  }
}

void test_credentials_make(struct test_credentials *out, const char *name, enum tg_key_type type) {
  make(out, type);
  write_files(out, name);
}

void test_credentials_make_rsa(struct test_credentials *out, const char *name, int bits) {
  make(out, TG_KEY_P256);
  BIGNUM *exponent = BN_new();
  RSA *rsa = RSA_new();
  assert_true(exponent != NULL && rsa != NULL);
  assert_true(BN_set_word(exponent, RSA_F4));
  assert_true(RSA_generate_key_ex(rsa, bits, exponent, NULL));
  BN_free(exponent);
  EVP_PKEY_free(out->made.key);
  out->made.key = EVP_PKEY_new();
  assert_non_null(out->made.key);
  assert_true(EVP_PKEY_assign_RSA(out->made.key, rsa));
  X509 *cert = sk_X509_value(out->made.chain, 0);
  assert_true(X509_set_pubkey(cert, out->made.key));
  assert_true(X509_sign(cert, out->made.key, EVP_sha256()) > 0);
  write_files(out, name);
}

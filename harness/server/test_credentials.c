#include "harness/server/test_credentials.h"

#include <openssl/pem.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "harness/server/test_server.h"

void test_credentials_make(struct test_credentials *out, const char *name, enum tg_key_type type) {
  struct tg_error err;
  if (!tg_credentials_self_signed(type, &out->made, &err)) {
    fail_msg("%s", err.text);
  }
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

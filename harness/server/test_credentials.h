// Tests' own: certificates and keys, in memory and as PEM files.
#ifndef TLSGATE_HARNESS_SERVER_TEST_CREDENTIALS_H
#define TLSGATE_HARNESS_SERVER_TEST_CREDENTIALS_H

#include "harness/server/credentials.h"

struct test_credentials {
  struct tg_credentials made;
  char cert_file[512];
  char key_file[512];
};

// test_credentials_make makes a self-signed pair and writes NAME.crt and NAME.key in the test's temporary folder. Fails
// the test on any error. The caller releases `made`.
void test_credentials_make(struct test_credentials *out, const char *name, enum tg_key_type type);

// test_credentials_make_rsa is the same for an RSA key of any number of bits that the library makes.
void test_credentials_make_rsa(struct test_credentials *out, const char *name, int bits);

#endif

// Keys and certificates for tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/ec_key.h>
#include <openssl/evp.h>
#include <openssl/nid.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "harness/accept/testing_rig.h"

static EVP_PKEY *make_key(void) {
  EC_KEY *ec = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  assert_non_null(ec);
  assert_int_equal(EC_KEY_generate_key(ec), 1);
  EVP_PKEY *key = EVP_PKEY_new();
  assert_non_null(key);
  assert_int_equal(EVP_PKEY_assign_EC_KEY(key, ec), 1);
  return key;
}

struct testing_identity testing_leaf(const char *common_name, const struct testing_identity *issuer, int serial) {
  struct testing_identity identity = {.key = make_key(), .cert = X509_new()};
  X509 *cert = identity.cert;
  assert_non_null(cert);
  assert_int_equal(X509_set_version(cert, 2), 1);
  assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(cert), serial), 1);
  assert_non_null(X509_gmtime_adj(X509_getm_notBefore(cert), -3600));
  assert_non_null(X509_gmtime_adj(X509_getm_notAfter(cert), 86400));
  X509_NAME *name = X509_get_subject_name(cert);
  assert_int_equal(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)common_name, -1, -1, 0),
                   1);
  assert_int_equal(X509_set_issuer_name(cert, issuer == NULL ? name : X509_get_subject_name(issuer->cert)), 1);
  assert_int_equal(X509_set_pubkey(cert, identity.key), 1);
  if (issuer == NULL) {
    X509_EXTENSION *ca = X509V3_EXT_nconf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
    assert_non_null(ca);
    assert_int_equal(X509_add_ext(cert, ca, -1), 1);
    X509_EXTENSION_free(ca);
  }
  assert_int_not_equal(X509_sign(cert, issuer == NULL ? identity.key : issuer->key, EVP_sha256()), 0);
  return identity;
}

struct testing_identity testing_ca(void) {
  return testing_leaf("tlsgate test CA", NULL, 1);
}

void testing_identity_free(struct testing_identity *identity) {
  EVP_PKEY_free(identity->key);
  X509_free(identity->cert);
  *identity = (struct testing_identity){0};
}

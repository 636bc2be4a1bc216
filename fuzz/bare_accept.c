// SSL_accept over memory BIOs: the least that a fuzz target of a TLS server can do.
#include <openssl/bio.h>
#include <openssl/bytestring.h>
#include <openssl/ec.h>
#include <openssl/ec_key.h>
#include <openssl/evp.h>
#include <openssl/nid.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>

#include "fuzz/base/rng.h"
#include "fuzz/base/target.h"

static SSL_CTX *context;

static void must(int condition) {
  if (!condition) {
    abort();
  }
}

static EVP_PKEY *make_key(void) {
  EC_KEY *ec = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  EVP_PKEY *key = EVP_PKEY_new();
  must(ec != NULL && key != NULL && EC_KEY_generate_key(ec) && EVP_PKEY_assign_EC_KEY(key, ec));
  return key;
}

static X509 *make_certificate(EVP_PKEY *key) {
  X509 *certificate = X509_new();
  must(certificate != NULL);
  X509_NAME *name = X509_get_subject_name(certificate);
  must(X509_set_version(certificate, X509_VERSION_3) && ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) &&
       X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"localhost", -1, -1, 0) &&
       X509_set_issuer_name(certificate, name) && ASN1_TIME_set(X509_getm_notBefore(certificate), 0) != NULL &&
       ASN1_TIME_set(X509_getm_notAfter(certificate), 3600) != NULL && X509_set_pubkey(certificate, key) &&
       X509_sign(certificate, key, EVP_sha256()));
  return certificate;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  tg_fuzz_reset_rng();
  EVP_PKEY *key = make_key();
  X509 *certificate = make_certificate(key);
  context = SSL_CTX_new(TLS_method());
  must(context != NULL && SSL_CTX_use_certificate(context, certificate) && SSL_CTX_use_PrivateKey(context, key));
  SSL_CTX_set_early_data_enabled(context, 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tg_fuzz_reset_rng();
  SSL *ssl = SSL_new(context);
  BIO *in = BIO_new_mem_buf(data, (int)size);
  BIO *out = BIO_new(BIO_s_mem());
  must(ssl != NULL && in != NULL && out != NULL);
  SSL_set_bio(ssl, in, out);
  if (SSL_accept(ssl) == 1) {
    uint8_t buffer[4096];
    while (SSL_read(ssl, buffer, sizeof(buffer)) > 0) {
    }
  }
  SSL_free(ssl);
  return 0;
}

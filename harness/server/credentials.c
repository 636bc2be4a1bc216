#include "harness/server/credentials.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/bytestring.h>
#include <openssl/ec_key.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/mem.h>
#include <openssl/nid.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#define X509_VERSION_3_VALUE 2
#define SERIAL_BYTES         16
#define CLOCK_SKEW_S         3600
#define VALIDITY_DAYS        3650
// NIST SP 800-131A, 3: shorter keys are disallowed. Of 1024 bits they also leave no room for the RSA-PSS signature with
// SHA-512 that a TLS 1.3 client may settle on (RFC 8017, 9.1.1: 2 x 64 + 2 bytes).
#define RSA_BITS_MIN 2048

void tg_credentials_free(struct tg_credentials *credentials) {
  EVP_PKEY_free(credentials->key);
  sk_X509_pop_free(credentials->chain, X509_free);
  *credentials = (struct tg_credentials){0};
}

static FILE *open_file(const char *file, const char *what, struct tg_error *err) {
  FILE *in = fopen(file, "re");
  if (in == NULL) {
    tg_error_set(err, "cannot read the %s file '%s': %s", what, file, strerror(errno));
  }
  return in;
}

// At the end of a PEM file the library reports that no further block starts: that is not an error.
static bool at_end_of_pem(void) {
  uint32_t error = ERR_peek_last_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

static bool load_chain(const char *file, struct tg_credentials *out, struct tg_error *err) {
  FILE *in = open_file(file, "certificate", err);
  if (in == NULL) {
    return false;
  }
  out->chain = sk_X509_new_null();
  X509 *x509 = NULL;
  bool pushed = out->chain != NULL;
  while (pushed && (x509 = PEM_read_X509(in, NULL, NULL, NULL)) != NULL) {
    pushed = sk_X509_push(out->chain, x509) != 0;
    if (!pushed) {
      X509_free(x509);
    }
  }
  fclose(in);
  if (!pushed) {
    tg_error_set_tls(err, "cannot keep the certificates of '%s'", file);
    return false;
  }
  bool ended = at_end_of_pem();
  if (ended && sk_X509_num(out->chain) == 0) {
    ERR_clear_error();
    tg_error_set(err, "no PEM certificate in '%s': --cert takes a file with BEGIN CERTIFICATE, leaf first", file);
    return false;
  }
  if (!ended) {
    tg_error_set_tls(err, "certificate %zu of '%s' cannot be read", sk_X509_num(out->chain) + 1, file);
    return false;
  }
  ERR_clear_error();
  return true;
}

static bool load_key(const char *file, struct tg_credentials *out, struct tg_error *err) {
  FILE *in = open_file(file, "key", err);
  if (in == NULL) {
    return false;
  }
  // An empty passphrase rather than a prompt.
  char no_passphrase[] = "";
  out->key = PEM_read_PrivateKey(in, NULL, NULL, no_passphrase);
  fclose(in);
  if (out->key == NULL) {
    tg_error_set_tls(err, "no usable PEM key in '%s': --key takes a private key without a passphrase", file);
    return false;
  }
  ERR_clear_error();
  return true;
}

static bool check_strength(const EVP_PKEY *key, const char *file, struct tg_error *err) {
  if (EVP_PKEY_id(key) == EVP_PKEY_RSA && EVP_PKEY_bits(key) < RSA_BITS_MIN) {
    tg_error_set(err, "the RSA key in '%s' has %d bits, too few for TLS 1.3: make one of %d or more", file,
                 EVP_PKEY_bits(key), RSA_BITS_MIN);
    return false;
  }
  return true;
}

bool tg_credentials_load(const char *cert_file, const char *key_file, struct tg_credentials *out,
                         struct tg_error *err) {
  *out = (struct tg_credentials){0};
  if (!load_chain(cert_file, out, err) || !load_key(key_file, out, err) || !check_strength(out->key, key_file, err)) {
    tg_credentials_free(out);
    return false;
  }
  if (!X509_check_private_key(sk_X509_value(out->chain, 0), out->key)) {
    ERR_clear_error();
    tg_error_set(err, "the key in '%s' does not belong to the first certificate in '%s'", key_file, cert_file);
    tg_credentials_free(out);
    return false;
  }
  return true;
}

static EVP_PKEY *new_ec_key(void) {
  EVP_PKEY *key = EVP_PKEY_new();
  EC_KEY *ec = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  bool ok = key != NULL && ec != NULL && EC_KEY_generate_key(ec) && EVP_PKEY_set1_EC_KEY(key, ec);
  EC_KEY_free(ec);
  if (!ok) {
    EVP_PKEY_free(key);
    return NULL;
  }
  return key;
}

static EVP_PKEY *new_rsa_key(int bits) {
  EVP_PKEY *key = EVP_PKEY_new();
  RSA *rsa = RSA_new();
  BIGNUM *exponent = BN_new();
  bool ok = key != NULL && rsa != NULL && exponent != NULL && BN_set_word(exponent, RSA_F4) &&
            RSA_generate_key_ex(rsa, bits, exponent, NULL) && EVP_PKEY_set1_RSA(key, rsa);
  BN_free(exponent);
  RSA_free(rsa);
  if (!ok) {
    EVP_PKEY_free(key);
    return NULL;
  }
  return key;
}

static EVP_PKEY *new_key(enum tg_key_type type) {
  switch (type) {
    case TG_KEY_P256:
      return new_ec_key();
    case TG_KEY_RSA2048:
      return new_rsa_key(2048);
    case TG_KEY_RSA4096:
      return new_rsa_key(4096);
  }
  return NULL;
}

static bool add_name(GENERAL_NAMES *names, int kind, ASN1_STRING *text, const void *value, int len) {
  GENERAL_NAME *name = GENERAL_NAME_new();
  if (name == NULL || text == NULL || !ASN1_STRING_set(text, value, len)) {
    GENERAL_NAME_free(name);
    ASN1_STRING_free(text);
    return false;
  }
  GENERAL_NAME_set0_value(name, kind, text);
  if (!sk_GENERAL_NAME_push(names, name)) {
    GENERAL_NAME_free(name);
    return false;
  }
  return true;
}

static bool add_subject_names(X509 *x509) {
  static const char host[] = "localhost";
  const struct in_addr ipv4 = {.s_addr = htonl(INADDR_LOOPBACK)};
  GENERAL_NAMES *names = GENERAL_NAMES_new();
  bool ok = names != NULL && add_name(names, GEN_DNS, ASN1_IA5STRING_new(), host, sizeof(host) - 1) &&
            add_name(names, GEN_IPADD, ASN1_OCTET_STRING_new(), &ipv4, sizeof(ipv4)) &&
            add_name(names, GEN_IPADD, ASN1_OCTET_STRING_new(), &in6addr_loopback, sizeof(in6addr_loopback)) &&
            X509_add1_ext_i2d(x509, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT);
  GENERAL_NAMES_free(names);
  return ok;
}

static bool set_serial(X509 *x509) {
  uint8_t bytes[SERIAL_BYTES];
  RAND_bytes(bytes, sizeof(bytes));
  // RFC 5280, 4.1.2.2: positive.
  bytes[0] = (uint8_t)((bytes[0] & 0x7f) | 0x40);
  BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
  bool ok = number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509)) != NULL;
  BN_free(number);
  return ok;
}

static bool fill_in(X509 *x509, EVP_PKEY *key) {
  X509_NAME *name = X509_get_subject_name(x509);
  return X509_set_version(x509, X509_VERSION_3_VALUE) && set_serial(x509) &&
         X509_gmtime_adj(X509_getm_notBefore(x509), -CLOCK_SKEW_S) != NULL &&
         X509_gmtime_adj(X509_getm_notAfter(x509), 86400L * VALIDITY_DAYS) != NULL &&
         X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"localhost", -1, -1, 0) &&
         X509_set_issuer_name(x509, name) && X509_set_pubkey(x509, key) && add_subject_names(x509) &&
         X509_sign(x509, key, EVP_sha256()) > 0;
}

bool tg_credentials_self_signed(enum tg_key_type type, struct tg_credentials *out, struct tg_error *err) {
  *out = (struct tg_credentials){.key = new_key(type), .chain = sk_X509_new_null()};
  X509 *x509 = X509_new();
  if (out->key == NULL || out->chain == NULL || x509 == NULL || !fill_in(x509, out->key) ||
      !sk_X509_push(out->chain, x509)) {
    tg_error_set_tls(err, "cannot make a self-signed certificate");
    X509_free(x509);
    tg_credentials_free(out);
    return false;
  }
  return true;
}

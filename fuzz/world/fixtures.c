#include "fuzz/world/fixtures.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/world/fixture_texts.h"

static struct tg_identity servers[TG_SCHEDULE_KEYS];
static struct tg_identity client;
static char ca_path[32];
static char long_chain[sizeof(tg_fixture_text_long) + sizeof(tg_fixture_text_ca)];

static void require(bool ok, const char *what) {
  if (!ok) {
    fprintf(stderr, "fuzz/world/fixtures: cannot read %s\n", what);
    abort();
  }
}

static EVP_PKEY *parse_key(const char *name, const char *pem) {
  BIO *bio = BIO_new_mem_buf(pem, (int)strlen(pem));
  require(bio != NULL, name);
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
  BIO_free(bio);
  require(key != NULL, name);
  return key;
}

static void add_certificate(const char *name, const char *pem, STACK_OF(X509) * chain) {
  BIO *bio = BIO_new_mem_buf(pem, (int)strlen(pem));
  require(chain != NULL && bio != NULL, name);
  X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
  BIO_free(bio);
  require(cert != NULL && sk_X509_push(chain, cert) != 0, name);
}

static struct tg_identity parse(const char *name, const char *pem, const char *key_pem) {
  struct tg_identity identity = {.chain = sk_X509_new_null(), .key = parse_key(name, key_pem)};
  add_certificate(name, pem, identity.chain);
  return identity;
}

static void make_ca_file(void) {
  // Never closed: the path names it as long as the program runs.
  int fd = memfd_create("tlsgate-fixture-ca", MFD_CLOEXEC);
  size_t len = strlen(tg_fixture_text_ca);
  require(fd >= 0 && write(fd, tg_fixture_text_ca, len) == (ssize_t)len, "the CA's file");
  snprintf(ca_path, sizeof(ca_path), "/proc/self/fd/%d", fd);
}

void tg_fixtures_init(void) {
  if (client.key != NULL) {
    return;
  }
  servers[TG_SCHEDULE_KEY_P256] = parse("leaf", tg_fixture_text_leaf, tg_fixture_text_leaf_key);
  servers[TG_SCHEDULE_KEY_RSA2048] = parse("rsa", tg_fixture_text_rsa, tg_fixture_text_rsa_key);
  servers[TG_SCHEDULE_KEY_LONG_CHAIN] = parse("long", tg_fixture_text_long, tg_fixture_text_long_key);
  add_certificate("ca", tg_fixture_text_ca, servers[TG_SCHEDULE_KEY_LONG_CHAIN].chain);
  (void)snprintf(long_chain, sizeof(long_chain), "%s%s", tg_fixture_text_long, tg_fixture_text_ca);
  client = parse("client", tg_fixture_text_client, tg_fixture_text_client_key);
  make_ca_file();
}

void tg_fixtures_renew(void) {
  struct tg_identity *rsa = &servers[TG_SCHEDULE_KEY_RSA2048];
  EVP_PKEY *used = rsa->key;
  rsa->key = tg_fixture_rsa_key_new();
  EVP_PKEY_free(used);
}

// A copy of the numbers, and of nothing that was computed from them: parsing and checking them again takes ten times as
// long.
EVP_PKEY *tg_fixture_rsa_key_new(void) {
  const RSA *from = EVP_PKEY_get0_RSA(servers[TG_SCHEDULE_KEY_RSA2048].key);
  RSA *rsa = RSA_new();
  EVP_PKEY *key = EVP_PKEY_new();
  require(rsa != NULL && key != NULL &&
              RSA_set0_key(rsa, BN_dup(RSA_get0_n(from)), BN_dup(RSA_get0_e(from)), BN_dup(RSA_get0_d(from))) == 1 &&
              RSA_set0_factors(rsa, BN_dup(RSA_get0_p(from)), BN_dup(RSA_get0_q(from))) == 1 &&
              RSA_set0_crt_params(rsa, BN_dup(RSA_get0_dmp1(from)), BN_dup(RSA_get0_dmq1(from)),
                                  BN_dup(RSA_get0_iqmp(from))) == 1 &&
              EVP_PKEY_assign_RSA(key, rsa) == 1,
          "the numbers of the RSA key");
  return key;
}

const struct tg_identity *tg_fixture_server(enum tg_schedule_key key) {
  return &servers[key];
}

const char *tg_fixture_server_key_pem(enum tg_schedule_key key) {
  static const char *const kTexts[TG_SCHEDULE_KEYS] = {[TG_SCHEDULE_KEY_P256] = tg_fixture_text_leaf_key,
                                                       [TG_SCHEDULE_KEY_RSA2048] = tg_fixture_text_rsa_key,
                                                       [TG_SCHEDULE_KEY_LONG_CHAIN] = tg_fixture_text_long_key};
  return kTexts[key];
}

const char *tg_fixture_server_chain_pem(enum tg_schedule_key key) {
  static const char *const kTexts[TG_SCHEDULE_KEYS] = {[TG_SCHEDULE_KEY_P256] = tg_fixture_text_leaf,
                                                       [TG_SCHEDULE_KEY_RSA2048] = tg_fixture_text_rsa,
                                                       [TG_SCHEDULE_KEY_LONG_CHAIN] = long_chain};
  return kTexts[key];
}

const struct tg_identity *tg_fixture_client(void) {
  return &client;
}

const char *tg_fixture_ca_file(void) {
  return ca_path;
}

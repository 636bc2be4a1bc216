// Keys and certificates of the simulated world: fixed, so that two runs of one input are the same run. Not secrets.
#ifndef TLSGATE_FUZZ_WORLD_FIXTURES_H
#define TLSGATE_FUZZ_WORLD_FIXTURES_H

#include <openssl/ssl.h>

#include "fuzz/schedule/schedule.h"

// What a certificate is checked against: 2027-01-01T00:00:00Z, inside the validity of all of them (2026 to 2126).
#define TG_FIXTURE_WALL_S INT64_C(1798761600)

struct tg_identity {
  EVP_PKEY *key;
  STACK_OF(X509) * chain;  // leaf first
};

// tg_fixtures_init parses everything, once. Aborts if it cannot: the fixtures are part of the program.
void tg_fixtures_init(void);

// tg_fixtures_renew makes the RSA key anew: it carries blinding factors that one run would leave to the next.
void tg_fixtures_renew(void);

// tg_fixture_rsa_key_new returns another RSA key of the same numbers, for one who does not share it; the caller's,
// EVP_PKEY_free.
EVP_PKEY *tg_fixture_rsa_key_new(void);

// tg_fixture_server returns the server's identity for a kind of key; borrowed, until
// tg_fixtures_renew.
const struct tg_identity *tg_fixture_server(enum tg_schedule_key key);

// The same as PEM texts: the key, and the certificates, leaf first.
const char *tg_fixture_server_key_pem(enum tg_schedule_key key);
const char *tg_fixture_server_chain_pem(enum tg_schedule_key key);

// tg_fixture_client returns the client's, signed by the CA; borrowed.
const struct tg_identity *tg_fixture_client(void);

// tg_fixture_ca_file returns the path of a file (in memory) with the CA's certificate in PEM.
const char *tg_fixture_ca_file(void);

#endif

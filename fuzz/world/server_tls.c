#include "fuzz/world/server_tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/world/fixtures.h"
#include "harness/accept/clock.h"
#include "harness/accept/ticket_keys.h"
#include "harness/accept/tls_session.h"

#define LIFETIMES 3u

struct tg_kept_tls {
  struct tg_tls_context *context;
  SSL_CTX *ctx;                 // the context's own
  struct tg_ticket_keys *keys;  // likewise
  uint32_t lifetime_s;
  bool rsa;
};

static struct tg_kept_tls all[TG_SCHEDULE_KEYS][LIFETIMES][2][2];

static uint32_t lifetime_s(const struct tg_schedule_settings *settings) {
  static const uint32_t kLifetimes[LIFETIMES] = {86400, 60, 1};
  return kLifetimes[settings->ticket_lifetime % LIFETIMES];
}

static struct tg_tls_context *create(const struct tg_schedule_settings *settings, EVP_PKEY *key) {
  struct tg_tls_config config = {
      .key = key,
      .chain = tg_fixture_server(settings->key)->chain,
      .client_ca_file = settings->client_ca ? tg_fixture_ca_file() : NULL,
      .early_data = settings->early_data,
      .ticket_key_lifetime_s = lifetime_s(settings),
  };
  struct tg_error err;
  return tg_tls_context_create(&config, &err);
}

struct tg_tls_context *tg_server_tls_create(const struct tg_schedule_settings *settings) {
  return create(settings, tg_fixture_server(settings->key)->key);
}

static void require(bool ok, const char *what) {
  if (!ok) {
    fprintf(stderr, "fuzz/world/server_tls: %s\n", what);
    abort();
  }
}

// What is inside a context, seen from a session of it.
static void look_inside(struct tg_kept_tls *kept) {
  struct tg_stream unused = {.fd = -1};
  SSL *ssl = tg_tls_session_new(kept->context, &unused);
  require(ssl != NULL, "no session of a context that is to be kept");
  kept->ctx = SSL_get_SSL_CTX(ssl);
  kept->keys = SSL_CTX_get_app_data(kept->ctx);
  require(kept->keys != NULL, "no ticket keys in a context that is to be kept");
  SSL_free(ssl);
}

// An RSA key carries blinding factors: no two contexts share one.
static EVP_PKEY *key_of_its_own(const struct tg_schedule_settings *settings) {
  EVP_PKEY *key = tg_fixture_server(settings->key)->key;
  if (settings->key == TG_SCHEDULE_KEY_RSA2048) {
    return tg_fixture_rsa_key_new();
  }
  EVP_PKEY_up_ref(key);
  return key;
}

struct tg_kept_tls *tg_kept_tls_get(const struct tg_schedule_settings *settings, bool *made) {
  struct tg_kept_tls *kept =
      &all[settings->key][settings->ticket_lifetime % LIFETIMES][settings->client_ca][settings->early_data];
  *made = kept->context == NULL;
  if (*made) {
    EVP_PKEY *key = key_of_its_own(settings);
    kept->context = create(settings, key);
    EVP_PKEY_free(key);
    require(kept->context != NULL, "cannot make a context that is to be kept");
    kept->lifetime_s = lifetime_s(settings);
    kept->rsa = settings->key == TG_SCHEDULE_KEY_RSA2048;
    look_inside(kept);
    ERR_clear_error();
  }
  return kept;
}

struct tg_tls_context *tg_kept_tls_begin(struct tg_kept_tls *kept) {
  bool ok = tg_ticket_keys_init(kept->keys, kept->lifetime_s, tg_clock_now_ns() / TG_NS_PER_S);
  require(ok, "no new ticket keys");
  return kept->context;
}

void tg_kept_tls_end(struct tg_kept_tls *kept) {
  if (kept->rsa) {
    EVP_PKEY *key = tg_fixture_rsa_key_new();
    require(SSL_CTX_use_PrivateKey(kept->ctx, key) == 1, "a context that is kept does not take a new key");
    EVP_PKEY_free(key);
  }
}

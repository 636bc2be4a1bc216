#include "fuzz/bare/bare_tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdlib.h>

#include "fuzz/world/fixtures.h"

// Flights of a handshake, HelloRetryRequest included, and one for the tickets.
#define TURNS_MAX 8

static SSL_CTX *servers[TG_SCHEDULE_KEYS];
static SSL_CTX *clients;
static STACK_OF(X509_NAME) * ca_names;
static SSL_SESSION *newest;

static int keep_session(SSL *ssl, SSL_SESSION *session) {
  (void)ssl;
  SSL_SESSION_free(newest);
  newest = session;
  return 1;
}

static void require(int ok) {
  if (!ok) {
    abort();
  }
}

void tg_bare_init(void) {
  tg_fixtures_init();
  ca_names = SSL_load_client_CA_file(tg_fixture_ca_file());
  require(ca_names != NULL);
  for (int key = 0; key < TG_SCHEDULE_KEYS; key++) {
    const struct tg_identity *identity = tg_fixture_server((enum tg_schedule_key)key);
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    require(ctx != NULL && SSL_CTX_use_certificate(ctx, sk_X509_value(identity->chain, 0)) &&
            SSL_CTX_use_PrivateKey(ctx, identity->key) && SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) &&
            SSL_CTX_load_verify_locations(ctx, tg_fixture_ca_file(), NULL) &&
            SSL_CTX_set_session_id_context(ctx, (const uint8_t *)"bare", 4));
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    servers[key] = ctx;
  }
  clients = SSL_CTX_new(TLS_method());
  require(clients != NULL);
  SSL_CTX_set_session_cache_mode(clients, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(clients, keep_session);
  ERR_clear_error();
}

static SSL *with_memory(SSL *ssl) {
  BIO *in = BIO_new(BIO_s_mem());
  BIO *out = BIO_new(BIO_s_mem());
  require(ssl != NULL && in != NULL && out != NULL);
  SSL_set_bio(ssl, in, out);
  return ssl;
}

SSL *tg_bare_server(const struct tg_schedule_settings *settings) {
  SSL *ssl = with_memory(SSL_new(servers[settings->key]));
  SSL_set_accept_state(ssl);
  SSL_set_early_data_enabled(ssl, settings->early_data);
  if (settings->client_ca) {
    SSL_set_client_CA_list(ssl, SSL_dup_CA_list(ca_names));
    SSL_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
  }
  return ssl;
}

SSL *tg_bare_client(uint16_t bits) {
  SSL *ssl = with_memory(SSL_new(clients));
  SSL_set_connect_state(ssl);
  SSL_set_max_proto_version(ssl, (bits & TG_CONNECT_TLS12) != 0 ? TLS1_2_VERSION : TLS1_3_VERSION);
  if ((bits & TG_CONNECT_HELLO_RETRY) != 0) {
    SSL_set1_curves_list(ssl, "P-521:P-256");
  }
  if ((bits & TG_CONNECT_CERTIFICATE) != 0) {
    const struct tg_identity *identity = tg_fixture_client();
    SSL_use_certificate(ssl, sk_X509_value(identity->chain, 0));
    SSL_use_PrivateKey(ssl, identity->key);
  }
  if ((bits & TG_CONNECT_RESUME) != 0 && newest != NULL) {
    SSL_set_session(ssl, newest);
  }
  return ssl;
}

// What one end has written becomes what the other can read. Returns whether there was anything.
static bool carry(SSL *from, SSL *to) {
  const uint8_t *data = NULL;
  size_t len = 0;
  BIO *out = SSL_get_wbio(from);
  if (!BIO_mem_contents(out, &data, &len) || len == 0) {
    return false;
  }
  require(BIO_write(SSL_get_rbio(to), data, (int)len) == (int)len);
  BIO_reset(out);
  return true;
}

// Returns false when the end has failed.
static bool advance(SSL *ssl) {
  if (!SSL_in_init(ssl)) {
    // Tickets are read with the first bytes that the application asks for.
    uint8_t byte;
    int got = SSL_read(ssl, &byte, 1);
    return got > 0 || SSL_get_error(ssl, got) == SSL_ERROR_WANT_READ;
  }
  int ret = SSL_do_handshake(ssl);
  return ret == 1 || SSL_get_error(ssl, ret) == SSL_ERROR_WANT_READ;
}

bool tg_bare_handshake(SSL *client, SSL *server) {
  bool well = true;
  bool moved = true;
  for (int turn = 0; turn < TURNS_MAX && well && moved; turn++) {
    well = advance(client);
    moved = carry(client, server);
    well = well && advance(server);
    moved = carry(server, client) || moved;
  }
  ERR_clear_error();
  return well && !SSL_in_init(client) && !SSL_in_init(server);
}

#include "harness/client/handshake_pair.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <time.h>

// More than any flight of either side, RSA-4096 certificates included.
enum { TG_PIPE_BYTES = 65536 };

// One end of the connection, and the CPU time that went into it.
struct tg_side {
  SSL_CTX *ctx;
  SSL *ssl;
  bool done;
  double us;
  unsigned readings;  // pairs of clock readings in `us`
};

struct tg_pair {
  struct tg_side server;
  struct tg_side client;
  SSL_SESSION *session;  // the newest that the client was given
};

static double thread_cpu_us(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

// The mean of many empty measurements.
static double clock_cost_us(void) {
  enum { READINGS = 20000 };
  double sum = 0;
  for (int i = 0; i < READINGS; i++) {
    const double start = thread_cpu_us();
    sum += thread_cpu_us() - start;
  }
  return sum / READINGS;
}

static void charge(struct tg_side *side, double start_us) {
  side->us += thread_cpu_us() - start_us;
  side->readings++;
}

static int keep_session(SSL *ssl, SSL_SESSION *session) {
  struct tg_pair *pair = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  SSL_SESSION_free(pair->session);
  pair->session = session;
  return 1;  // the reference is ours now
}

static bool use_credentials(SSL_CTX *ctx, const struct tg_credentials *credentials) {
  bool ok = SSL_CTX_use_certificate(ctx, sk_X509_value(credentials->chain, 0)) &&
            SSL_CTX_use_PrivateKey(ctx, credentials->key);
  for (size_t i = 1; ok && i < sk_X509_num(credentials->chain); i++) {
    ok = SSL_CTX_add1_chain_cert(ctx, sk_X509_value(credentials->chain, i));
  }
  return ok;
}

static bool make_contexts(struct tg_pair *pair, const struct tg_handshake_plan *plan, struct tg_error *err) {
  pair->server.ctx = SSL_CTX_new(TLS_method());
  pair->client.ctx = SSL_CTX_new(TLS_method());
  const uint16_t version = plan->tls_version;
  if (pair->server.ctx == NULL || pair->client.ctx == NULL ||
      !SSL_CTX_set_min_proto_version(pair->server.ctx, version) ||
      !SSL_CTX_set_max_proto_version(pair->server.ctx, version) ||
      !SSL_CTX_set_min_proto_version(pair->client.ctx, version) ||
      !SSL_CTX_set_max_proto_version(pair->client.ctx, version) ||
      !use_credentials(pair->server.ctx, plan->credentials)) {
    tg_error_set_tls(err, "TLS set-up");
    return false;
  }
  SSL_CTX_set_app_data(pair->client.ctx, pair);
  SSL_CTX_set_session_cache_mode(pair->client.ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(pair->client.ctx, keep_session);
  return true;
}

static bool open_side(struct tg_side *side, BIO *bio, bool server) {
  const double start = thread_cpu_us();
  side->ssl = SSL_new(side->ctx);
  charge(side, start);
  if (side->ssl == NULL) {
    BIO_free(bio);
    return false;
  }
  SSL_set_bio(side->ssl, bio, bio);
  if (server) {
    SSL_set_accept_state(side->ssl);
  } else {
    SSL_set_connect_state(side->ssl);
  }
  side->done = false;
  return true;
}

static void close_side(struct tg_side *side) {
  const double start = thread_cpu_us();
  SSL_free(side->ssl);
  charge(side, start);
  side->ssl = NULL;
}

static bool open_pair(struct tg_pair *pair, bool resume, struct tg_error *err) {
  BIO *client = NULL;
  BIO *server = NULL;
  pair->client = (struct tg_side){.ctx = pair->client.ctx};
  pair->server = (struct tg_side){.ctx = pair->server.ctx};
  bool ok = BIO_new_bio_pair(&client, TG_PIPE_BYTES, &server, TG_PIPE_BYTES) == 1;
  if (ok) {
    const bool client_open = open_side(&pair->client, client, false);
    const bool server_open = open_side(&pair->server, server, true);
    ok = client_open && server_open && (!resume || SSL_set_session(pair->client.ssl, pair->session));
  }
  if (!ok) {
    tg_error_set_tls(err, "TLS set-up");
  }
  return ok;
}

// One step of one side. Returns false if the handshake failed.
static bool step(struct tg_side *side) {
  if (side->done) {
    return true;
  }
  const double start = thread_cpu_us();
  const int ret = SSL_do_handshake(side->ssl);
  charge(side, start);
  side->done = ret == 1;
  return side->done || SSL_get_error(side->ssl, ret) == SSL_ERROR_WANT_READ;
}

static bool shake_hands(struct tg_pair *pair, bool resume, struct tg_error *err) {
  // A handshake takes at most three steps of a side; the limit only ends one that does not move.
  for (int i = 0; i < 8 && !(pair->client.done && pair->server.done); i++) {
    if (!step(&pair->client) || !step(&pair->server)) {
      tg_error_set_tls(err, "the handshake failed");
      return false;
    }
  }
  if (!pair->client.done || !pair->server.done) {
    tg_error_set(err, "the handshake does not end");
    return false;
  }
  if (resume != (SSL_session_reused(pair->server.ssl) == 1)) {
    tg_error_set(err, "the session was %sresumed", resume ? "not " : "");
    return false;
  }
  return true;
}

// The client learns of a TLS 1.3 session when it reads what follows the handshake.
static bool fetch_session(struct tg_pair *pair, struct tg_error *err) {
  char byte = 0;
  if (SSL_write(pair->server.ssl, &byte, 1) != 1 || SSL_read(pair->client.ssl, &byte, 1) != 1 ||
      pair->session == NULL) {
    tg_error_set_tls(err, "no session to resume");
    return false;
  }
  return true;
}

static bool one_handshake(struct tg_pair *pair, bool resume, bool fetch, struct tg_error *err) {
  const bool ok =
      open_pair(pair, resume, err) && shake_hands(pair, resume, err) && (!fetch || fetch_session(pair, err));
  close_side(&pair->client);
  close_side(&pair->server);
  ERR_clear_error();
  return ok;
}

static bool measure(struct tg_pair *pair, const struct tg_handshake_plan *plan, struct tg_handshake_cost *out,
                    struct tg_error *err) {
  bool ok = make_contexts(pair, plan, err) && (!plan->resume || one_handshake(pair, false, true, err));
  for (size_t i = 0; ok && i < plan->warmup; i++) {
    ok = one_handshake(pair, plan->resume, false, err);
  }
  out->clock_us = clock_cost_us();
  for (size_t i = 0; ok && i < plan->count; i++) {
    ok = one_handshake(pair, plan->resume, false, err);
    out->server_us[i] = pair->server.us - pair->server.readings * out->clock_us;
    out->client_us[i] = pair->client.us - pair->client.readings * out->clock_us;
  }
  return ok;
}

bool tg_handshakes_measure(const struct tg_handshake_plan *plan, struct tg_handshake_cost *out, struct tg_error *err) {
  struct tg_pair pair = {.session = NULL};
  out->server_us = calloc(plan->count, sizeof(*out->server_us));
  out->client_us = calloc(plan->count, sizeof(*out->client_us));
  bool ok = out->server_us != NULL && out->client_us != NULL;
  if (!ok) {
    tg_error_set(err, "out of memory");
  }
  ok = ok && measure(&pair, plan, out, err);
  SSL_SESSION_free(pair.session);
  SSL_CTX_free(pair.client.ctx);
  SSL_CTX_free(pair.server.ctx);
  if (!ok) {
    tg_handshake_cost_free(out);
  }
  return ok;
}

void tg_handshake_cost_free(struct tg_handshake_cost *cost) {
  free(cost->server_us);
  free(cost->client_us);
  *cost = (struct tg_handshake_cost){0};
}

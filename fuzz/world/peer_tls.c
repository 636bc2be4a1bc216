#include "fuzz/world/peer_tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/world/fixtures.h"
#include "fuzz/world/oracle.h"
#include "fuzz/world/world_state.h"

// RFC 8446, 5.1: the plaintext of a record.
#define RECORD_LEN 16384
// Less than the 14,336 bytes of early data that BoringSSL accepts.
#define EARLY_MAX 8192u

static int keep_session(SSL *ssl, SSL_SESSION *session) {
  struct tg_peer *peer = SSL_get_app_data(ssl);
  SSL_SESSION_free(peer->world->session);
  peer->world->session = session;
  return 1;
}

SSL_CTX *tg_peer_tls_context(void) {
  SSL_CTX *ctx = SSL_CTX_new(TLS_method());
  if (ctx == NULL) {
    abort();
  }
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(ctx, keep_session);
  return ctx;
}

// Protocol names so many that the ClientHello needs several segments; the one that both know comes last.
static void offer_many_protocols(SSL *ssl) {
  enum { NAMES = 54, NAME_LEN = 250 };
  static uint8_t list[NAMES * (NAME_LEN + 1) + 9];
  uint8_t *at = list;
  for (int i = 0; i < NAMES; i++) {
    *at++ = NAME_LEN;
    memset(at, 'a' + i % 26, NAME_LEN);
    at += NAME_LEN;
  }
  memcpy(at, "\x08http/1.1", 9);
  SSL_set_alpn_protos(ssl, list, sizeof(list));
}

void tg_peer_tls_start(struct tg_peer *peer, uint16_t bits) {
  SSL *ssl = SSL_new(peer->world->client_ctx);
  peer->in = BIO_new(BIO_s_mem());
  peer->out = BIO_new(BIO_s_mem());
  if (ssl == NULL || peer->in == NULL || peer->out == NULL) {
    abort();
  }
  SSL_set_bio(ssl, peer->in, peer->out);
  SSL_set_app_data(ssl, peer);
  SSL_set_connect_state(ssl);
  SSL_set_max_proto_version(ssl, (bits & TG_CONNECT_TLS12) != 0 ? TLS1_2_VERSION : TLS1_3_VERSION);
  if ((bits & TG_CONNECT_HELLO_RETRY) != 0) {
    // A key share of the first, which the server does not take; it asks for the second.
    SSL_set1_curves_list(ssl, "P-521:P-256");
  }
  if ((bits & TG_CONNECT_LARGE_HELLO) != 0) {
    offer_many_protocols(ssl);
  } else if ((bits & TG_CONNECT_ALPN_H2) != 0) {
    SSL_set_alpn_protos(ssl, (const uint8_t *)"\x02h2", 3);
  }
  if ((bits & TG_CONNECT_CERTIFICATE) != 0) {
    const struct tg_identity *identity = tg_fixture_client();
    SSL_use_certificate(ssl, sk_X509_value(identity->chain, 0));
    SSL_use_PrivateKey(ssl, identity->key);
  }
  if ((bits & TG_CONNECT_RESUME) != 0 && peer->world->session != NULL) {
    SSL_set_session(ssl, peer->world->session);
  }
  SSL_set_early_data_enabled(ssl, (bits & TG_CONNECT_EARLY_DATA) != 0);
  ERR_clear_error();
  peer->ssl = ssl;
}

void tg_peer_tls_take(struct tg_peer *peer, const uint8_t *data, size_t len) {
  if (BIO_write(peer->in, data, (int)len) != (int)len) {
    abort();
  }
}

static void collect(struct tg_peer *peer) {
  size_t len = BIO_pending(peer->out);
  if (len > 0) {
    uint8_t *room = tg_bytes_reserve(&peer->outbox, len);
    BIO_read(peer->out, room, (int)len);
    if (!peer->flight_over) {
      size_t keep = TG_PEER_FLIGHT_MAX - peer->flight_len;
      keep = keep < len ? keep : len;
      memcpy(peer->flight + peer->flight_len, room, keep);
      peer->flight_len += keep;
    }
    peer->outbox.end += len;
  }
}

// Says what waits, in records. Early data stays where it is until the server has accepted it.
static void say(struct tg_peer *peer) {
  bool early = SSL_in_early_data(peer->ssl) != 0;
  size_t from = early ? peer->early_said : 0;
  size_t most = early ? EARLY_MAX : SIZE_MAX;
  while (tg_bytes_left(&peer->plain) > from && from < most) {
    size_t len = tg_bytes_left(&peer->plain) - from;
    len = len < RECORD_LEN ? len : RECORD_LEN;
    len = len < most - from ? len : most - from;
    int said = SSL_write(peer->ssl, peer->plain.data + peer->plain.at + from, (int)len);
    if (said <= 0) {
      return;
    }
    if (early) {
      from += (size_t)said;
      peer->early_said = from;
    } else {
      tg_bytes_take(&peer->plain, (size_t)said);
    }
  }
}

static void establish(struct tg_peer *peer) {
  if (!peer->established && !SSL_in_init(peer->ssl)) {
    peer->established = true;
    peer->established_total++;
    peer->world->handshakes++;
    // Accepted: said. Rejected: tg_peer_tls_progress has set it to nothing.
    tg_bytes_take(&peer->plain, peer->early_said);
    peer->early_said = 0;
    peer->whole_ns = tg_world_now_ns(peer->world);
    peer->establishing = true;
    peer->finish_at = peer->written + tg_bytes_left(&peer->outbox) + BIO_pending(peer->out);
  }
}

static void give_up(struct tg_peer *peer) {
  peer->failed = true;
  peer->failure = ERR_peek_error();
}

// Returns whether there may be more.
static bool read_some(struct tg_peer *peer) {
  static uint8_t buffer[RECORD_LEN];
  int got = SSL_read(peer->ssl, buffer, sizeof(buffer));
  establish(peer);
  if (got > 0) {
    tg_oracle_response(peer, buffer, (size_t)got);
    return true;
  }
  switch (SSL_get_error(peer->ssl, got)) {
    case SSL_ERROR_WANT_READ:
      return false;
    case SSL_ERROR_ZERO_RETURN:
      peer->notified = true;
      return false;
    case SSL_ERROR_EARLY_DATA_REJECTED:
      SSL_reset_early_data_reject(peer->ssl);
      peer->early_said = 0;
      return true;
    default:
      give_up(peer);
      return false;
  }
}

void tg_peer_tls_progress(struct tg_peer *peer) {
  if (peer->failed) {
    return;
  }
  if (SSL_in_init(peer->ssl) && !SSL_in_early_data(peer->ssl)) {
    int ret = SSL_do_handshake(peer->ssl);
    if (ret != 1) {
      int error = SSL_get_error(peer->ssl, ret);
      if (error == SSL_ERROR_EARLY_DATA_REJECTED) {
        SSL_reset_early_data_reject(peer->ssl);
        peer->early_said = 0;
      } else if (error != SSL_ERROR_WANT_READ) {
        give_up(peer);
      }
    }
    establish(peer);
    // As a client that writes to a socket does: the last flight goes by itself, before what it has to say.
    collect(peer);
    tg_peer_flush(peer);
  }
  if (!peer->failed && (!SSL_in_init(peer->ssl) || SSL_in_early_data(peer->ssl))) {
    say(peer);
    while (!peer->notified && !peer->failed && read_some(peer)) {
    }
    if (!peer->failed && !SSL_in_init(peer->ssl)) {
      say(peer);
    }
  }
  collect(peer);
  peer->establishing = false;
  ERR_clear_error();
}

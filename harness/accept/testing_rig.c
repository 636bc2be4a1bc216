#include "harness/accept/testing_rig.h"

// cmocka.h needs these four first.
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ec_key.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/nid.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "harness/accept/listener.h"

uint64_t testing_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// The application.

struct app_state {
  struct testing_app_stats *stats;
  char in[4096];
  size_t in_len;
  char echo[4096];
  size_t owed;  // bytes of the answer that are not queued yet
  size_t echo_at;
  bool is_echo;
  bool finish;
  bool winding_down;
};

static void *app_opened(void *data, struct tg_conn *conn) {
  struct testing_app_stats *stats = data;
  (void)conn;
  if (stats->refuse_to_open) {
    return NULL;
  }
  struct app_state *state = calloc(1, sizeof(*state));
  if (state == NULL) {
    return NULL;
  }
  state->stats = stats;
  stats->opened++;
  return state;
}

static void app_closed(void *opaque) {
  struct app_state *state = opaque;
  state->stats->closed++;
  free(state);
}

static bool send_owed(struct app_state *state, struct tg_conn *conn) {
  static char bulk[65536];
  while (state->owed > 0) {
    size_t part = state->owed;
    const char *from = bulk;
    if (state->is_echo) {
      from = state->echo + state->echo_at;
    } else {
      if (part > sizeof(bulk)) {
        part = sizeof(bulk);
      }
      memset(bulk, 'x', part);
    }
    size_t taken = tg_conn_write(conn, from, part);
    state->echo_at += taken;
    state->owed -= taken;
    if (taken < part) {
      return false;
    }
  }
  return true;
}

// Answers the lines that are there.
static enum tg_app_next answer(struct app_state *state, struct tg_conn *conn) {
  for (;;) {
    if (!send_owed(state, conn)) {
      return TG_APP_WRITE;
    }
    if (state->finish) {
      return TG_APP_FINISH;
    }
    char *end = memchr(state->in, '\n', state->in_len);
    if (end == NULL) {
      if (state->in_len > 0) {
        return TG_APP_PARTIAL;
      }
      return state->winding_down ? TG_APP_FINISH : TG_APP_IDLE;
    }
    size_t len = (size_t)(end + 1 - state->in);
    memcpy(state->echo, state->in, len);
    state->echo[len] = '\0';
    memmove(state->in, end + 1, state->in_len - len);
    state->in_len -= len;
    state->stats->requests++;
    state->is_echo = strncmp(state->echo, "big ", 4) != 0;
    state->owed = state->is_echo ? len : strtoul(state->echo + 4, NULL, 10);
    state->echo_at = 0;
    if (strcmp(state->echo, "abort\n") == 0) {
      return TG_APP_ABORT;
    }
    state->finish = state->winding_down || strcmp(state->echo, "bye\n") == 0;
  }
}

static enum tg_app_next app_readable(void *opaque, struct tg_conn *conn) {
  struct app_state *state = opaque;
  for (;;) {
    enum tg_app_next next = answer(state, conn);
    if (next == TG_APP_WRITE || next == TG_APP_FINISH || next == TG_APP_ABORT) {
      return next;
    }
    assert_true(state->in_len < sizeof(state->in));
    ssize_t got = tg_conn_read(conn, state->in + state->in_len, sizeof(state->in) - state->in_len);
    if (got == TG_READ_AGAIN || got == TG_READ_EOF || got == TG_READ_ERROR) {
      return next;
    }
    state->in_len += (size_t)got;
  }
}

static enum tg_app_next app_writable(void *opaque, struct tg_conn *conn) {
  return answer(opaque, conn);
}

static enum tg_app_next app_finish_requested(void *opaque, struct tg_conn *conn) {
  struct app_state *state = opaque;
  state->winding_down = true;
  state->finish = state->owed > 0;
  return answer(state, conn);
}

static const struct tg_app kApp = {
    .opened = app_opened,
    .readable = app_readable,
    .writable = app_writable,
    .finish_requested = app_finish_requested,
    .closed = app_closed,
};

// Certificates.

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

// The shard.

void testing_options_default(struct testing_options *out) {
  *out = (struct testing_options){.ticket_key_lifetime_s = 3600};
  tg_shard_config_default(&out->shard);
}

static struct tg_tls_context *make_context(const struct testing_options *options) {
  struct testing_identity ca = testing_ca();
  struct testing_identity leaf = testing_leaf("localhost", &ca, 2);
  STACK_OF(X509) *chain = sk_X509_new_null();
  assert_non_null(chain);
  assert_true(sk_X509_push(chain, leaf.cert) > 0);
  struct tg_tls_config config = {
      .key = leaf.key,
      .chain = chain,
      .groups = options->groups,
      .client_ca_file = options->client_ca_file,
      .early_data = options->early_data,
      .ticket_key_lifetime_s = options->ticket_key_lifetime_s,
  };
  struct tg_error err;
  struct tg_tls_context *context = tg_tls_context_create(&config, &err);
  if (context == NULL) {
    fail_msg("%s", err.text);
  }
  sk_X509_free(chain);
  testing_identity_free(&leaf);
  testing_identity_free(&ca);
  return context;
}

void testing_rig_start(struct testing_rig *rig, const struct testing_options *options) {
  struct testing_options defaults;
  if (options == NULL) {
    testing_options_default(&defaults);
    options = &defaults;
  }
  struct tg_error err;
  // For the clients, which use write(2). That the shard raises none is stream_test's and faults_test's to show.
  (void)signal(SIGPIPE, SIG_IGN);
  memset(&rig->stats, 0, sizeof(rig->stats));
  struct tg_shard_config config = options->shard;
  rig->tls = options->tls == NULL ? make_context(options) : NULL;
  config.tls = options->tls == NULL ? rig->tls : options->tls;
  config.tls_listener = tg_listener_open("127.0.0.1", 0, true, &err);
  assert_true(config.tls_listener >= 0);
  config.http_listener = tg_listener_open("127.0.0.1", 0, true, &err);
  assert_true(config.http_listener >= 0);
  config.app = &kApp;
  config.app_data = &rig->stats;
  rig->tls_port = tg_listener_port(config.tls_listener);
  rig->http_port = tg_listener_port(config.http_listener);
  rig->shard = tg_shard_create(&config, &err);
  if (rig->shard == NULL) {
    fail_msg("%s", err.text);
  }
}

struct tg_counters testing_rig_counters(struct testing_rig *rig) {
  struct tg_counters now;
  tg_shard_counters(rig->shard, &now);
  assert_int_equal(now.accepted, now.established + now.handshake_failed + now.handshake_timed_out + now.in_handshake);
  assert_int_equal(now.accepted + now.plain_accepted, now.closed + tg_shard_connections(rig->shard));
  assert_int_equal(tg_shard_connections(rig->shard), now.in_handshake + now.open + now.draining);
  return now;
}

void testing_rig_settle(struct testing_rig *rig) {
  TESTING_TURN_UNTIL(rig, tg_shard_connections(rig->shard) == 0);
  struct tg_counters now = testing_rig_counters(rig);
  assert_int_equal(now.in_handshake, 0);
  assert_int_equal(now.open, 0);
  assert_int_equal(now.draining, 0);
  assert_int_equal(rig->stats.opened, rig->stats.closed);
}

void testing_rig_stop(struct testing_rig *rig) {
  testing_rig_counters(rig);
  tg_shard_destroy(rig->shard);
  assert_int_equal(rig->stats.opened, rig->stats.closed);
  tg_tls_context_destroy(rig->tls);
  assert_int_equal(ERR_peek_error(), 0);
}

// The client.

void testing_peer_dial(struct testing_peer *peer, uint16_t port, int receive_buffer) {
  *peer = (struct testing_peer){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  assert_true(peer->fd >= 0);
  if (receive_buffer > 0) {
    assert_int_equal(setsockopt(peer->fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer)), 0);
  }
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  assert_int_equal(connect(peer->fd, (struct sockaddr *)&address, sizeof(address)), 0);
  assert_int_equal(fcntl(peer->fd, F_SETFL, O_NONBLOCK), 0);
}

static int keep_session(SSL *ssl, SSL_SESSION *session) {
  SSL_SESSION_free(SSL_get_app_data(ssl));
  SSL_set_app_data(ssl, session);
  return 1;
}

void testing_peer_start(struct testing_peer *peer, struct testing_rig *rig,
                        const struct testing_peer_options *options) {
  testing_peer_dial(peer, rig->tls_port, options->receive_buffer);
  SSL_CTX *ctx = SSL_CTX_new(TLS_method());
  assert_non_null(ctx);
  uint16_t version = options->version == 0 ? TLS1_3_VERSION : options->version;
  assert_int_equal(SSL_CTX_set_min_proto_version(ctx, version), 1);
  assert_int_equal(SSL_CTX_set_max_proto_version(ctx, version), 1);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(ctx, keep_session);
  SSL_CTX_set_early_data_enabled(ctx, options->early_data);
  if (options->groups != NULL) {
    assert_int_equal(SSL_CTX_set1_curves_list(ctx, options->groups), 1);
  }
  if (options->identity != NULL) {
    assert_int_equal(SSL_CTX_use_certificate(ctx, options->identity->cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(ctx, options->identity->key), 1);
  }
  if (options->alpn != NULL) {
    assert_int_equal(SSL_CTX_set_alpn_protos(ctx, (const uint8_t *)options->alpn, (unsigned)strlen(options->alpn)), 0);
  }
  peer->ssl = SSL_new(ctx);
  assert_non_null(peer->ssl);
  SSL_CTX_free(ctx);
  if (options->server_name != NULL) {
    assert_int_equal(SSL_set_tlsext_host_name(peer->ssl, options->server_name), 1);
  }
  if (options->session != NULL) {
    assert_int_equal(SSL_set_session(peer->ssl, options->session), 1);
  }
  assert_int_equal(SSL_set_fd(peer->ssl, peer->fd), 1);
  SSL_set_connect_state(peer->ssl);
}

static bool wants_more(const SSL *ssl, int ret) {
  int error = SSL_get_error(ssl, ret);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

bool testing_peer_shake(struct testing_peer *peer, struct testing_rig *rig) {
  uint64_t limit_ms = testing_now_ms() + TESTING_PATIENCE_MS;
  for (;;) {
    ERR_clear_error();
    int ret = SSL_do_handshake(peer->ssl);
    if (ret == 1) {
      return true;
    }
    bool more = wants_more(peer->ssl, ret);
    ERR_clear_error();
    if (!more) {
      return false;
    }
    assert_true(testing_now_ms() < limit_ms);
    assert_true(tg_shard_turn(rig->shard, 1) >= 0);
  }
}

void testing_peer_connect(struct testing_peer *peer, struct testing_rig *rig,
                          const struct testing_peer_options *options) {
  testing_peer_start(peer, rig, options);
  assert_true(testing_peer_shake(peer, rig));
}

// Returns as read(2) does, or -1 with errno EAGAIN when there is nothing now.
static ssize_t peer_read(struct testing_peer *peer, char *out, size_t len) {
  if (peer->ssl == NULL) {
    return recv(peer->fd, out, len, 0);
  }
  ERR_clear_error();
  int got = SSL_read(peer->ssl, out, (int)len);
  if (got > 0) {
    return got;
  }
  int error = SSL_get_error(peer->ssl, got);
  ERR_clear_error();
  switch (error) {
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      errno = EAGAIN;
      return -1;
    default:
      errno = EPROTO;
      return -1;
  }
}

size_t testing_peer_receive(struct testing_peer *peer, struct testing_rig *rig, char *out, size_t len) {
  size_t have = 0;
  uint64_t limit_ms = testing_now_ms() + TESTING_PATIENCE_MS;
  while (have < len) {
    ssize_t got = peer_read(peer, out + have, len - have);
    if (got > 0) {
      have += (size_t)got;
      continue;
    }
    if (got == 0 || errno != EAGAIN) {
      break;
    }
    assert_true(testing_now_ms() < limit_ms);
    assert_true(tg_shard_turn(rig->shard, 1) >= 0);
  }
  return have;
}

void testing_peer_send(struct testing_peer *peer, struct testing_rig *rig, const char *text) {
  size_t len = strlen(text);
  size_t sent = 0;
  uint64_t limit_ms = testing_now_ms() + TESTING_PATIENCE_MS;
  while (sent < len) {
    ssize_t put;
    if (peer->ssl == NULL) {
      put = send(peer->fd, text + sent, len - sent, MSG_NOSIGNAL);
    } else {
      ERR_clear_error();
      put = SSL_write(peer->ssl, text + sent, (int)(len - sent));
    }
    if (put > 0) {
      sent += (size_t)put;
      continue;
    }
    assert_true(testing_now_ms() < limit_ms);
    assert_true(tg_shard_turn(rig->shard, 1) >= 0);
  }
}

void testing_peer_echo(struct testing_peer *peer, struct testing_rig *rig) {
  static const char kLine[] = "echo hello\n";
  char answer_text[sizeof(kLine)] = "";
  testing_peer_send(peer, rig, kLine);
  assert_int_equal(testing_peer_receive(peer, rig, answer_text, sizeof(kLine) - 1), sizeof(kLine) - 1);
  assert_string_equal(answer_text, kLine);
}

bool testing_peer_at_end(struct testing_peer *peer, struct testing_rig *rig) {
  char byte;
  uint64_t limit_ms = testing_now_ms() + TESTING_PATIENCE_MS;
  bool notified = peer->ssl == NULL;
  while (testing_now_ms() < limit_ms) {
    ssize_t got = notified ? recv(peer->fd, &byte, 1, 0) : peer_read(peer, &byte, 1);
    if (got == 0 && notified) {
      return true;
    }
    if (got == 0) {
      notified = (SSL_get_shutdown(peer->ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
      if (!notified) {
        return false;
      }
    } else if (got > 0 || errno != EAGAIN) {
      return false;
    }
    assert_true(tg_shard_turn(rig->shard, 1) >= 0);
  }
  return false;
}

static void release(struct testing_peer *peer) {
  if (peer->ssl != NULL) {
    SSL_SESSION_free(SSL_get_app_data(peer->ssl));
    SSL_free(peer->ssl);
  }
  close(peer->fd);
  *peer = (struct testing_peer){.fd = -1};
}

void testing_peer_reset(struct testing_peer *peer) {
  const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  assert_int_equal(setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
  release(peer);
}

void testing_peer_close(struct testing_peer *peer) {
  release(peer);
}

SSL_SESSION *testing_peer_session(struct testing_peer *peer) {
  SSL_SESSION *session = SSL_get_app_data(peer->ssl);
  assert_non_null(session);
  SSL_set_app_data(peer->ssl, NULL);
  return session;
}

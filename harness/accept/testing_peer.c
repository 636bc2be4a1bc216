// The client half of a rig.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/accept/testing_rig.h"

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

void testing_peer_receive_bulk(struct testing_peer *peer, struct testing_rig *rig, size_t len) {
  static char part[65536];
  while (len > 0) {
    size_t want = len < sizeof(part) ? len : sizeof(part);
    assert_int_equal(testing_peer_receive(peer, rig, part, want), want);
    for (size_t i = 0; i < want; i++) {
      assert_int_equal(part[i], 'x');
    }
    len -= want;
  }
}

void testing_peer_bye(struct testing_peer *peer, struct testing_rig *rig) {
  char answer_text[4];
  testing_peer_send(peer, rig, "bye\n");
  assert_int_equal(testing_peer_receive(peer, rig, answer_text, 4), 4);
  assert_memory_equal(answer_text, "bye\n", 4);
  assert_true(testing_peer_at_end(peer, rig));
  testing_peer_close(peer);
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

// A shard on loopback, a small line-based application, and a TLS client that is stepped together with it in one thread.
//
// The application: a request is a line. "echo TEXT" is answered by the line; "big N" by N bytes of 'x'; "bye" by the
// line and the end; "abort" by giving up at once.
#ifndef TLSGATE_HARNESS_ACCEPT_TESTING_RIG_H
#define TLSGATE_HARNESS_ACCEPT_TESTING_RIG_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/accept/accept.h"
#include "harness/accept/counters.h"
#include "harness/accept/tls_context.h"

// How long a test waits for what must happen; an instrumented program on a busy machine is slow.
#define TESTING_PATIENCE_MS 20000

struct testing_app_stats {
  size_t opened;
  size_t closed;
  size_t requests;
  bool refuse_to_open;  // set by the test
};

struct testing_rig {
  struct tg_shard *shard;
  struct tg_tls_context *tls;
  struct testing_app_stats stats;
  uint16_t tls_port;
  uint16_t http_port;
};

struct testing_options {
  struct tg_shard_config shard;  // listeners and tls are filled in, and so is app unless the test has its own
  const char *groups;
  const char *client_ca_file;
  bool early_data;
  uint32_t ticket_key_lifetime_s;
  struct tg_tls_context *tls;  // shared with another rig, which owns it; NULL: the rig's own
};

// testing_options_default fills in what most tests want.
void testing_options_default(struct testing_options *out);

// testing_rig_start makes everything; `options` may be NULL. A failure fails the test.
void testing_rig_start(struct testing_rig *rig, const struct testing_options *options);

// testing_rig_stop destroys the shard and checks that every connection was accounted for.
void testing_rig_stop(struct testing_rig *rig);

// testing_rig_counters returns the shard's counters, after checking that they add up.
struct tg_counters testing_rig_counters(struct testing_rig *rig);

// testing_rig_settle turns the shard until it has no connections.
void testing_rig_settle(struct testing_rig *rig);

// testing_now_ms returns CLOCK_MONOTONIC.
uint64_t testing_now_ms(void);

// TESTING_TURN_UNTIL turns the shard until the expression holds.
#define TESTING_TURN_UNTIL(rig, expression)                             \
  do {                                                                  \
    uint64_t testing_limit_ms = testing_now_ms() + TESTING_PATIENCE_MS; \
    while (!(expression)) {                                             \
      assert_true(testing_now_ms() < testing_limit_ms);                 \
      assert_true(tg_shard_turn((rig)->shard, 1) >= 0);                 \
    }                                                                   \
  } while (0)

// A key and a certificate for it. testing_ca makes those of a CA, testing_leaf those of a leaf that `issuer` has
// signed, or itself if that is NULL.
struct testing_identity {
  EVP_PKEY *key;
  X509 *cert;
};
struct testing_identity testing_ca(void);
struct testing_identity testing_leaf(const char *common_name, const struct testing_identity *issuer, int serial);
void testing_identity_free(struct testing_identity *identity);

// A client: a non-blocking socket, and a TLS session over it or not.
struct testing_peer {
  int fd;
  SSL *ssl;
};

struct testing_peer_options {
  uint16_t version;      // TLS1_2_VERSION or TLS1_3_VERSION
  SSL_SESSION *session;  // to resume; NULL: none
  bool early_data;
  const char *groups;
  const struct testing_identity *identity;  // client certificate; NULL: none
  const char *alpn;                         // wire format; NULL: none
  const char *server_name;
  int receive_buffer;  // SO_RCVBUF, 0: the default
};

// testing_peer_dial connects to `port` and speaks no TLS.
void testing_peer_dial(struct testing_peer *peer, uint16_t port, int receive_buffer);

// testing_peer_start dials the rig's TLS port and makes a client session; testing_peer_shake completes the handshake
// and returns whether it succeeded.
void testing_peer_start(struct testing_peer *peer, struct testing_rig *rig, const struct testing_peer_options *options);
bool testing_peer_shake(struct testing_peer *peer, struct testing_rig *rig);

// testing_peer_connect is both; failure fails the test.
void testing_peer_connect(struct testing_peer *peer, struct testing_rig *rig,
                          const struct testing_peer_options *options);

// testing_peer_send sends all of the text. testing_peer_receive reads up to `len` bytes, turning the shard, until there
// are `len` of them or the stream ends; returns how many.
void testing_peer_send(struct testing_peer *peer, struct testing_rig *rig, const char *text);
size_t testing_peer_receive(struct testing_peer *peer, struct testing_rig *rig, char *out, size_t len);

// testing_peer_echo makes a request and checks the answer.
void testing_peer_echo(struct testing_peer *peer, struct testing_rig *rig);

// testing_peer_receive_bulk receives `len` bytes of a "big" answer; testing_peer_bye asks for the end, checks that it
// is clean and closes. A surprise fails the test.
void testing_peer_receive_bulk(struct testing_peer *peer, struct testing_rig *rig, size_t len);
void testing_peer_bye(struct testing_peer *peer, struct testing_rig *rig);

// testing_peer_at_end says whether the stream has ended cleanly: close_notify for TLS, then FIN and no RST.
bool testing_peer_at_end(struct testing_peer *peer, struct testing_rig *rig);

// testing_peer_reset closes the socket with RST; testing_peer_close with FIN.
void testing_peer_reset(struct testing_peer *peer);
void testing_peer_close(struct testing_peer *peer);

// testing_peer_session takes the session that the server's last ticket made; the caller owns it.
SSL_SESSION *testing_peer_session(struct testing_peer *peer);

#endif

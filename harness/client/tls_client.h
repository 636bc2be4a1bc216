// A blocking TLS client over TCP, for measuring: one connection at a time, no thread.
//
// It sets TCP_NODELAY only when it is asked to, to find out what a wait was for. That is the point: most clients do
// not, and with Nagle's algorithm on, a request waits in the kernel until the server's kernel has acknowledged the
// client's Finished. A server that delays that ACK costs such a client 40 ms a connection and a client with TCP_NODELAY
// nothing, so only this one can see the fault. For the same reason the Finished and the request are never written
// together: TLS 1.3's SSL_connect returns with the Finished written to the socket, and the request is a write of its
// own.
#ifndef TLSGATE_HARNESS_CLIENT_TLS_CLIENT_H
#define TLSGATE_HARNESS_CLIENT_TLS_CLIENT_H

#include <openssl/base.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/base/error.h"

struct tg_client;

struct tg_client_config {
  const char *host;      // numeric IPv4 or IPv6 address
  uint16_t port;         // 1 to 65535
  uint16_t tls_version;  // TLS1_2_VERSION or TLS1_3_VERSION; 0: either
  const char *groups;  // BoringSSL's list in order of preference, e.g. "X25519:P-384": TLS 1.3 key shares are sent for
                       // the first alone, so a server that supports only a later one answers HelloRetryRequest
                       // (RFC 8446, 4.1.4). NULL: the library's own
  const char *cert_file;  // PEM chain to present when asked, and
  const char *key_file;   // its key; both or neither is NULL
  const char
      *ca_file;   // PEM: the server's chain must lead to one of these (its name is not checked). NULL: not verified
  bool nodelay;   // TCP_NODELAY: holds no segment back for an ACK of the server's
  bool quickack;  // holds no ACK back: re-arms TCP_QUICKACK every millisecond while it waits to read
  uint32_t timeout_ms;  // SO_RCVTIMEO and SO_SNDTIMEO: longest wait for connect() or one byte. 1 to 600,000
};

// tg_client_create returns a client, or NULL with `err` filled in and naming the option that cannot be used. It
// connects to nothing yet. `config` is not kept.
struct tg_client *tg_client_create(const struct tg_client_config *config, struct tg_error *err);

// tg_client_destroy frees a client without connections. NULL is ignored.
void tg_client_destroy(struct tg_client *client);

// tg_client_has_session says whether a server has given a session that a later connection can resume. The newest is
// kept: tickets of TLS 1.3 are for one use (RFC 8446, C.4).
bool tg_client_has_session(const struct tg_client *client);

// A connection with its handshake done.
struct tg_client_conn {
  int fd;
  uint32_t rearm_within_ms;  // of a client that holds no ACK back: for how long it goes on waiting; else 0
  SSL *ssl;
  int64_t connected_ns;    // CLOCK_MONOTONIC when connect() returned
  int64_t established_ns;  // and when the handshake was complete as the client sees it
};

enum tg_client_phase { TG_CLIENT_CONNECT, TG_CLIENT_HANDSHAKE, TG_CLIENT_REQUEST, TG_CLIENT_RESPONSE };

// tg_client_phase_name is the word for a phase in messages: "connect", "handshake", "request", "response".
const char *tg_client_phase_name(enum tg_client_phase phase);

// tg_client_connect connects and does the handshake, offering the kept session if `resume`. Returns false with `err`
// filled in and *phase saying where it failed; then there is nothing to close.
bool tg_client_connect(struct tg_client *client, bool resume, struct tg_client_conn *out, enum tg_client_phase *phase,
                       struct tg_error *err);

// tg_client_write writes all `len` >= 1 bytes as one TLS record (up to 16 KiB) and one write to the socket. Returns
// false with `err` filled in on a time-out or a broken connection.
bool tg_client_write(struct tg_client_conn *conn, const void *bytes, size_t len, struct tg_error *err);

// tg_client_read waits for at least one byte of plaintext. Returns how many it put in `out`, 0 at the end of the stream
// (close_notify or FIN), -1 with `err` filled in on a time-out or a broken connection.
ssize_t tg_client_read(struct tg_client_conn *conn, void *out, size_t len, struct tg_error *err);

// How a connection ended.
enum tg_client_end {
  TG_CLIENT_END_CLEAN,    // the server answered our close_notify by its own and a FIN
  TG_CLIENT_END_UNCLEAN,  // by a reset, no close_notify, or nothing within TG_CLIENT_CLOSE_MS
  TG_CLIENT_END_DATA,     // by more plaintext
};
#define TG_CLIENT_CLOSE_MS 2000

// tg_client_close sends close_notify, waits for the server's close_notify and FIN, and frees the connection. What is
// read on the way (TLS 1.3 tickets among it) counts; plaintext does not belong there.
enum tg_client_end tg_client_close(struct tg_client_conn *conn);

// tg_client_abandon closes the socket and frees the connection at once.
void tg_client_abandon(struct tg_client_conn *conn);

// tg_client_now_ns is CLOCK_MONOTONIC in nanoseconds.
int64_t tg_client_now_ns(void);

#endif

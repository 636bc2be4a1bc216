// A client that does what clients should not: a TCP connection, and TLS over it when wanted, whose bytes can be had and
// sent in any pieces. Every wait is bounded by a moment given as tg_now_s() + seconds (perf/process/child.h).
#ifndef TLSGATE_PERF_PROBE_WIRE_H
#define TLSGATE_PERF_PROBE_WIRE_H

#include <openssl/base.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tg_wire {
  int fd;      // -1: closed
  SSL *ssl;    // NULL: no TLS yet
  BIO *in;     // from the server, not yet decrypted; the SSL's
  BIO *out;    // for the server, not yet sent; the SSL's
  bool ended;  // the server has ended it: FIN, or a reset
  bool reset;
};

// How tg_wire_flush sends: all at once, or in pieces of `piece` bytes, each a segment of its own.
enum { TG_WIRE_WHOLE = 0 };

// tg_wire_open connects to 127.0.0.1 without TLS. Returns false when it cannot within `until`.
bool tg_wire_open(struct tg_wire *wire, uint16_t port, double until);

// tg_wire_open_small is the same with the smallest receive buffer the kernel gives.
bool tg_wire_open_small(struct tg_wire *wire, uint16_t port, double until);

// tg_wire_prepare makes the SSL of a handshake that is to come, for settings of the caller's.
bool tg_wire_prepare(struct tg_wire *wire, uint16_t low, uint16_t high);

// tg_wire_hello begins TLS with versions `low` to `high` and writes the ClientHello to `out`, unsent. Returns its
// length, 0 when that cannot be.
size_t tg_wire_hello(struct tg_wire *wire, uint16_t low, uint16_t high, uint8_t *out, size_t size);

// tg_wire_handshake does the handshake, sending in pieces as tg_wire_flush. Returns false when it is not done until
// `until`, or fails.
bool tg_wire_handshake(struct tg_wire *wire, uint16_t low, uint16_t high, size_t piece, double until);

// tg_wire_tls opens and does a whole handshake of version 1.2 or 1.3.
bool tg_wire_tls(struct tg_wire *wire, uint16_t port, double until);

// tg_wire_flush sends what TLS has to send. Returns false when the connection breaks or the server takes nothing more
// until `until`.
bool tg_wire_flush(struct tg_wire *wire, size_t piece, double until);

// tg_wire_send sends bytes as they are, past TLS; tg_wire_write by TLS, or as they are without. Both as tg_wire_flush.
bool tg_wire_send(struct tg_wire *wire, const void *bytes, size_t len, double until);
bool tg_wire_write(struct tg_wire *wire, const void *bytes, size_t len, double until);

// tg_wire_read waits for plaintext. Returns how many bytes it put in `out`, 0 when the server has ended the connection,
// -1 when `until` has come.
ssize_t tg_wire_read(struct tg_wire *wire, void *out, size_t size, double until);

// tg_wire_ended says, without waiting, whether the server has ended the connection; bytes that came before are dropped.
bool tg_wire_ended(struct tg_wire *wire);

// tg_wire_close closes the socket without ceremony; tg_wire_reset so that the server gets a reset.
void tg_wire_close(struct tg_wire *wire);
void tg_wire_reset(struct tg_wire *wire);

// An answer to a GET.
struct tg_answer {
  int status;       // 0: none came
  uint64_t length;  // Content-Length; UINT64_MAX: none was said
  uint64_t body;    // bytes of body that came
  bool whole;       // all of Content-Length came; without one: the server ended it
  bool closed;      // the server then ended the connection, or had ended it
};

// tg_wire_get sends a GET for `path`, and tg_wire_answer reads the answer to one that was sent.
bool tg_wire_get(struct tg_wire *wire, const char *path, double until);
void tg_wire_answer(struct tg_wire *wire, struct tg_answer *out, double until);

// tg_wire_fetch opens, gets `path` by TLS, reads the answer and closes. Returns whether it came whole with status 200.
bool tg_wire_fetch(uint16_t port, const char *path, double until);

#endif

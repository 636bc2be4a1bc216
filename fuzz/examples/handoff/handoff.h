// A small HTTPS server of another structure than harness/accept, and without a line of it: one loop accepts and hands
// the sockets over, through queues that eventfds announce, to two loops that shake hands and serve. Level-triggered
// epoll, BoringSSL over a BIO of its own, a state machine for each connection.
//
// It is an example of an accept path under the simulated kernel (docs/adapter.md): adapter.c is all that it needed.
#ifndef TLSGATE_FUZZ_EXAMPLES_HANDOFF_HANDOFF_H
#define TLSGATE_FUZZ_EXAMPLES_HANDOFF_HANDOFF_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HANDOFF_WORKERS 2u
#define HANDOFF_LOOPS   (1u + HANDOFF_WORKERS)  // loop 0 accepts

struct handoff_config {
  uint16_t tls_port;
  uint16_t plaintext_port;       // 0: none
  EVP_PKEY *key;                 // borrowed until the server is made
  const STACK_OF(X509) * chain;  // leaf first; likewise
  uint64_t max_body;             // of a request, in bytes
  // In milliseconds, each more than 0.
  uint32_t handshake_ms;  // accept -> end of the handshake
  uint32_t request_ms;    // first byte of a request -> last byte of its body
  uint32_t idle_ms;       // end of the handshake, or of a response -> first byte of the next request
  uint32_t response_ms;   // a response, or each 64 KiB of it
  uint32_t drain_ms;      // decision to end the connection -> close()
};

struct handoff;

// handoff_create listens on the loopback interface's ports. Returns NULL when something is short.
struct handoff *handoff_create(const struct handoff_config *config);

// handoff_turn does one round of a loop: waits until something is due for it, and does that. A thread calls it for
// ever.
void handoff_turn(struct handoff *server, unsigned loop);

// handoff_destroy closes every connection and frees everything.
void handoff_destroy(struct handoff *server);

// handoff_timed_out returns how many connections a deadline has ended.
uint64_t handoff_timed_out(const struct handoff *server);

// handoff_failed says whether the listener has become unusable.
bool handoff_failed(const struct handoff *server);

#endif

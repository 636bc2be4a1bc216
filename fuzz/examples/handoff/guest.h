// One connection: a state machine that a worker steps whenever its socket may let it get on.
//
//     HELLO -> HEAD -> BODY -> REPLY -> HEAD ...     the handshake, and requests one after the other
//     any of them -> GOODBYE -> DRAIN -> GONE        close_notify; FIN, and what the client still sends; freed
//     any of them -> GONE                            the socket is broken, or a deadline allows no more
#ifndef TLSGATE_FUZZ_EXAMPLES_HANDOFF_GUEST_H
#define TLSGATE_FUZZ_EXAMPLES_HANDOFF_GUEST_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/examples/handoff/mailbox.h"
#include "fuzz/examples/handoff/request.h"
#include "fuzz/examples/handoff/socket_bio.h"

enum guest_state { GUEST_HELLO, GUEST_HEAD, GUEST_BODY, GUEST_REPLY, GUEST_GOODBYE, GUEST_DRAIN, GUEST_GONE };

// What all connections share. In nanoseconds, those of handoff.h.
struct house {
  SSL_CTX *tls;
  BIO_METHOD *bio_method;
  uint64_t max_body;
  uint64_t handshake_ns;
  uint64_t request_ns;
  uint64_t idle_ns;
  uint64_t response_ns;
  uint64_t drain_ns;
};

struct guest {
  struct guest *next;  // the worker's list
  struct guest *prev;
  const struct house *house;
  enum guest_state state;
  struct plug plug;
  SSL *ssl;             // NULL: plaintext
  bool mute;            // TLS allows no close_notify: its handshake is not done, or the protocol was broken
  uint32_t waits_for;   // EPOLLIN or EPOLLOUT, when a step is done
  uint32_t registered;  // in the worker's epoll
  uint64_t deadline_ns;
  size_t head_len;
  char head[REQUEST_HEAD_MAX];
  struct answer answer;
  uint64_t filled;  // bytes of the response's body put into `out`
  uint64_t sent;    // bytes since response_ns began
  size_t out_at;
  size_t out_len;
  char out[16384];
};

// guest_new takes over the socket; NULL when out of memory, and then the socket is closed.
struct guest *guest_new(const struct house *house, struct letter letter, uint64_t now_ns);

// guest_step does what can be done now: afterwards it is GONE, or `waits_for` is what it waits for.
void guest_step(struct guest *guest, uint64_t now_ns);

// guest_expire does what its deadline, which has come, asks for. As guest_step, afterwards.
void guest_expire(struct guest *guest, uint64_t now_ns);

void guest_free(struct guest *guest);

#endif

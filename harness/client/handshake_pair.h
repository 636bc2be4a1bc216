// TLS handshakes in memory: both ends in one thread, no socket, no system call but the clock. What a handshake costs
// the server's CPU here is the least that it can cost a server with the same library, certificate and CPU.
#ifndef TLSGATE_HARNESS_CLIENT_HANDSHAKE_PAIR_H
#define TLSGATE_HARNESS_CLIENT_HANDSHAKE_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"
#include "harness/server/credentials.h"

struct tg_handshake_plan {
  const struct tg_credentials *credentials;  // the server's; the client does not verify the chain
  uint16_t tls_version;                      // TLS1_2_VERSION or TLS1_3_VERSION
  bool resume;                               // every handshake resumes a session obtained before them
  size_t count;                              // measured handshakes, at least 1
  size_t warmup;                             // handshakes before them that are not measured
};

struct tg_handshake_cost {
  double *server_us;  // CPU time of each handshake on the server's side, `count` values; owned by the caller
  double *client_us;  // likewise on the client's
  double clock_us;    // what reading the clock twice costs, which has been subtracted for each reading
};

// tg_handshakes_measure runs the handshakes. The time of a side is the thread's CPU time (CLOCK_THREAD_CPUTIME_ID) in
// SSL_new, SSL_do_handshake and SSL_free of that side, and nothing between; for TLS 1.3 that includes making the
// NewSessionTicket messages, as they are made before the handshake is reported complete. Returns false with `err`
// filled in if a handshake fails or is not of the kind asked for; then there is nothing to free.
bool tg_handshakes_measure(const struct tg_handshake_plan *plan, struct tg_handshake_cost *out, struct tg_error *err);

// tg_handshake_cost_free frees the values.
void tg_handshake_cost_free(struct tg_handshake_cost *cost);

#endif

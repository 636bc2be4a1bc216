// The measurement of rtt_client: connections one after the other, and what each took.
#ifndef TLSGATE_HARNESS_CLIENT_RTT_RUN_H
#define TLSGATE_HARNESS_CLIENT_RTT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"
#include "harness/client/rtt_options.h"

struct tg_rtt_result {
  double *rtt_ms;  // from just before a request's first byte was written to the first byte of its response, decrypted
  size_t num_rtt;  // connections times requests, in the order they were made
  double *handshake_ms;  // from connect()'s return to the handshake's end as the client sees it
  size_t num_handshake;  // connections
  uint16_t tls_version;  // negotiated, the same on all
  size_t resumed;        // measured connections that resumed a session
  size_t hello_retry_requests;
  size_t unclean_closes;  // measured connections whose response was whole but whose end was not: see tg_client_close
  double client_cpu_ms;   // CPU time of this process, user and system, for the measured connections
};

// tg_rtt_run makes the connections. One that fails in any phase ends the run: returns false with `err` filled in, which
// names the connection (from 0) and the phase, and there is nothing to free. A response
// that is not whole, not 200, or of another length than asked for is a failure and never a sample.
bool tg_rtt_run(struct tg_client *client, const struct tg_rtt_options *options, struct tg_rtt_result *out,
                struct tg_error *err);

// tg_rtt_result_free frees the samples.
void tg_rtt_result_free(struct tg_rtt_result *result);

#endif

// The measurement of rtt_client: clients that make connections one after the other, and what each took.
#ifndef TLSGATE_HARNESS_CLIENT_RTT_RUN_H
#define TLSGATE_HARNESS_CLIENT_RTT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"
#include "harness/client/rtt_options.h"

struct tg_rtt_result {
  double *rtt_ms;  // from just before a request's first byte was written to the first byte of its response, decrypted
  size_t num_rtt;  // connections times requests, client after client, in the order they were made
  double *handshake_ms;  // from connect()'s return to the handshake's end as the client sees it
  size_t num_handshake;  // connections
  uint16_t tls_version;  // negotiated, the same on all
  size_t resumed;        // measured connections that resumed a session
  size_t hello_retry_requests;
  size_t unclean_closes;  // measured connections whose response was whole but whose end was not: see tg_client_close
  size_t shed;            // answers that were load shedding, those in the warm-up included
  double seconds;         // from the moment when all clients had warmed up to the last one's end
  double client_cpu_ms;   // CPU time of this process, user and system, for the measured connections
};

// Why a run failed.
struct tg_rtt_failure {
  bool in_warm_up;  // nothing had been measured by anybody yet
  struct tg_error error;
};

// tg_rtt_run makes the connections; `clients` are options->clients clients of one configuration. All finish their
// warm-up before any of them measures. One connection that fails in any phase ends the run for all of them, those that
// wait for the others included, and what had been measured is dropped: returns false with `failure` filled in, which
// names the client (from 1, if there are several), the connection (from 0) and the phase, and there is nothing to free.
// A response that is not whole, not 200, or of another length than asked for is a failure and never a sample; load
// shedding is one if it happens more often than options->max_shed.
bool tg_rtt_run(struct tg_client *const clients[], const struct tg_rtt_options *options, struct tg_rtt_result *out,
                struct tg_rtt_failure *failure);

// tg_rtt_result_free frees the samples.
void tg_rtt_result_free(struct tg_rtt_result *result);

#endif

// The JSON of rtt_client.
//
//     schema                "tlsgate.rtt/1"
//     tls_version           "1.2" or "1.3"
//     count, requests       measured connections, requests on each
//     resumed, hello_retry_requests, unclean_closes   of the measured connections
//     stalled               samples of rtt_ms that are TG_RTT_STALLED_MS or more
//     clients               clients that measured at the same time; `count` is of all of them
//     shed                  answers that were load shedding, and were made again
//     seconds               from the end of the last warm-up to the end of the last client
//     client_cpu_ms         CPU time of the client for the measured connections
//     rtt_ms, handshake_ms  {p50, p90, p99, max}; quantiles as in perf/stats/quantile.h
//     samples               {rtt_ms: [...], handshake_ms: [...]}, in the order they were taken
//
// A failed run has `schema`, `error` and `phase`, "warm-up" or "measurement", and nothing else: what had been measured
// is dropped.
#ifndef TLSGATE_HARNESS_CLIENT_RTT_REPORT_H
#define TLSGATE_HARNESS_CLIENT_RTT_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "harness/client/rtt_run.h"

// A request that took this long waited for a delayed ACK: Linux delays one by 40 ms at least (TCP_DELACK_MIN in
// include/net/tcp.h), and loopback without a stall stays far below half of that.
#define TG_RTT_STALLED_MS 20.0

// tg_rtt_report returns the JSON of a finished run of `clients`, or NULL when out of memory. The caller owns it.
json_t *tg_rtt_report(const struct tg_rtt_result *result, uint32_t clients);

// tg_rtt_report_failure returns the JSON of a failed run, or NULL when out of memory. The caller owns it.
json_t *tg_rtt_report_failure(const struct tg_rtt_failure *why);

#endif

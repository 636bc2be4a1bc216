// One run of rtt_client (harness/client) against one server: sequential connections, no TCP_NODELAY.
#ifndef TLSGATE_PERF_WORKLOAD_RTT_H
#define TLSGATE_PERF_WORKLOAD_RTT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"
#include "perf/process/server.h"

struct tg_rtt {
  double p50_ms;  // request written -> first byte of its response
  double p90_ms;
  double p99_ms;
  double max_ms;
  double handshake_p50_ms;
  uint64_t stalled;  // requests that waited 20 ms or more: half of Linux's least delayed ACK (TCP_DELACK_MIN, 40 ms)
  uint64_t count;    // requests timed
  double seconds;    // from the end of the last client's warm-up to the end of the last client
  double server_cpu_s;
  double client_cpu_s;
  char command[512];       // what was run, for a report
  json_t *samples;         // rtt_client's raw samples; owned, release with json_decref
  bool failed_in_warm_up;  // of a run that failed: nothing had been measured yet
};

// tg_rtt_run runs `client` (the path of rtt_client) for `count` connections with the further options `options`, a list
// that ends with NULL. Returns false with `err` filled in if the client reports any failure; then `out`
// holds nothing but failed_in_warm_up.
bool tg_rtt_run(const char *client, struct tg_server *server, unsigned count, const char *const options[],
                struct tg_rtt *out, struct tg_error *err);

#endif

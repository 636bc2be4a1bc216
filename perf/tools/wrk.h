// What `wrk` printed: wrk 4.1.0, keep-alive load.
//
// wrk exits with 0 whatever happened, and a server that never answers gives "0 requests" without a socket error. So
// parsing is one step and judging another, and a workload needs both.
#ifndef TLSGATE_PERF_TOOLS_WRK_H
#define TLSGATE_PERF_TOOLS_WRK_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"
#include "perf/tools/lines.h"

struct tg_wrk {
  uint64_t threads;
  uint64_t connections;
  uint64_t requests;  // complete responses
  double seconds;     // the run's real length, to two decimals of its unit
  double bytes_read;  // to two decimals of its unit
  double latency_mean_s;
  double latency_stdev_s;
  double latency_max_s;
  bool has_percentiles;  // `--latency` was given
  double latency_p50_s;
  double latency_p75_s;
  double latency_p90_s;
  double latency_p99_s;
  uint64_t connect_errors;
  uint64_t read_errors;  // includes connections closed inside a response, and after one that has no keep-alive
  uint64_t write_errors;
  uint64_t timeouts;  // responses that took longer than --timeout
  uint64_t non_2xx_responses;
  double requests_per_second;
  double bytes_per_second;
};

// tg_wrk_parse reads a finished run's standard output, and its standard error for the message of a wrk that gave up
// ("unable to connect to ..."). Returns false with `err` filled in if it did, or if a line is missing, doubled or not
// in the format of 4.1.0; then `out` has no meaning. Neither text needs to end in a NUL.
bool tg_wrk_parse(struct tg_text standard_output, struct tg_text standard_error, struct tg_wrk *out,
                  struct tg_error *err);

// tg_wrk_judge returns whether a parsed run went without an error: at least one request, no socket error, no status
// outside 2xx and 3xx, and at least `body_bytes` bytes read for each request (less 1 %: wrk prints three digits). If
// not, `err` says what happened and what to do.
bool tg_wrk_judge(const struct tg_wrk *run, uint64_t body_bytes, struct tg_error *err);

#endif

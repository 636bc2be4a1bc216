// What `ab` printed: ApacheBench 2.3, Debian's apache2-utils, new connections under closed-loop load.
//
// ab is a lenient judge: it counts a connection that was closed without a byte as a complete request of length 0, takes
// the first response's length for the right one and does not compare Content-Length with what came. So parsing is one
// step and judging against what the workload asked for is another, and a workload needs both.
#ifndef TLSGATE_PERF_TOOLS_AB_H
#define TLSGATE_PERF_TOOLS_AB_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"
#include "perf/tools/lines.h"

struct tg_ab {
  uint64_t document_bytes;  // body length of the first response
  uint64_t concurrency;
  double seconds;  // "Time taken for tests", three decimals
  uint64_t complete_requests;
  uint64_t failed_requests;     // the sum of the next four
  uint64_t connect_failures;    // ab could not connect
  uint64_t receive_failures;    // a read failed
  uint64_t length_failures;     // a body was not as long as the first one
  uint64_t exception_failures;  // poll or TLS errors
  uint64_t write_errors;
  uint64_t non_2xx_responses;
  uint64_t keep_alive_requests;  // 0 without -k
  uint64_t total_bytes;          // heads and bodies received
  uint64_t body_bytes;           // "HTML transferred"
  double requests_per_second;
  double bytes_per_second;  // ab's "Kbytes" are 1024 bytes
};

// tg_ab_parse reads a finished run's standard output, and its standard error for the errors that ab prints there.
// Returns false with `err` filled in if ab gave up or complained (apr_*, SSL handshake, SSL read), or if a line is
// missing, doubled or not in the format of 2.3; then `out` has no meaning. Neither text needs to end in a NUL.
bool tg_ab_parse(struct tg_text standard_output, struct tg_text standard_error, struct tg_ab *out,
                 struct tg_error *err);

// tg_ab_judge returns whether a parsed run did all that was asked: `requests` requests, each answered by 2xx and a body
// of `body_bytes` bytes, none failed. If not, `err` says what happened and what to do.
bool tg_ab_judge(const struct tg_ab *run, uint64_t requests, uint64_t body_bytes, struct tg_error *err);

#endif

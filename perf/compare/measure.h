// Rounds of a comparison: starts both servers, lets the clients load them in turns, stops them.
//
// Every round has servers of its own: where a process's memory happens to lie moves its timings by some per cent
// (Mytkowicz et al., Producing Wrong Data Without Doing Anything Obviously Wrong, 2009), and one process a side would
// make that look like a difference of the programs.
#ifndef TLSGATE_PERF_COMPARE_MEASURE_H
#define TLSGATE_PERF_COMPARE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/compare/metric.h"
#include "perf/compare/set.h"

// One of the two servers. It is started as `PROGRAM --port 0`, and prints the ready line (perf/process/server.h).
struct tg_compare_server {
  const char *program;
  const char *const *env;  // NAME=value strings added to its environment, ends with NULL; NULL: none
};

struct tg_compare_plan {
  struct tg_compare_server servers[TG_COMPARE_SIDES];
  const char *rtt_client;
  bool workloads[TG_COMPARE_WORKLOADS];  // which of them to run
  size_t rounds;                         // 1 to TG_COMPARE_ROUNDS_MAX
  double deadline;                       // on the clock of tg_now_s: no round begins after it
  const char *what;                      // what progress calls this set; NULL: no progress
};

// tg_compare_measure adds the rounds to `set`, an empty one. Fewer than asked for are whole rounds all the same, and no
// error: the deadline was over. Returns false with `err` filled in when a server or a client fails, with the workload,
// the side and the round named; then no server runs.
bool tg_compare_measure(const struct tg_compare_plan *plan, struct tg_compare_set *set, struct tg_error *err);

// tg_compare_handshake_us measures what a full handshake with its connection and request costs the server, in CPU
// microseconds: the median of a few runs.
bool tg_compare_handshake_us(const struct tg_compare_server *server, double *us, struct tg_error *err);

#endif

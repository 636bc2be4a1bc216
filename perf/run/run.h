// One measuring run: rounds of workloads until every gate is decided or the budget is spent.
#ifndef TLSGATE_PERF_RUN_RUN_H
#define TLSGATE_PERF_RUN_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/host/provenance.h"
#include "perf/manifest/manifest.h"
#include "perf/run/fleet.h"
#include "perf/run/plan.h"
#include "perf/verdict/samples.h"
#include "perf/verdict/verdict.h"

struct tg_run_config {
  struct tg_fleet_config fleet;
  const char *off_server;  // the unpatched server, for the sample that shows whether this host can stall at all
  const struct tg_manifest *manifest;
  const char *const *only;  // names of gates, ends with NULL: only what these need is run and judged; NULL: all
  double budget_s;          // of measurement, warm-ups included
  bool extend_once;         // when the budget ends undecided, spend it once more
  enum tg_size size;
  bool quiet;  // no progress on stderr
};

struct tg_run {
  struct tg_samples *samples;
  struct tg_verdict *verdict;  // borrows the manifest
  json_t *raw;                 // workload -> what its tool said, round by round
  json_t *commands;            // {"servers": {name: command}, "workloads": {name: [command, ...]}}
  double measured_s;
  double stolen;         // share of the machine's CPU time stolen during the run
  double off_p50_ms[2];  // of the server with re-arm off, before the first round and after the last
  bool host_stalls;
  char hidden_by[256];  // why not, if not
  bool extended;
};

// tg_run_measure runs. Returns false with `err` filled in when a server, a client or a tool fails: then there is no
// verdict, and nothing to free. Else the result is to be released with tg_run_free.
bool tg_run_measure(const struct tg_run_config *config, struct tg_run *out, struct tg_error *err);
void tg_run_free(struct tg_run *run);

#endif

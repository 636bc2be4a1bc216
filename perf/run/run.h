// One measuring run: rounds of workloads until every gate is decided or the budget is spent.
#ifndef TLSGATE_PERF_RUN_RUN_H
#define TLSGATE_PERF_RUN_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/diagnose/experiment.h"
#include "perf/exact/gates.h"
#include "perf/host/provenance.h"
#include "perf/manifest/manifest.h"
#include "perf/run/applies.h"
#include "perf/run/fleet.h"
#include "perf/run/plan.h"
#include "perf/verdict/samples.h"
#include "perf/verdict/verdict.h"

struct tg_run_config {
  struct tg_fleet_config fleet;
  const char *off_server;  // the unpatched server, for the sample that shows whether this host can stall at all
  const struct tg_manifest *manifest;
  const struct tg_applies *applies;  // what is left out for the server; NULL: nothing
  const char *const *only;  // names of gates, ends with NULL: only what these need is run and judged; NULL: all
  double budget_s;          // of measurement, warm-ups included
  bool extend_once;         // when the budget ends undecided, spend it once more
  enum tg_size size;
  bool diagnose;     // when a stall-sensitive gate has failed, find out why before the servers are stopped
  bool ratios_only;  // judge nothing that depends on the speed of the machine
  bool quiet;        // no progress on stderr
};

// Why a run came to no verdict.
struct tg_run_failure {
  const char *stage;     // as in a report's error.stage: exact, server, warm-up, measurement or teardown
  const char *workload;  // NULL if it was none's
  size_t round;          // from 1; 0 if it was in none
  struct tg_error error;
};

struct tg_run {
  struct tg_samples *samples;
  struct tg_verdict *verdict;    // borrows the manifest
  struct tg_exact_gates *exact;  // owned; of the check that ran before; NULL: it did not. tg_run_measure leaves it NULL
  json_t *raw;                   // workload -> what its tool said, round by round
  json_t *commands;              // {"servers": {name: command}, "workloads": {name: [command, ...]}}
  double measured_s;
  double stolen;         // share of the machine's CPU time stolen during the run; NaN if not known
  double idle;           // likewise, idle
  double off_p50_ms[2];  // of the server with re-arm off, before the first round and after the last
  bool host_stalls;
  char hidden_by[256];  // why not, if not
  struct tg_diagnosis diagnosis;
  bool extended;
};

// tg_run_failure_of_workload fills in `out` for a workload that failed with `why` in a round (0 is the first).
void tg_run_failure_of_workload(struct tg_run_failure *out, const char *workload, size_t round, bool warming_up,
                                const struct tg_error *why);

// tg_run_measure runs. Returns false with `failure` filled in when a server, a client or a tool fails: then there is no
// verdict, and nothing to free. Else the result is to be released with tg_run_free.
bool tg_run_measure(const struct tg_run_config *config, struct tg_run *out, struct tg_run_failure *failure);
void tg_run_free(struct tg_run *run);

#endif

// The experiments that a diagnosis rests on: a workload that stalled, run again by clients that differ in one thing.
#ifndef TLSGATE_PERF_DIAGNOSE_EXPERIMENT_H
#define TLSGATE_PERF_DIAGNOSE_EXPERIMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/diagnose/decide.h"
#include "perf/workload/rtt.h"

// Requests of each run: enough for a median that a few late ones do not move, and a second at most where all stall.
#define TG_DIAGNOSE_COUNT 15

// What runs `workload` once with the client's option ("--nodelay", "--quickack"; NULL: as it stands) and `count`
// connections. What `out` owns is the caller's.
typedef bool tg_diagnose_run(void *context, const char *workload, const char *option, unsigned count,
                             struct tg_rtt *out, struct tg_error *err);

// tg_diagnose runs the experiments of the kinds in `stalled` and decides. Returns false with `err` filled in when one
// of them could not be run; there is no diagnosis then.
bool tg_diagnose(struct tg_diagnosis *out, const bool stalled[TG_STALLED_KINDS], tg_diagnose_run *run, void *context,
                 struct tg_error *err);

// tg_diagnosis_json returns a new object for a report: "experiments" (what was measured, one for each workload) and
// "lines" (the words). NULL without a diagnosis.
json_t *tg_diagnosis_json(const struct tg_diagnosis *diagnosis);

#endif

// Adding a judged run to the history of its CPU model. Nothing else writes these files.
#ifndef TLSGATE_PERF_BASELINE_HISTORY_UPDATE_H
#define TLSGATE_PERF_BASELINE_HISTORY_UPDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/base/error.h"
#include "perf/baseline/cpu_history.h"
#include "perf/manifest/manifest.h"
#include "perf/report/report.h"

struct tg_history_request {
  const char *folder;  // of the histories
  const struct tg_manifest *manifest;
  const struct tg_report *report;
  // Factors to set in the file. What is not named stays.
  double factor;  // 0: none
  struct tg_history_value factors[TG_GATES_MAX];
  size_t num_factors;
};

// tg_history_label returns with what label a run is kept apart, or NULL if it passed and joins the medians: fail,
// undecided or unenforced after its verdict, error if it came to none, unreadable whatever the verdict.
const char *tg_history_label(const struct tg_report *report);

// tg_history_update adds the run to <folder>/<cpu-model>.json, making the file if it is the model's first. A run that
// is there already with the same figures changes nothing. What was done is one line on `log`, and each row that had to
// go, the oldest, another. Returns false with `err` filled in, the file untouched: a run that is there already with
// other figures; one that did not measure the whole manifest, or of a server with a planted fault, or of a dirty tree,
// or without provenance; another profile than the file's; a writer that is at work or was interrupted.
bool tg_history_update(const struct tg_history_request *request, FILE *log, struct tg_error *err);

#endif

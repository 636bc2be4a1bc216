// A series: the same measurement several times, with idle minutes between, so that what disturbs one run, or what a run
// leaves behind (heat, caches, a burst budget), is not in all of them.
#ifndef TLSGATE_PERF_BASELINE_SERIES_H
#define TLSGATE_PERF_BASELINE_SERIES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/baseline/host_baseline.h"

#define TG_SERIES_GAP_S     180
#define TG_SERIES_GAP_MAX_S 3600

struct tg_run_series {
  const char *program;  // that measures: run as PROGRAM --full --out FOLDER
  const char *folder;   // gets a folder for each run; made if it is missing
  const char *label;    // of the host, given to the program as TLSGATE_PERF_HOST
  size_t runs;          // 1 to TG_RECORDED_RUNS_MAX
  unsigned gap_s;
};

// tg_run_series_measure measures and stores the paths of the reports, each of which is there. What a run judged is its
// own: any verdict is a report. Returns false with `err` filled in when a run leaves none.
bool tg_run_series_measure(const struct tg_run_series *series, char reports[][PATH_MAX], struct tg_error *err);

#endif

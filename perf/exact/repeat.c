#include "perf/exact/repeat.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "perf/exact/run.h"

// Odd, so that every alignment of the stack that 16 bytes allow comes up, and then again.
#define PADDING_STEP 13u

static int by_value(const void *a, const void *b) {
  const int64_t left = *(const int64_t *)a;
  const int64_t right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

// Sorts the runs of a figure, returns their median and raises the section's allowance to what they ask for.
static bool settle(int64_t values[], int runs, double most, double *allowance, int64_t *out_median) {
  qsort(values, (size_t)runs, sizeof(values[0]), by_value);
  *out_median = values[runs / 2];
  const double spread = (double)(values[runs - 1] - values[0]) / (double)(*out_median > 0 ? *out_median : 1);
  if (2 * spread > *allowance) {
    *allowance = 2 * spread;
  }
  return *allowance <= most;
}

bool tg_exact_repeat(const char *measure, const char *scenarios, struct tg_exact_figures *figures,
                     struct tg_exact_recorded *out_recorded, struct tg_error *err) {
  static int64_t all[TG_SCENARIOS_MAX][TG_EXACT_METRICS][TG_EXACT_RUNS_MAX];
  const int runs = out_recorded->runs;
  assert(runs >= 1 && runs <= TG_EXACT_RUNS_MAX);
  for (int run = 0; run < runs; run++) {
    if (!tg_exact_instructions(measure, scenarios, (unsigned)run * PADDING_STEP, figures, err)) {
      return false;
    }
    for (size_t i = 0; i < figures->num_scenarios; i++) {
      for (int metric = TG_EXACT_ACCEPT; metric < (int)TG_EXACT_METRICS; metric++) {
        all[i][metric][run] = figures->values[i][metric];
      }
    }
  }
  memset(out_recorded->allowance, 0, sizeof(out_recorded->allowance));
  out_recorded->allowance[TG_EXACT_INSTRUCTIONS] = TG_EXACT_ALLOWANCE_MIN;
  out_recorded->allowance[TG_EXACT_DISPATCHED] = TG_EXACT_LIBRARY_ALLOWANCE;
  for (size_t i = 0; i < figures->num_scenarios; i++) {
    for (int metric = TG_EXACT_ACCEPT; metric < (int)TG_EXACT_METRICS; metric++) {
      int64_t *values = all[i][metric];
      const enum tg_exact_section section = tg_exact_section_of(metric);
      const double most = section == TG_EXACT_DISPATCHED ? TG_EXACT_LIBRARY_ALLOWANCE : TG_EXACT_ALLOWANCE_MAX;
      if (!settle(values, runs, most, &out_recorded->allowance[section], &figures->values[i][metric])) {
        tg_error_set(err,
                     "scenario %s: %s took %" PRId64 " to %" PRId64
                     " instructions in %d runs of the same: too far apart "
                     "to see a change of 0.5 %%; find out what differs (docs/exact.md)",
                     figures->scenarios[i], tg_exact_metric_name(metric), values[0], values[runs - 1], runs);
        return false;
      }
    }
  }
  return true;
}

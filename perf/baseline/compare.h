// Holding a run against recorded figures: the baseline of its host, and the history of its CPU model.
#ifndef TLSGATE_PERF_BASELINE_COMPARE_H
#define TLSGATE_PERF_BASELINE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/baseline/cpu_history.h"
#include "perf/baseline/host_baseline.h"
#include "perf/manifest/manifest.h"
#include "perf/report/report.h"

// What a comparison came to.
struct tg_compared {
  bool enforced;      // every row that the manifest has a baseline for was compared, or is disabled
  char because[400];  // one line with the remedy, if not enforced; else empty
  size_t passed;
  size_t failed;
  size_t undecided;  // of an unreadable run: all
  size_t disabled;   // bounds deliberately disabled
  size_t wide;       // compared rows that are allowed more than TG_ALLOWANCE_WIDE: weak
};

enum tg_baseline_found {
  TG_BASELINE_FOUND,
  TG_BASELINE_UNENFORCED,  // no label, no file of that label, or label and machine disagree
  TG_BASELINE_ERROR,       // there is a file, and it cannot be decoded; or the label cannot name a host
};

// tg_baseline_find looks for <folder>/<label>.json and checks that it was recorded on the machine of `here` with the
// same profile. `label` is the value of TLSGATE_PERF_HOST, NULL if it is not set. On TG_BASELINE_FOUND *out is to be
// released with tg_host_baseline_free; else it is NULL and `err` says why and what to do.
enum tg_baseline_found tg_baseline_find(struct tg_host_baseline **out, const char *folder, const char *label,
                                        const struct tg_environment *here, enum tg_profile profile,
                                        struct tg_error *err);

// tg_baseline_compare fills in the `baseline` of `num` rows, which must have their names, directions and values: a row
// passes if it is at most `allowance` worse than the recorded median. A run that is not readable decides nothing.
void tg_baseline_compare(struct tg_compared *out, struct tg_report_row *rows, size_t num,
                         const struct tg_manifest *manifest, const struct tg_host_baseline *baseline, bool readable);

// tg_history_compare fills in the `history` of `num` rows, of a machine of the history's CPU model: once the model has
// TG_HISTORY_MIN passing rows of the profile, a value passes if it is at most `factor` times worse than their median.
// Before that nothing is compared, and `because` says how many rows are missing. A metric that fewer than
// TG_HISTORY_MIN rows have is not compared.
void tg_history_compare(struct tg_compared *out, struct tg_report_row *rows, size_t num,
                        const struct tg_manifest *manifest, const struct tg_cpu_history *history, bool readable);

#endif

// How much worse than its recorded median a row may be: derived from what earlier runs show of its noise.
//
// Runs are grouped by revision and divided by their revision's median, so that what a change did to the speed is not
// taken for noise. Worse is larger for at_most metrics and smaller for at_least ones; a ratio is turned so that worse
// is always above 1. A run more than TG_EXCURSION x its revision's median is an excursion: something else happened
// there, which is listed and not absorbed. The others are believed:
//
//   allowance = worst believed ratio - 1 + TG_ALLOWANCE_MARGIN, rounded up to the next TG_ALLOWANCE_STEP, at least one
//   step
//
// With fewer than TG_BELIEVED_MIN believed runs, or with believed runs of fewer than TG_REVISIONS_MIN revisions,
// history says nothing, and the carried allowance stays. An allowance never narrows by itself.
//
// Why these figures: docs/baselines.md, "Allowances".
#ifndef TLSGATE_PERF_BASELINE_ALLOWANCE_H
#define TLSGATE_PERF_BASELINE_ALLOWANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/manifest/manifest.h"

#define TG_ALLOWANCE_WINDOW  40    // the newest runs that are looked at
#define TG_EXCURSION         1.5   // x the revision's median
#define TG_ALLOWANCE_MARGIN  0.03  // beyond the worst ratio seen
#define TG_ALLOWANCE_STEP    0.05
#define TG_ALLOWANCE_DEFAULT 0.05  // of a row that has none
#define TG_ALLOWANCE_WIDE    0.30  // a row that is allowed more is weak
#define TG_BELIEVED_MIN      6
#define TG_REVISIONS_MIN     2

// One run's value of a row.
struct tg_past {
  const char *revision;  // borrowed
  double value;          // finite and above 0
};

struct tg_allowance {
  bool known;        // enough history to derive one
  double derived;    // if known
  double allowance;  // in force from now on: the larger of `derived` and the carried one
  bool widened;      // above the carried one
  double worst;      // believed ratio; 1 or more, 0 without a believed run
  size_t worst_run;  // its index in the runs
  size_t believed;
  size_t revisions;                        // of the believed runs
  size_t excursions[TG_ALLOWANCE_WINDOW];  // indices of runs, in the order of the runs
  size_t num_excursions;
};

// tg_worse_ratio returns how many times `value` is worse than `reference`; below 1 if it is better. Both must be above
// 0.
double tg_worse_ratio(enum tg_direction direction, double value, double reference);

// tg_allowance_bound returns the worst value that is within `allowance` of `reference`.
double tg_allowance_bound(enum tg_direction direction, double reference, double allowance);

// tg_allowance_derive looks at `num` runs, newest first, of which it takes the first TG_ALLOWANCE_WINDOW.
void tg_allowance_derive(struct tg_allowance *out, enum tg_direction direction, const struct tg_past *runs, size_t num,
                         double carried);

#endif

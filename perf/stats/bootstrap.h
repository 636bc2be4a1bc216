// The interval of a centre, from nothing but the values: what other rounds like these would have said.
#ifndef TLSGATE_PERF_STATS_BOOTSTRAP_H
#define TLSGATE_PERF_STATS_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include "perf/stats/ratio.h"

// Fewer values than this say too little of their own spread: of four, a resample holds one of them alone once in 64.
#define TG_BOOTSTRAP_LEAST 5

// Resamples. The outermost quantile that is asked for with 5 values at 95 % is 0.1 %: two of them lie beyond it.
#define TG_BOOTSTRAP_RESAMPLES 2000

// tg_trimmed_mean returns the mean of what is left of `n` values, 1 <= n <= TG_VALUES_MAX, without the lowest and the
// highest fifth of them (rounded down): one bad round of five does not move it far.
double tg_trimmed_mean(const double *values, size_t n);

// tg_bootstrap_interval estimates the trimmed mean of `n` values, TG_BOOTSTRAP_LEAST <= n <= TG_VALUES_MAX, and its
// two-sided interval at `confidence` (0 < confidence < 1): the bias-corrected and accelerated bootstrap (BCa; Efron and
// Tibshirani, An Introduction to the Bootstrap, 1993, chapter 14; the acceleration is that of the jackknife).
// A bootstrap of few values is too narrow, by sqrt((n - 1) / n) and by taking a normal for Student's t; its quantiles
// are moved outwards by both (Hesterberg, What Teachers Should Know About the Bootstrap, 2015, "expanded percentile").
// For values that are the logs of paired ratios, the centre and the limits are logs as well.
// The same values and `seed` give the same interval. A single look, as for tg_log_interval.
void tg_bootstrap_interval(struct tg_interval *out, const double *values, size_t n, double confidence, uint64_t seed);

#endif

// Order statistics: the robust centre and spread of a few noisy samples.
#ifndef TLSGATE_PERF_STATS_QUANTILE_H
#define TLSGATE_PERF_STATS_QUANTILE_H

#include <stddef.h>

// The most values that the functions of perf/stats take at once: rounds of a run, or runs of a history.
#define TG_VALUES_MAX 1024

// tg_sort sorts `n` values in place, smallest first. No value may be NaN.
void tg_sort(double *values, size_t n);

// tg_quantile_sorted returns the quantile `p` (0 to 1) of `n` >= 1 values in ascending order: type 7 of Hyndman & Fan
// (1996), which interpolates between the order statistics around (n - 1) p. It is what R, NumPy and spreadsheets do,
// and the only definition of a quantile in this project.
double tg_quantile_sorted(const double *sorted, size_t n, double p);

// tg_quantile is tg_quantile_sorted for values in any order, which it leaves alone. 1 <= n <= TG_VALUES_MAX.
double tg_quantile(const double *values, size_t n, double p);

// tg_median returns the quantile 0.5.
double tg_median(const double *values, size_t n);

// tg_robust_scale returns 1.4826 times the median absolute deviation from the median: the standard deviation, were
// the values normal, which up to half of them being outliers cannot carry away. 0 for one value.
// The factor is 1 / (quantile 0.75 of the standard normal distribution).
double tg_robust_scale(const double *values, size_t n);

// tg_robust_scale_around is tg_robust_scale for values whose median, `centre`, is known already.
double tg_robust_scale_around(double centre, const double *values, size_t n);

#endif

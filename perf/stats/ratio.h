// The ratio of two series measured in the same rounds, with an interval: before and after, 64 connections over 8.
#ifndef TLSGATE_PERF_STATS_RATIO_H
#define TLSGATE_PERF_STATS_RATIO_H

#include <stddef.h>

struct tg_interval {
  double centre;
  double low;
  double high;
};

// tg_ratio_interval estimates the median of numerator / denominator, paired by round, and its two-sided interval at
// `confidence` (0 < confidence < 1), for 2 <= n <= TG_VALUES_MAX rounds of positive, finite values. It is Student's t
// on the logs of the ratios: what a slow round does to both cancels. Logs farther than 3 robust standard deviations
// from their median count as that far, and the standard error is widened by sqrt((1 + r) / (1 - r)) for rounds that
// correlate by r = 0.5. A single look: it is for reporting and for narrowing a decision of the sequential rule, and
// repeated looks at it alone would err more often than stated.
void tg_ratio_interval(struct tg_interval *out, const double *numerator, const double *denominator, size_t n,
                       double confidence);

// tg_log_interval is the same for `n` >= 2 logs; centre and limits are logs as well.
void tg_log_interval(struct tg_interval *out, const double *logs, size_t n, double confidence);

#endif

#include "perf/stats/ratio.h"

#include <assert.h>
#include <math.h>

#include "perf/stats/binomial.h"
#include "perf/stats/quantile.h"

void tg_log_interval(struct tg_interval *out, const double *logs, size_t n, double confidence) {
  assert(n >= 2 && n <= TG_VALUES_MAX);
  assert(confidence > 0 && confidence < 1);
  const double correlation = 0.5;
  const double median = tg_median(logs, n);
  const double limit = 3 * tg_robust_scale_around(median, logs, n);
  double kept[TG_VALUES_MAX];
  double mean = 0;
  for (size_t i = 0; i < n; i++) {
    const double deviation = logs[i] - median;
    // A scale of 0 says that most rounds agree to the last digit: then nothing tells an outlier from the rest.
    kept[i] = limit > 0 ? fmax(-limit, fmin(limit, deviation)) : deviation;
    mean += kept[i] / (double)n;
  }
  double variance = 0;
  for (size_t i = 0; i < n; i++) variance += (kept[i] - mean) * (kept[i] - mean) / (double)(n - 1);
  const double inflation = (1 + correlation) / (1 - correlation);
  const double error = sqrt(variance * inflation / (double)n);
  const double t = tg_student_t((double)(n - 1), (1 + confidence) / 2);
  *out = (struct tg_interval){
      .centre = median + mean, .low = median + mean - t * error, .high = median + mean + t * error};
}

void tg_ratio_interval(struct tg_interval *out, const double *numerator, const double *denominator, size_t n,
                       double confidence) {
  assert(n >= 2 && n <= TG_VALUES_MAX);
  double logs[TG_VALUES_MAX];
  for (size_t i = 0; i < n; i++) {
    assert(numerator[i] > 0 && isfinite(numerator[i]));
    assert(denominator[i] > 0 && isfinite(denominator[i]));
    logs[i] = log(numerator[i] / denominator[i]);
  }
  tg_log_interval(out, logs, n, confidence);
  out->centre = exp(out->centre);
  out->low = exp(out->low);
  out->high = exp(out->high);
}

#include "perf/stats/bootstrap.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "perf/stats/binomial.h"
#include "perf/stats/quantile.h"
#include "perf/stats/random.h"

static double normal_cdf(double z) {
  return erfc(-z / sqrt(2)) / 2;
}

// The z at which the distribution function, which rises with z, reaches p.
static double normal_quantile(double p) {
  double low = -9;
  double high = 9;
  for (int i = 0; i < 60; i++) {
    const double middle = (low + high) / 2;
    if (normal_cdf(middle) < p) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return (low + high) / 2;
}

static double trimmed_mean_sorted(const double *sorted, size_t n) {
  const size_t trim = n / 5;
  double sum = 0;
  for (size_t i = trim; i < n - trim; i++) sum += sorted[i];
  return sum / (double)(n - 2 * trim);
}

double tg_trimmed_mean(const double *values, size_t n) {
  assert(n >= 1 && n <= TG_VALUES_MAX);
  double sorted[TG_VALUES_MAX];
  memcpy(sorted, values, n * sizeof(*values));
  tg_sort(sorted, n);
  return trimmed_mean_sorted(sorted, n);
}

// The trimmed mean of a resample of `n` sorted values, each of which was drawn `drawn` times: no sorting is needed.
static double trimmed_mean_drawn(const double *sorted, const unsigned *drawn, size_t n) {
  const size_t trim = n / 5;
  double sum = 0;
  size_t seen = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t from = seen > trim ? seen : trim;
    seen += drawn[i];
    const size_t to = seen < n - trim ? seen : n - trim;
    if (to > from) sum += (double)(to - from) * sorted[i];
  }
  return sum / (double)(n - 2 * trim);
}

// How skewed the statistic is: from its values without each of the `n` in turn. 0 if they are all alike.
static double acceleration(const double *sorted, size_t n) {
  double without[TG_VALUES_MAX];
  double rest[TG_VALUES_MAX];
  double mean = 0;
  for (size_t i = 0; i < n; i++) {
    memcpy(rest, sorted, i * sizeof(*rest));
    memcpy(rest + i, sorted + i + 1, (n - i - 1) * sizeof(*rest));
    without[i] = trimmed_mean_sorted(rest, n - 1);
    mean += without[i] / (double)n;
  }
  double squares = 0;
  double cubes = 0;
  for (size_t i = 0; i < n; i++) {
    const double d = mean - without[i];
    squares += d * d;
    cubes += d * d * d;
  }
  return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

// Which quantile of the resampled statistics stands at `z` standard errors.
static double corrected_level(double z, double bias, double accelerated) {
  const double slope = 1 - accelerated * (bias + z);
  // Beyond the pole of the transformation, which so few values as five can reach, the outermost resample has to do.
  if (slope <= 0) return z < 0 ? 0 : 1;
  return normal_cdf(bias + (bias + z) / slope);
}

void tg_bootstrap_interval(struct tg_interval *out, const double *values, size_t n, double confidence, uint64_t seed) {
  assert(n >= TG_BOOTSTRAP_LEAST && n <= TG_VALUES_MAX);
  assert(confidence > 0 && confidence < 1);
  double sorted[TG_VALUES_MAX];
  memcpy(sorted, values, n * sizeof(*values));
  tg_sort(sorted, n);
  const double centre = trimmed_mean_sorted(sorted, n);

  struct tg_random random = {.state = seed};
  double statistics[TG_BOOTSTRAP_RESAMPLES];
  double below = 0;
  for (size_t b = 0; b < TG_BOOTSTRAP_RESAMPLES; b++) {
    unsigned drawn[TG_VALUES_MAX];
    memset(drawn, 0, n * sizeof(*drawn));
    for (size_t i = 0; i < n; i++) drawn[tg_random_below(&random, n)]++;
    statistics[b] = trimmed_mean_drawn(sorted, drawn, n);
    below += statistics[b] < centre ? 1 : statistics[b] == centre ? 0.5 : 0;
  }
  tg_sort(statistics, TG_BOOTSTRAP_RESAMPLES);

  const double least = 0.5 / TG_BOOTSTRAP_RESAMPLES;
  const double bias = normal_quantile(fmin(fmax(below / TG_BOOTSTRAP_RESAMPLES, least), 1 - least));
  const double accelerated = acceleration(sorted, n);
  const double z = sqrt((double)n / (double)(n - 1)) * tg_student_t((double)(n - 1), (1 + confidence) / 2);
  *out = (struct tg_interval){
      .centre = centre,
      .low = tg_quantile_sorted(statistics, TG_BOOTSTRAP_RESAMPLES, corrected_level(-z, bias, accelerated)),
      .high = tg_quantile_sorted(statistics, TG_BOOTSTRAP_RESAMPLES, corrected_level(z, bias, accelerated))};
}

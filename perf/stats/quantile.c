#include "perf/stats/quantile.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a;
  const double y = *(const double *)b;
  return (x > y) - (x < y);
}

// The rounds of a run are few, and sorted after each of them.
static void insertion_sort(double *values, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const double value = values[i];
    size_t at = i;
    for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
    values[at] = value;
  }
}

void tg_sort(double *values, size_t n) {
  if (n <= 64) {
    insertion_sort(values, n);
  } else {
    qsort(values, n, sizeof(*values), ascending);
  }
}

double tg_quantile_sorted(const double *sorted, size_t n, double p) {
  assert(n >= 1);
  assert(p >= 0 && p <= 1);
  const double at = (double)(n - 1) * p;
  const size_t below = (size_t)at;
  if (below >= n - 1) return sorted[n - 1];
  return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double tg_quantile(const double *values, size_t n, double p) {
  assert(n >= 1 && n <= TG_VALUES_MAX);
  double sorted[TG_VALUES_MAX];
  memcpy(sorted, values, n * sizeof(*values));
  tg_sort(sorted, n);
  return tg_quantile_sorted(sorted, n, p);
}

double tg_median(const double *values, size_t n) {
  return tg_quantile(values, n, 0.5);
}

double tg_robust_scale_around(double centre, const double *values, size_t n) {
  assert(n >= 1 && n <= TG_VALUES_MAX);
  double deviations[TG_VALUES_MAX];
  for (size_t i = 0; i < n; i++) deviations[i] = fabs(values[i] - centre);
  tg_sort(deviations, n);
  return 1.4826 * tg_quantile_sorted(deviations, n, 0.5);
}

double tg_robust_scale(const double *values, size_t n) {
  return tg_robust_scale_around(tg_median(values, n), values, n);
}

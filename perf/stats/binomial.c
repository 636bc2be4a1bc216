#include "perf/stats/binomial.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

static double away_from_zero(double x) {
  return fabs(x) < 1e-300 ? 1e-300 : x;
}

// Converges fast for x below (a + 1) / (a + b + 2), in a number of steps of the order of sqrt(max(a, b)).
static double continued_fraction(double a, double b, double x) {
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int m = 1; m <= 100000; m++) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    value *= d * c;
    if (fabs(d * c - 1) < 1e-15) break;
  }
  return value;
}

double tg_incomplete_beta(double a, double b, double x) {
  assert(a > 0 && b > 0);
  assert(x >= 0 && x <= 1);
  if (x == 0 || x == 1) return x;
  const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * continued_fraction(a, b, x) / a;
  return 1 - front * continued_fraction(b, a, 1 - x) / b;
}

// The x at which I_x(a, b), which rises with x, reaches `level`.
static double inverse_incomplete_beta(double a, double b, double level) {
  double low = 0;
  double high = 1;
  // Relative, because limits near 0 are as common as any; the number of steps is bounded all the same.
  for (int i = 0; i < 200 && high - low > 1e-13 * high; i++) {
    const double middle = (low + high) / 2;
    if (tg_incomplete_beta(a, b, middle) < level) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return (low + high) / 2;
}

double tg_binomial_upper(uint64_t hits, uint64_t trials, double error) {
  assert(trials >= 1 && hits <= trials);
  assert(error > 0 && error < 1);
  if (hits == trials) return 1;
  return inverse_incomplete_beta((double)hits + 1, (double)(trials - hits), 1 - error);
}

double tg_binomial_lower(uint64_t hits, uint64_t trials, double error) {
  assert(trials >= 1 && hits <= trials);
  assert(error > 0 && error < 1);
  if (hits == 0) return 0;
  return inverse_incomplete_beta((double)hits, (double)(trials - hits) + 1, error);
}

double tg_student_t(double freedom, double p) {
  assert(freedom > 0);
  assert(p > 0 && p < 1);
  if (p == 0.5) return 0;
  // P(|T| > t) = I_x(freedom / 2, 1 / 2) at x = freedom / (freedom + t^2): NIST DLMF 8.17 and Abramowitz &
  // Stegun 26.7.1.
  const double tail = p < 0.5 ? 2 * p : 2 * (1 - p);
  const double x = inverse_incomplete_beta(freedom / 2, 0.5, tail);
  const double t = sqrt(freedom * (1 - x) / x);
  return p < 0.5 ? -t : t;
}

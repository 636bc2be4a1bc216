// The bootstrap interval: what it covers of noise whose truth is known, and what one bad round does to it.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "perf/stats/bootstrap.h"
#include "perf/stats/noise.h"

#define CONFIDENCE 0.95

enum { TRIALS = TG_NOISE_SUITES / 20 };

static void the_trimmed_mean_drops_a_fifth_at_each_end(void **state) {
  (void)state;
  const double few[] = {1, 2, 3, 4};
  assert_true(fabs(tg_trimmed_mean(few, 4) - 2.5) < 1e-12);
  const double one_wild[] = {1000, 1, 2, 3, -7};
  assert_true(fabs(tg_trimmed_mean(one_wild, 5) - 2) < 1e-12);
}

static void equal_values_have_an_interval_of_no_width(void **state) {
  (void)state;
  const double values[] = {0.25, 0.25, 0.25, 0.25, 0.25, 0.25};
  struct tg_interval interval;
  tg_bootstrap_interval(&interval, values, 6, CONFIDENCE, 1);
  assert_true(interval.low == 0.25 && interval.centre == 0.25 && interval.high == 0.25);
}

static void the_seed_decides_and_nothing_else(void **state) {
  (void)state;
  const double values[] = {0.1, -0.3, 0.2, 0.05, 0.6, -0.1, 0.31, -0.22, 0.17, 0.02, 0.44, -0.35};
  struct tg_interval a;
  struct tg_interval b;
  struct tg_interval c;
  tg_bootstrap_interval(&a, values, 12, CONFIDENCE, 1);
  tg_bootstrap_interval(&b, values, 12, CONFIDENCE, 1);
  tg_bootstrap_interval(&c, values, 12, CONFIDENCE, 2);
  assert_true(a.low == b.low && a.high == b.high);
  assert_true(a.low != c.low || a.high != c.high);
  assert_true(fabs(a.low - c.low) < 0.05 && fabs(a.high - c.high) < 0.05);
  assert_true(a.low < a.centre && a.centre < a.high);
}

// Shares of intervals that lie beyond the truth, 0, on either side.
static void count_misses(size_t n, bool skewed, double *above, double *below) {
  struct tg_random random = {.state = TG_NOISE_SEED};
  size_t missed[2] = {0, 0};
  for (size_t trial = 0; trial < TRIALS; trial++) {
    double values[64];
    for (size_t i = 0; i < n; i++) {
      const double z = tg_random_normal(&random);
      // A log-normal number less its own trimmed mean, which is near enough to that of 100,000 of them.
      values[i] = skewed ? exp(0.5 * z) - 1.03 : z;
    }
    struct tg_interval interval;
    tg_bootstrap_interval(&interval, values, n, CONFIDENCE, trial);
    missed[0] += interval.low > 0;
    missed[1] += interval.high < 0;
  }
  *above = (double)missed[0] / TRIALS;
  *below = (double)missed[1] / TRIALS;
  printf("%2zu %s values: %.2f %% of the intervals lie above the truth, %.2f %% below (2.5 %% each are allowed for)\n",
         n, skewed ? "skewed" : "normal", 100 * *above, 100 * *below);
}

static void the_interval_covers_what_it_says(void **state) {
  (void)state;
  static const size_t sizes[] = {5, 8, 24};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    double above = 0;
    double below = 0;
    count_misses(sizes[i], false, &above, &below);
    // Three standard errors of the count itself.
    const double chance = 3 * sqrt(0.025 * 0.975 / TRIALS);
    assert_true(above <= 0.03 + chance && below <= 0.03 + chance);
    // An interval that always covers would be too wide to decide anything.
    assert_true(above + below >= 0.02 - chance);
    count_misses(sizes[i], true, &above, &below);
    assert_true(above <= 0.05 + chance && below <= 0.06 + chance);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_trimmed_mean_drops_a_fifth_at_each_end),
      cmocka_unit_test(equal_values_have_an_interval_of_no_width),
      cmocka_unit_test(the_seed_decides_and_nothing_else),
      cmocka_unit_test(the_interval_covers_what_it_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

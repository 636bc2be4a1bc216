// Order statistics, exact limits, intervals, and what the sequential rule does with samples written by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf/stats/binomial.h"
#include "perf/stats/noise.h"
#include "perf/stats/quantile.h"
#include "perf/stats/ratio.h"
#include "perf/stats/sequential.h"

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static void quantiles_interpolate_as_type_7(void **state) {
  (void)state;
  const double values[] = {4, 1, 3, 2};
  assert_near(tg_quantile(values, 4, 0), 1, 0);
  assert_near(tg_quantile(values, 4, 0.25), 1.75, 1e-12);
  assert_near(tg_quantile(values, 4, 0.9), 3.7, 1e-12);
  assert_near(tg_quantile(values, 4, 1), 4, 0);
  assert_near(tg_median(values, 4), 2.5, 1e-12);
  assert_near(tg_median(values, 1), 4, 0);
  assert_near(values[0], 4, 0);
}

static void sorting_few_and_many_gives_the_same_order(void **state) {
  (void)state;
  struct tg_random random = {.state = 7};
  for (size_t n = 1; n <= 200; n += 21) {
    double values[200];
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += values[i] = tg_random_uniform(&random);
    tg_sort(values, n);
    for (size_t i = 1; i < n; i++) assert_true(values[i - 1] <= values[i]);
    for (size_t i = 0; i < n; i++) sum -= values[i];
    assert_near(sum, 0, 1e-9);
  }
}

static void the_robust_scale_is_the_deviation_of_normal_values_and_ignores_outliers(void **state) {
  (void)state;
  struct tg_random random = {.state = 1};
  double values[TG_VALUES_MAX];
  for (size_t i = 0; i < TG_VALUES_MAX; i++) values[i] = 10 + 2 * tg_random_normal(&random);
  assert_near(tg_robust_scale(values, TG_VALUES_MAX), 2, 0.15);
  for (size_t i = 0; i < TG_VALUES_MAX / 10; i++) values[i] = 1e9;
  assert_near(tg_robust_scale(values, TG_VALUES_MAX), 2, 0.6);
  assert_near(tg_robust_scale(values, 1), 0, 0);
}

// Values of R's binom.test(), pbeta() and qt().
static void limits_and_quantiles_agree_with_published_values(void **state) {
  (void)state;
  assert_near(tg_binomial_lower(5, 100, 0.025), 0.01643186, 1e-7);
  assert_near(tg_binomial_upper(5, 100, 0.025), 0.11283491, 1e-7);
  assert_near(tg_binomial_lower(8, 10, 0.025), 0.4439045, 1e-7);
  assert_near(tg_binomial_upper(8, 10, 0.025), 0.9747893, 1e-7);
  assert_near(tg_binomial_upper(0, 400, 0.001), 1 - pow(0.001, 1.0 / 400), 1e-12);
  assert_near(tg_binomial_lower(400, 400, 0.001), pow(0.001, 1.0 / 400), 1e-12);
  assert_near(tg_binomial_lower(0, 10, 0.01), 0, 0);
  assert_near(tg_binomial_upper(10, 10, 0.01), 1, 0);
  assert_near(tg_incomplete_beta(2, 3, 0.4), 0.5248, 1e-12);
  assert_near(tg_student_t(4, 0.975), 2.776445, 1e-6);
  assert_near(tg_student_t(1, 0.975), 12.7062, 1e-4);
  assert_near(tg_student_t(10, 0.05), -1.812461, 1e-6);
  assert_near(tg_student_t(7, 0.5), 0, 0);
}

static double tail(uint64_t hits, uint64_t trials, double p) {
  double sum = 0;
  for (uint64_t k = 0; k <= hits; k++) {
    sum += exp(lgamma((double)trials + 1) - lgamma((double)k + 1) - lgamma((double)(trials - k) + 1) +
               (double)k * log(p) + (double)(trials - k) * log1p(-p));
  }
  return sum;
}

static void an_upper_limit_is_where_so_few_hits_have_the_error_as_probability(void **state) {
  (void)state;
  const uint64_t hits[] = {0, 1, 3, 17, 150};
  const uint64_t trials[] = {5, 400, 50, 2000, 10000};
  for (size_t i = 0; i < 5; i++) {
    for (int digits = 1; digits <= 9; digits++) {
      const double error = pow(10, -digits);
      const double p = tg_binomial_upper(hits[i], trials[i], error);
      assert_near(tail(hits[i], trials[i], p) / error, 1, 1e-5);
      if (hits[i] == 0) continue;
      const double low = tg_binomial_lower(hits[i], trials[i], error);
      assert_near(1 - tail(hits[i] - 1, trials[i], low), error, 1e-8);
    }
  }
}

static void a_paired_ratio_ignores_what_its_rounds_share(void **state) {
  (void)state;
  struct tg_random random = {.state = 3};
  double a[24];
  double b[24];
  for (size_t i = 0; i < 24; i++) {
    const double machine = exp(0.5 * tg_random_normal(&random));
    a[i] = 3 * machine * exp(0.02 * tg_random_normal(&random));
    b[i] = machine * exp(0.02 * tg_random_normal(&random));
  }
  struct tg_interval interval;
  tg_ratio_interval(&interval, a, b, 24, 0.95);
  assert_true(interval.low < 3 && 3 < interval.high);
  assert_true(interval.high / interval.low < 1.08);
  a[5] *= 20;
  tg_ratio_interval(&interval, a, b, 24, 0.95);
  assert_true(interval.low < 3 && 3 < interval.high);
  assert_true(interval.high / interval.low < 1.12);
}

static void an_interval_covers_correlated_rounds_as_often_as_stated(void **state) {
  (void)state;
  enum { RUNS = 2000, N = 16 };
  struct tg_random random = {.state = TG_NOISE_SEED};
  size_t covered = 0;
  for (size_t run = 0; run < RUNS; run++) {
    struct tg_noise noise = {.correlation = 0.5};
    double logs[N];
    for (size_t i = 0; i < N; i++) logs[i] = 0.3 * tg_noise_next(&noise, &random);
    struct tg_interval interval;
    tg_log_interval(&interval, logs, N, 0.95);
    covered += interval.low <= 0 && 0 <= interval.high;
  }
  const double coverage = (double)covered / RUNS;
  assert_true(coverage > 0.92);
  assert_true(coverage < 0.985);
}

static enum tg_decision judge(const double *distances, size_t n) {
  struct tg_rule rule;
  struct tg_judgement judged;
  tg_rule_for_suite(&rule, 16);
  tg_sequential_judge(&judged, &rule, distances, n);
  return judged.decision;
}

static void clear_gates_are_decided_in_few_rounds_but_not_fewer_than_the_least(void **state) {
  (void)state;
  const double inside[] = {-4, -4.1, -3.9, -4, -4};
  const double outside[] = {2.1, 2, 2.2, 2.1, 2, 2};
  assert_int_equal(judge(inside, 0), TG_DECISION_UNDECIDED);
  assert_int_equal(judge(inside, 4), TG_DECISION_UNDECIDED);
  assert_int_equal(judge(inside, 5), TG_DECISION_PASS);
  assert_int_equal(judge(outside, 4), TG_DECISION_UNDECIDED);
  assert_int_equal(judge(outside, 6), TG_DECISION_FAIL);
}

static void an_outlier_is_one_vote_however_far(void **state) {
  (void)state;
  double distances[] = {-0.5, 50, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5};
  assert_int_equal(judge(distances, 10), TG_DECISION_PASS);
  for (size_t i = 0; i < 10; i++) distances[i] = -distances[i];
  assert_int_equal(judge(distances, 10), TG_DECISION_FAIL);
}

static void at_the_bound_nothing_fails_and_outside_it_nothing_passes(void **state) {
  (void)state;
  double distances[40];
  for (size_t i = 0; i < 40; i++) distances[i] = 0.02;
  assert_int_equal(judge(distances, 40), TG_DECISION_UNDECIDED);
  for (size_t i = 0; i < 40; i++) distances[i] = -0.02;
  assert_int_equal(judge(distances, 40), TG_DECISION_PASS);
}

static void noise_seen_counts_when_it_exceeds_the_noise_declared(void **state) {
  (void)state;
  const double calm[] = {-0.5, -0.4, -0.5, -0.6, -0.5, -0.5};
  const double wild[] = {-2.5, 1.4, -1.5, 0.6, -2.5, 0.5};
  assert_int_equal(judge(calm, 6), TG_DECISION_PASS);
  assert_int_equal(judge(wild, 6), TG_DECISION_UNDECIDED);
}

static void distances_are_positive_outside(void **state) {
  (void)state;
  assert_near(tg_distance_at_most(10, 5), log(2), 1e-12);
  assert_near(tg_distance_at_least(10, 5), -log(2), 1e-12);
}

static enum tg_decision judge_fraction(uint64_t hits, uint64_t trials, size_t n) {
  const struct tg_fraction_rule rule = {
      .bound = 0.02, .false_pass = 0.001, .false_fail = 1e-5, .min_trials = 400, .min_rounds = 2};
  uint64_t all_hits[64];
  uint64_t all_trials[64];
  for (size_t i = 0; i < n; i++) {
    all_hits[i] = hits;
    all_trials[i] = trials;
  }
  struct tg_fraction_judgement judged;
  tg_fraction_judge(&judged, &rule, all_hits, all_trials, n);
  assert_int_equal(judged.hits, hits * n);
  assert_true(n == 0 || judged.upper >= (double)hits / (double)trials);
  return judged.decision;
}

static void a_fraction_passes_from_400_trials_without_a_hit(void **state) {
  (void)state;
  assert_int_equal(judge_fraction(0, 200, 0), TG_DECISION_UNDECIDED);
  assert_int_equal(judge_fraction(0, 200, 1), TG_DECISION_UNDECIDED);
  assert_int_equal(judge_fraction(0, 199, 2), TG_DECISION_UNDECIDED);
  assert_int_equal(judge_fraction(0, 200, 2), TG_DECISION_PASS);
  assert_int_equal(judge_fraction(4, 200, 2), TG_DECISION_UNDECIDED);
  assert_int_equal(judge_fraction(4, 200, 60), TG_DECISION_UNDECIDED);
}

static void a_fraction_fails_as_soon_as_chance_is_out_of_the_question(void **state) {
  (void)state;
  assert_int_equal(judge_fraction(50, 50, 1), TG_DECISION_UNDECIDED);
  assert_int_equal(judge_fraction(50, 50, 2), TG_DECISION_FAIL);
  assert_int_equal(judge_fraction(20, 50, 2), TG_DECISION_FAIL);
  assert_int_equal(judge_fraction(8, 200, 12), TG_DECISION_FAIL);
}

// Counts how often a fraction at `p` passes or fails in up to 24 rounds of 200 trials, looked at after each.
static void count_fractions(double p, size_t runs, size_t *passes, size_t *fails) {
  const struct tg_fraction_rule rule = {
      .bound = 0.02, .false_pass = 0.001, .false_fail = 1e-5, .min_trials = 400, .min_rounds = 2};
  struct tg_random random = {.state = TG_NOISE_SEED};
  *passes = 0;
  *fails = 0;
  for (size_t run = 0; run < runs; run++) {
    uint64_t hits[24] = {0};
    uint64_t trials[24];
    struct tg_fraction_judgement judged = {.decision = TG_DECISION_UNDECIDED};
    for (size_t n = 0; n < 24 && judged.decision == TG_DECISION_UNDECIDED; n++) {
      trials[n] = 200;
      for (size_t i = 0; i < 200; i++) hits[n] += tg_random_uniform(&random) < p;
      tg_fraction_judge(&judged, &rule, hits, trials, n + 1);
    }
    *passes += judged.decision == TG_DECISION_PASS;
    *fails += judged.decision == TG_DECISION_FAIL;
  }
}

static void a_fraction_hardly_ever_errs_over_all_its_looks(void **state) {
  (void)state;
  size_t passes = 0;
  size_t fails = 0;
  count_fractions(0.02, 1000, &passes, &fails);
  assert_true(passes <= 4);
  count_fractions(0.02 / 1.5, 1000, &passes, &fails);
  assert_int_equal(fails, 0);
  count_fractions(0.04, 1000, &passes, &fails);
  assert_true(fails >= 950);
  assert_int_equal(passes, 0);
  count_fractions(0.001, 1000, &passes, &fails);
  assert_true(passes >= 990);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantiles_interpolate_as_type_7),
      cmocka_unit_test(sorting_few_and_many_gives_the_same_order),
      cmocka_unit_test(the_robust_scale_is_the_deviation_of_normal_values_and_ignores_outliers),
      cmocka_unit_test(limits_and_quantiles_agree_with_published_values),
      cmocka_unit_test(an_upper_limit_is_where_so_few_hits_have_the_error_as_probability),
      cmocka_unit_test(a_paired_ratio_ignores_what_its_rounds_share),
      cmocka_unit_test(an_interval_covers_correlated_rounds_as_often_as_stated),
      cmocka_unit_test(clear_gates_are_decided_in_few_rounds_but_not_fewer_than_the_least),
      cmocka_unit_test(an_outlier_is_one_vote_however_far),
      cmocka_unit_test(at_the_bound_nothing_fails_and_outside_it_nothing_passes),
      cmocka_unit_test(noise_seen_counts_when_it_exceeds_the_noise_declared),
      cmocka_unit_test(distances_are_positive_outside),
      cmocka_unit_test(a_fraction_passes_from_400_trials_without_a_hit),
      cmocka_unit_test(a_fraction_fails_as_soon_as_chance_is_out_of_the_question),
      cmocka_unit_test(a_fraction_hardly_ever_errs_over_all_its_looks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// The error rates that sequential.h claims for the sequential rule, counted over synthetic suites. How the rule fares
// with the shipped manifest is counted by //perf/verdict:suite_montecarlo_test.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "perf/stats/noise.h"
#include "perf/stats/sequential.h"

enum { GATES = 24, ROUNDS = 24, FEWER_SUITES = TG_NOISE_SUITES / 5 };

struct scenario {
  const char *what;
  double first;        // true distance of the first gate; the others are 1.5 x inside
  double deviation;    // log-standard deviation of one sample
  double correlation;  // lag 1
  double shared;       // part of the variance that is common to all gates of a round
  double outliers;     // probability that a sample is 3 x off
  size_t rounds;       // budget
};

// The scenario of the claims, with the first gate's true value at a distance of `first`.
static struct scenario claimed(const char *what, double first) {
  return (struct scenario){
      .what = what, .first = first, .deviation = 0.3, .correlation = 0.5, .outliers = 0.01, .rounds = ROUNDS};
}

struct rates {
  double pass, fail, undecided;   // of whole suites
  double first_pass, first_fail;  // of the first gate
  double rounds;                  // mean
};

// An outlier counts against the truth: a healthy gate looks worse, a broken one better.
static double sample(const struct scenario *s, double truth, double noise, struct tg_random *random) {
  const double distance = truth + s->deviation * noise;
  if (tg_random_uniform(random) >= s->outliers) return distance;
  return truth <= 0 ? distance + log(3) : distance - log(3);
}

// Runs one suite as a run does: until all gates are decided or the budget is spent.
static void run_suite(const struct scenario *s, struct tg_random *random, struct rates *rates) {
  struct tg_rule rule;
  tg_rule_for_suite(&rule, GATES);
  struct tg_noise common = {.correlation = s->correlation};
  struct tg_noise own[GATES];
  for (size_t g = 0; g < GATES; g++) own[g] = (struct tg_noise){.correlation = s->correlation};
  double distances[GATES][ROUNDS];
  struct tg_judgement judged[GATES];
  size_t failed = 0;
  size_t undecided = GATES;
  size_t n = 0;
  while (n < s->rounds && undecided > 0) {
    const double shared = s->shared > 0 ? sqrt(s->shared) * tg_noise_next(&common, random) : 0;
    failed = 0;
    undecided = 0;
    for (size_t g = 0; g < GATES; g++) {
      const double noise = shared + sqrt(1 - s->shared) * tg_noise_next(&own[g], random);
      distances[g][n] = sample(s, g == 0 ? s->first : -log(1.5), noise, random);
      tg_sequential_judge(&judged[g], &rule, distances[g], n + 1);
      failed += judged[g].decision == TG_DECISION_FAIL;
      undecided += judged[g].decision == TG_DECISION_UNDECIDED;
    }
    n++;
  }
  rates->fail += failed > 0;
  rates->undecided += failed == 0 && undecided > 0;
  rates->pass += failed == 0 && undecided == 0;
  rates->first_fail += judged[0].decision == TG_DECISION_FAIL;
  rates->first_pass += judged[0].decision == TG_DECISION_PASS;
  rates->rounds += (double)n;
}

static struct rates run(const struct scenario *s, size_t suites) {
  struct tg_random random = {.state = TG_NOISE_SEED};
  struct rates sum = {0};
  for (size_t i = 0; i < suites; i++) run_suite(s, &random, &sum);
  const double n = (double)suites;
  const struct rates rates = {sum.pass / n,       sum.fail / n,       sum.undecided / n,
                              sum.first_pass / n, sum.first_fail / n, sum.rounds / n};
  printf(
      "%-40s suites: %7.3f %% pass, %7.3f %% fail, %7.3f %% undecided; first gate: %6.2f %% pass, %6.2f %% fail; "
      "%4.1f rounds\n",
      s->what, 100 * rates.pass, 100 * rates.fail, 100 * rates.undecided, 100 * rates.first_pass,
      100 * rates.first_fail, rates.rounds);
  return rates;
}

static void healthy_suites_hardly_ever_fail(void **state) {
  (void)state;
  struct scenario s = claimed("all 1.5 x inside", -log(1.5));
  struct rates rates = run(&s, TG_NOISE_SUITES);
  assert_true(rates.fail <= 0.001);
  assert_true(rates.undecided <= 0.05);
  s = claimed("the same, half of the noise shared", -log(1.5));
  s.shared = 0.5;
  rates = run(&s, TG_NOISE_SUITES);
  assert_true(rates.fail <= 0.001);
  assert_true(rates.undecided <= 0.05);
}

static void broken_gates_fail(void **state) {
  (void)state;
  const struct scenario s = claimed("one 2 x outside", log(2));
  const struct rates rates = run(&s, TG_NOISE_SUITES);
  assert_true(rates.first_fail >= 0.95);
  assert_true(rates.undecided <= 0.05);
  assert_true(rates.first_pass <= 0.005);
}

// Nothing is claimed inside the indifference zone but that it is one: the more outside, the fewer pass.
static void between_the_hypotheses_the_rule_is_monotonous(void **state) {
  (void)state;
  const struct scenario s[] = {claimed("one 1.2 x inside", -log(1.2)), claimed("one at its bound", 0),
                               claimed("one 1.2 x outside", log(1.2)), claimed("one 1.5 x outside", log(1.5))};
  struct rates last = {.first_pass = 1, .first_fail = 0};
  for (size_t i = 0; i < sizeof(s) / sizeof(s[0]); i++) {
    const struct rates rates = run(&s[i], FEWER_SUITES);
    assert_true(rates.first_pass <= last.first_pass);
    assert_true(rates.first_fail >= last.first_fail);
    // The guard: the median of the rounds must be inside, too.
    if (s[i].first > 0) assert_true(rates.first_pass < 0.22);
    last = rates;
  }
  assert_true(last.first_fail > 0.8);
  assert_true(last.first_pass < 0.02);
}

// More noise than declared costs decisions, not wrong ones.
static void noise_beyond_the_declared_leaves_suites_undecided(void **state) {
  (void)state;
  struct scenario s = claimed("all 1.5 x inside, 60 % noise", -log(1.5));
  s.deviation = 0.6;
  const struct rates rates = run(&s, FEWER_SUITES);
  assert_true(rates.fail <= 0.005);
  assert_true(rates.undecided > 0.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(healthy_suites_hardly_ever_fail),
      cmocka_unit_test(broken_gates_fail),
      cmocka_unit_test(between_the_hypotheses_the_rule_is_monotonous),
      cmocka_unit_test(noise_beyond_the_declared_leaves_suites_undecided),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

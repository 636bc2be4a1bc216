// How often a comparison is wrong on real noise: rounds are drawn from a recorded A/A set and judged by the code that
// judges runs. usage: error_rates_test testdata/aa.json
//
// A recorded round of the server against itself is as likely the one way round as the other, so each draw may swap its
// sides: the truth of what is drawn is exactly 1, and its noise the machine's. A regression is put on the candidate's
// firm handshake metrics afterwards, as burnt CPU would.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "perf/compare/judge.h"
#include "perf/stats/noise.h"

#define ALLOW 0.05

enum { TRIALS = TG_NOISE_SUITES / 20 };

static struct tg_compare_set recorded;
static size_t num_recorded;

// What was drawn: the round, and whether its sides were swapped.
struct draw {
  size_t round;
  bool swapped;
};

// All metrics of a drawn round come together: they were measured in the same seconds.
static void draw_set(struct tg_compare_set *out, size_t rounds, double worse, struct tg_random *random) {
  struct draw draws[TG_COMPARE_ROUNDS_MAX];
  for (size_t r = 0; r < rounds; r++) {
    draws[r].round = tg_random_below(random, num_recorded);
    draws[r].swapped = tg_random_uniform(random) < 0.5;
  }
  tg_compare_set_init(out);
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    const struct tg_compare_metric *metric = &tg_compare_metrics[i];
    const bool regressed = strcmp(metric->name, "full_handshake_cpu_us") == 0;
    for (size_t run = 0; run < 2 * rounds; run++) {
      const struct draw *draw = &draws[run / 2];
      for (int side = 0; side < TG_COMPARE_SIDES; side++) {
        const int from = draw->swapped ? 1 - side : side;
        const struct tg_series *series = tg_samples_find(recorded.sides[from], metric->name);
        const struct tg_sample *sample = &series->samples[2 * draw->round + run % 2];
        const double factor = regressed && side == TG_CANDIDATE ? worse : 1;
        assert_true(
            tg_samples_add(out->sides[side], metric->name, run, sample->value * factor, sample->client_bound, NULL));
      }
    }
  }
}

struct rates {
  double suspected;  // by the first set, in any metric
  double fail, pass, undecided;
  double handshake_fail, handshake_pass;  // of full_handshake_cpu_us alone
};

static struct rates count(const char *what, size_t rounds, double worse, double allow) {
  struct tg_random random = {.state = TG_NOISE_SEED};
  struct rates rates = {0};
  const double share = 1.0 / TRIALS;
  for (size_t trial = 0; trial < TRIALS; trial++) {
    struct tg_compare_set sets[TG_COMPARE_SETS];
    struct tg_ab_judgement comparison;
    draw_set(&sets[0], rounds, worse, &random);
    assert_true(tg_compare_judge(&comparison, &sets[0], NULL, allow, NULL));
    if (comparison.suspected > 0) {
      rates.suspected += share;
      draw_set(&sets[1], rounds, worse, &random);
      assert_true(tg_compare_judge(&comparison, &sets[0], &sets[1], allow, NULL));
      tg_compare_set_free(&sets[1]);
    }
    tg_compare_set_free(&sets[0]);
    rates.fail += (comparison.status == TG_STATUS_FAIL) * share;
    rates.pass += (comparison.status == TG_STATUS_PASS) * share;
    rates.undecided += (comparison.status == TG_STATUS_UNDECIDED) * share;
    rates.handshake_fail += (comparison.rows[0].status == TG_STATUS_FAIL) * share;
    rates.handshake_pass += (comparison.rows[0].status == TG_STATUS_PASS) * share;
  }
  printf(
      "%-6s %2zu rounds, %2.0f %% allowed: suspected %6.2f %%, failed %6.2f %%, passed %6.2f %%, undecided %6.2f %%; "
      "full handshake CPU alone: failed %6.2f %%, passed %6.2f %%\n",
      what, rounds, 100 * allow, 100 * rates.suspected, 100 * rates.fail, 100 * rates.pass, 100 * rates.undecided,
      100 * rates.handshake_fail, 100 * rates.handshake_pass);
  return rates;
}

static bool load(const char *file) {
  struct tg_error err;
  if (!tg_compare_record_load(&recorded, file, &err)) {
    fprintf(stderr, "%s\n", err.text);
    return false;
  }
  num_recorded = tg_compare_set_rounds(&recorded, tg_compare_metrics[0].name);
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    if (tg_compare_set_rounds(&recorded, tg_compare_metrics[i].name) != num_recorded) {
      fprintf(stderr, "%s: %s has not as many rounds as the others: record anew (docs/gates.md)\n", file,
              tg_compare_metrics[i].name);
      return false;
    }
  }
  printf("%zu recorded rounds\n", num_recorded);
  return true;
}

// Three standard errors of a count of TRIALS, on top of what is claimed.
static double at_most(double rate) {
  return rate + 3 * sqrt(rate * (1 - rate) / TRIALS);
}

static void a_server_hardly_ever_fails_against_itself(void **state) {
  (void)state;
  const struct rates rates = count("A/A", 8, 1.0, ALLOW);
  assert_true(rates.suspected <= at_most(0.02));
  assert_true(rates.fail <= at_most(0.001));
}

// At the bound itself an interval errs to either side as often as it states, 2.5 %, and a failure must do so twice.
static void at_what_is_allowed_hardly_anything_is_decided(void **state) {
  (void)state;
  const struct rates rates = count("+5 %", 8, 1.05, ALLOW);
  assert_true(rates.handshake_fail <= at_most(0.005));
  assert_true(rates.handshake_pass <= at_most(0.03));
}

static void more_than_is_allowed_does_not_pass_and_far_more_fails(void **state) {
  (void)state;
  const struct rates ten = count("+10 %", 8, 1.1, ALLOW);
  const struct rates twenty = count("+20 %", 8, 1.2, ALLOW);
  assert_true(ten.handshake_pass <= at_most(0.01));
  assert_true(twenty.handshake_pass <= at_most(0.001));
  assert_true(twenty.handshake_fail >= ten.handshake_fail);
  assert_true(twenty.handshake_fail >= 1 - at_most(0.25));
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: error_rates_test RECORD\n");
    return 2;
  }
  if (!load(argv[1])) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_server_hardly_ever_fails_against_itself),
      cmocka_unit_test(at_what_is_allowed_hardly_anything_is_decided),
      cmocka_unit_test(more_than_is_allowed_does_not_pass_and_far_more_fails),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tg_compare_set_free(&recorded);
  return failed;
}

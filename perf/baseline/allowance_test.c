// From the noise of earlier runs to an allowance, rule by rule.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf/baseline/allowance.h"

static struct tg_allowance derive(enum tg_direction direction, const struct tg_past *runs, size_t num, double carried) {
  struct tg_allowance out;
  tg_allowance_derive(&out, direction, runs, num, carried);
  return out;
}

// Six runs over two revisions, whose medians are 100 and 200; the worst is `worst` x its revision's.
static void six(struct tg_past out[6], double worst) {
  const struct tg_past runs[6] = {{"a", 100}, {"a", 100}, {"a", 100}, {"b", 200}, {"b", 200}, {"b", 200 * worst}};
  for (size_t i = 0; i < 6; i++) {
    out[i] = runs[i];
  }
}

static void test_worst_believed_ratio_plus_margin_is_rounded_up_to_the_next_step(void **state) {
  (void)state;
  static const struct {
    double worst;
    double allowance;
  } cases[] = {{1.0, 0.05},   {1.019, 0.05}, {1.02, 0.05}, {1.0201, 0.10}, {1.07, 0.10},
               {1.071, 0.15}, {1.12, 0.15},  {1.32, 0.35}, {1.47, 0.50},   {1.5, 0.55}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tg_past runs[6];
    six(runs, cases[i].worst);
    const struct tg_allowance found = derive(TG_AT_MOST, runs, 6, TG_ALLOWANCE_DEFAULT);
    assert_true(found.known);
    // Exactly: it is what 0.15 in a file reads back as.
    assert_true(found.derived == cases[i].allowance);
    assert_int_equal(found.widened, cases[i].allowance > 0.05);
  }
}

static void test_a_change_of_speed_between_revisions_is_no_noise(void **state) {
  (void)state;
  struct tg_past runs[6];
  six(runs, 1.0);
  assert_true(derive(TG_AT_MOST, runs, 6, 0.05).worst == 1.0);
}

static void test_worse_is_smaller_for_at_least(void **state) {
  (void)state;
  assert_true(tg_worse_ratio(TG_AT_MOST, 110, 100) == 1.1);
  assert_true(tg_worse_ratio(TG_AT_LEAST, 100, 110) == 1.1);
  assert_true(tg_allowance_bound(TG_AT_MOST, 100, 0.25) == 125);
  assert_true(tg_allowance_bound(TG_AT_LEAST, 100, 0.25) == 80);
  // 200 / 1.12 is 12 % worse; 200 x 1.12 is better and widens nothing.
  struct tg_past runs[6];
  six(runs, 1 / 1.12);
  assert_true(derive(TG_AT_LEAST, runs, 6, 0.05).derived == 0.15);
  six(runs, 1.12);
  assert_true(derive(TG_AT_LEAST, runs, 6, 0.05).derived == 0.05);
}

static void test_an_excursion_is_listed_and_not_absorbed(void **state) {
  (void)state;
  const struct tg_past runs[] = {{"a", 100}, {"b", 200}, {"a", 100}, {"b", 301}, {"a", 104}, {"b", 200}, {"a", 100}};
  const struct tg_allowance found = derive(TG_AT_MOST, runs, 7, 0.05);
  assert_int_equal(found.num_excursions, 1);
  assert_int_equal(found.excursions[0], 3);
  assert_int_equal(found.believed, 6);
  assert_int_equal(found.worst_run, 4);
  assert_true(found.derived == 0.10);
}

static void test_an_excursion_of_an_at_least_metric_is_a_low_value(void **state) {
  (void)state;
  const struct tg_past runs[] = {{"a", 100}, {"b", 200}, {"a", 100}, {"b", 130}, {"a", 160}, {"b", 200}, {"a", 100}};
  const struct tg_allowance found = derive(TG_AT_LEAST, runs, 7, 0.05);
  assert_int_equal(found.num_excursions, 1);
  assert_int_equal(found.excursions[0], 3);
}

static void test_fewer_than_six_believed_runs_leave_the_carried_one(void **state) {
  (void)state;
  struct tg_past runs[6];
  six(runs, 1.2);
  const struct tg_allowance found = derive(TG_AT_MOST, runs + 1, 5, 0.15);
  assert_false(found.known);
  assert_true(found.allowance == 0.15);
  assert_false(found.widened);
  // Six runs of which one is an excursion are five believed ones.
  six(runs, 1.6);
  assert_false(derive(TG_AT_MOST, runs, 6, 0.15).known);
}

static void test_one_revision_leaves_the_carried_one(void **state) {
  (void)state;
  const struct tg_past runs[] = {{"a", 100}, {"a", 120}, {"a", 100}, {"a", 100}, {"a", 100}, {"a", 100}, {"a", 100}};
  assert_false(derive(TG_AT_MOST, runs, 7, 0.05).known);
  assert_true(derive(TG_AT_MOST, runs, 7, 0.05).allowance == 0.05);
}

static void test_an_allowance_never_narrows_by_itself(void **state) {
  (void)state;
  struct tg_past runs[6];
  six(runs, 1.0);
  const struct tg_allowance found = derive(TG_AT_MOST, runs, 6, 0.20);
  assert_true(found.known);
  assert_true(found.derived == 0.05);
  assert_true(found.allowance == 0.20);
  assert_false(found.widened);
}

static void test_only_the_newest_forty_runs_count(void **state) {
  (void)state;
  struct tg_past runs[TG_ALLOWANCE_WINDOW + 1];
  for (size_t i = 0; i < TG_ALLOWANCE_WINDOW + 1; i++) {
    runs[i] = (struct tg_past){i % 2 == 0 ? "a" : "b", 100};
  }
  runs[TG_ALLOWANCE_WINDOW].value = 140;  // the oldest
  assert_true(derive(TG_AT_MOST, runs, TG_ALLOWANCE_WINDOW + 1, 0.05).derived == 0.05);
  runs[TG_ALLOWANCE_WINDOW - 1].value = 140;
  assert_true(derive(TG_AT_MOST, runs, TG_ALLOWANCE_WINDOW + 1, 0.05).derived == 0.45);
}

static void test_no_history_is_no_allowance(void **state) {
  (void)state;
  const struct tg_allowance found = derive(TG_AT_MOST, NULL, 0, 0.10);
  assert_false(found.known);
  assert_true(found.allowance == 0.10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_worst_believed_ratio_plus_margin_is_rounded_up_to_the_next_step),
      cmocka_unit_test(test_a_change_of_speed_between_revisions_is_no_noise),
      cmocka_unit_test(test_worse_is_smaller_for_at_least),
      cmocka_unit_test(test_an_excursion_is_listed_and_not_absorbed),
      cmocka_unit_test(test_an_excursion_of_an_at_least_metric_is_a_low_value),
      cmocka_unit_test(test_fewer_than_six_believed_runs_leave_the_carried_one),
      cmocka_unit_test(test_one_revision_leaves_the_carried_one),
      cmocka_unit_test(test_an_allowance_never_narrows_by_itself),
      cmocka_unit_test(test_only_the_newest_forty_runs_count),
      cmocka_unit_test(test_no_history_is_no_allowance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

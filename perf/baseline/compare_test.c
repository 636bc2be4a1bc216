// Holding a run against what was recorded: when it is enforced, and which way is worse.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/baseline/baseline_fixture.h"
#include "perf/baseline/compare.h"

static struct tg_manifest *manifest;
static struct tg_run_fixture run;
static struct tg_host_baseline *baseline;
static struct tg_cpu_history *history;

static int set_up(void **state) {
  (void)state;
  struct tg_error err;
  manifest = tg_fixture_manifest();
  tg_run_fixture_make(&run, 100, TG_REVISION_B);
  baseline = tg_host_baseline_parse("b.json", tg_fixture_baseline, strlen(tg_fixture_baseline), &err);
  history = tg_cpu_history_parse("h.json", tg_fixture_history, strlen(tg_fixture_history), &err);
  return baseline == NULL || history == NULL;
}

static int tear_down(void **state) {
  (void)state;
  tg_manifest_free(manifest);
  tg_run_fixture_free(&run);
  tg_host_baseline_free(baseline);
  tg_cpu_history_free(history);
  return 0;
}

static struct tg_compared hold_baseline(bool readable) {
  struct tg_compared out;
  tg_baseline_compare(&out, run.rows, TG_RUN_ROWS, manifest, baseline, readable);
  return out;
}

static struct tg_compared hold_history(bool readable) {
  struct tg_compared out;
  tg_history_compare(&out, run.rows, TG_RUN_ROWS, manifest, history, readable);
  return out;
}

static void test_rows_within_their_allowance_pass(void **state) {
  (void)state;
  run.rows[TG_RTT].value = 0.11;   // 10 % of 0.1, exactly at the bound
  run.rows[TG_RPS].value = 952.4;  // 1000 / 1.05 = 952.38
  run.rows[TG_CURVE].value = 9.8;
  const struct tg_compared found = hold_baseline(true);
  assert_true(found.enforced);
  assert_int_equal(found.passed, 3);
  assert_int_equal(found.failed + found.undecided, 0);
  assert_int_equal(found.disabled, 1);
  assert_int_equal(found.wide, 1);
  assert_string_equal(found.because, "");
  assert_int_equal(run.rows[TG_RTT].baseline.status, TG_STATUS_PASS);
  assert_true(run.rows[TG_RTT].baseline.reference == 0.1);
  assert_int_equal(run.rows[TG_RTT].baseline.runs, 3);
}

static void test_worse_is_larger_for_at_most(void **state) {
  (void)state;
  run.rows[TG_RTT].value = 0.1101;
  assert_int_equal(hold_baseline(true).failed, 1);
  assert_int_equal(run.rows[TG_RTT].baseline.status, TG_STATUS_FAIL);
  assert_true(run.rows[TG_RTT].baseline.ratio > 1.1);
  run.rows[TG_RTT].value = 0.01;
  assert_int_equal(hold_baseline(true).failed, 0);
}

static void test_worse_is_smaller_for_at_least(void **state) {
  (void)state;
  run.rows[TG_RPS].value = 952.3;
  assert_int_equal(hold_baseline(true).failed, 1);
  assert_int_equal(run.rows[TG_RPS].baseline.status, TG_STATUS_FAIL);
  assert_true(run.rows[TG_RPS].baseline.ratio > 1.05);
  run.rows[TG_RPS].value = 9000;
  assert_int_equal(hold_baseline(true).failed, 0);
  assert_true(run.rows[TG_RPS].baseline.ratio < 1);
}

static void test_a_disabled_bound_is_not_compared(void **state) {
  (void)state;
  run.rows[TG_CPU].value = 1e6;
  const struct tg_compared found = hold_baseline(true);
  assert_true(found.enforced);
  assert_int_equal(found.failed, 0);
  assert_false(run.rows[TG_CPU].baseline.present);
}

static void test_an_unreadable_run_decides_nothing(void **state) {
  (void)state;
  run.rows[TG_RTT].value = 1;
  const struct tg_compared found = hold_baseline(false);
  assert_int_equal(found.passed + found.failed, 0);
  assert_int_equal(found.undecided, 3);
  assert_int_equal(hold_history(false).undecided, 2);
}

static void test_a_row_whose_own_rounds_are_noisy_is_not_condemned(void **state) {
  (void)state;
  run.rows[TG_RTT].value = 0.2;
  run.rows[TG_RTT].trust.spread = 0.25;  // this baseline's limit is 0.2
  assert_int_equal(hold_baseline(true).undecided, 1);
  run.rows[TG_RTT].trust.spread = 0.19;
  assert_int_equal(hold_baseline(true).failed, 1);
  run.rows[TG_RTT].trust.instability = 0.31;
  assert_int_equal(hold_baseline(true).undecided, 1);
  run.rows[TG_RTT].trust.instability = 0;
  run.rows[TG_RTT].trust.outliers = 3;  // of 8 rounds
  assert_int_equal(hold_baseline(true).undecided, 1);
  run.rows[TG_RTT].trust.outliers = 2;
  assert_int_equal(hold_baseline(true).failed, 1);
}

static void test_a_row_that_was_not_measured_leaves_the_baseline_unenforced(void **state) {
  (void)state;
  run.rows[TG_RPS].has_value = false;
  const struct tg_compared found = hold_baseline(true);
  assert_false(found.enforced);
  assert_non_null(strstr(found.because, "rps"));
  // Not even with a row that is not there at all.
  run.rows[TG_RPS].has_value = true;
  run.rows[TG_RPS].name = "something_else";
  assert_false(hold_baseline(true).enforced);
}

static void test_a_metric_that_was_never_recorded_leaves_the_baseline_unenforced(void **state) {
  (void)state;
  baseline->num_rows--;  // curve
  const struct tg_compared found = hold_baseline(true);
  assert_false(found.enforced);
  assert_non_null(strstr(found.because, "no row curve"));
  assert_non_null(strstr(found.because, "./tlsgate record"));
}

static enum tg_baseline_found find(const char *folder, const char *label, struct tg_error *err) {
  struct tg_host_baseline *found = NULL;
  const enum tg_baseline_found result =
      tg_baseline_find(&found, folder, label, &run.report->environment, TG_PROFILE_SHORT, err);
  assert_int_equal(found != NULL, result == TG_BASELINE_FOUND);
  tg_host_baseline_free(found);
  return result;
}

static const char *folder_with(const char *name, const char *text) {
  static char path[PATH_MAX];
  const char *folder = tg_fixture_folder();
  (void)snprintf(path, sizeof(path), "%.3000s/%s", folder, name);
  tg_fixture_write(path, text);
  return folder;
}

static void test_enforced_only_with_label_and_matching_machine(void **state) {
  (void)state;
  struct tg_error err;
  const char *folder = folder_with("quiet-1.json", tg_fixture_baseline);
  assert_int_equal(find(folder, "quiet-1", &err), TG_BASELINE_FOUND);
  assert_int_equal(find(folder, NULL, &err), TG_BASELINE_UNENFORCED);
  assert_non_null(strstr(err.text, "TLSGATE_PERF_HOST"));
  assert_int_equal(find(folder, "", &err), TG_BASELINE_UNENFORCED);
  assert_int_equal(find(folder, "quiet-2", &err), TG_BASELINE_UNENFORCED);
  assert_non_null(strstr(err.text, "no baseline for the host quiet-2"));
  static const struct {
    size_t offset;
    const char *name;
  } fields[] = {{offsetof(struct tg_environment, host), "host"},
                {offsetof(struct tg_environment, architecture), "architecture"},
                {offsetof(struct tg_environment, cpu_model), "cpu_model"}};
  for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
    const char **field = (const char **)(void *)((char *)&run.report->environment + fields[i].offset);
    const char *old = *field;
    *field = "another";
    assert_int_equal(find(folder, "quiet-1", &err), TG_BASELINE_UNENFORCED);
    assert_non_null(strstr(err.text, fields[i].name));
    *field = old;
  }
  run.report->environment.cpus = 4;
  assert_int_equal(find(folder, "quiet-1", &err), TG_BASELINE_UNENFORCED);
  // Another kernel or compiler is no other machine: what it does to the figures is what the baseline is for.
  run.report->environment.cpus = 2;
  run.report->environment.kernel = "6.9.0";
  run.report->environment.compiler = "clang 99";
  assert_int_equal(find(folder, "quiet-1", &err), TG_BASELINE_FOUND);
}

static void test_a_file_that_cannot_be_decoded_is_an_error_and_not_unenforced(void **state) {
  (void)state;
  struct tg_error err;
  assert_int_equal(find(folder_with("quiet-1.json", "{\"schema\": 1}"), "quiet-1", &err), TG_BASELINE_ERROR);
  assert_int_equal(find(folder_with("other.json", tg_fixture_baseline), "other", &err), TG_BASELINE_ERROR);
  assert_non_null(strstr(err.text, "is the baseline of quiet-1"));
  assert_int_equal(find(tg_fixture_folder(), "../escape", &err), TG_BASELINE_ERROR);
}

static void test_another_profile_is_not_enforced(void **state) {
  (void)state;
  struct tg_error err;
  struct tg_host_baseline *found = NULL;
  assert_int_equal(tg_baseline_find(&found, folder_with("quiet-1.json", tg_fixture_baseline), "quiet-1",
                                    &run.report->environment, TG_PROFILE_PUBLISHED, &err),
                   TG_BASELINE_UNENFORCED);
  assert_non_null(strstr(err.text, "profile"));
}

static void test_history_judges_once_five_rows_exist(void **state) {
  (void)state;
  run.rows[TG_RTT].value = 1;
  struct tg_compared found = hold_history(true);
  assert_true(found.enforced);
  assert_int_equal(found.failed, 1);
  assert_int_equal(found.passed, 1);
  assert_int_equal(run.rows[TG_RTT].history.runs, 6);
  const size_t rows = history->num_rows;
  history->num_rows = 5;
  assert_int_equal(hold_history(true).failed, 1);
  history->num_rows = 4;
  found = hold_history(true);
  assert_false(found.enforced);
  assert_int_equal(found.failed + found.passed, 0);
  assert_false(run.rows[TG_RTT].history.present);
  assert_non_null(strstr(found.because, "4 passing rows"));
  history->num_rows = rows;  // all of them are freed
}

static void test_history_is_median_times_or_divided_by_the_factor(void **state) {
  (void)state;
  run.rows[TG_RTT].value = 0.15;
  run.rows[TG_RPS].value = 667;
  assert_int_equal(hold_history(true).passed, 2);
  run.rows[TG_RTT].value = 0.1501;
  run.rows[TG_RPS].value = 666;
  assert_int_equal(hold_history(true).failed, 2);
  struct tg_history_value *factors = calloc(1, sizeof(*factors));
  factors[0] = (struct tg_history_value){"rtt_ms", 2.0};
  history->factors = factors;
  history->num_factors = 1;
  assert_int_equal(hold_history(true).failed, 1);
}

static void test_rows_kept_apart_do_not_move_the_medians(void **state) {
  (void)state;
  assert_int_equal(history->num_apart, 1);
  (void)hold_history(true);
  assert_true(run.rows[TG_RTT].history.reference == 0.1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_rows_within_their_allowance_pass),
      TEST(test_worse_is_larger_for_at_most),
      TEST(test_worse_is_smaller_for_at_least),
      TEST(test_a_disabled_bound_is_not_compared),
      TEST(test_an_unreadable_run_decides_nothing),
      TEST(test_a_row_whose_own_rounds_are_noisy_is_not_condemned),
      TEST(test_a_row_that_was_not_measured_leaves_the_baseline_unenforced),
      TEST(test_a_metric_that_was_never_recorded_leaves_the_baseline_unenforced),
      TEST(test_enforced_only_with_label_and_matching_machine),
      TEST(test_a_file_that_cannot_be_decoded_is_an_error_and_not_unenforced),
      TEST(test_another_profile_is_not_enforced),
      TEST(test_history_judges_once_five_rows_exist),
      TEST(test_history_is_median_times_or_divided_by_the_factor),
      TEST(test_rows_kept_apart_do_not_move_the_medians),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

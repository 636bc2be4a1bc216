// Deposits: one file a run, never replaced, and none of them can hurt a verdict.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/baseline/baseline_fixture.h"
#include "perf/baseline/deposit.h"

static char folder[PATH_MAX];

static int set_up(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof(folder), "%.3000s/deep/er", tg_fixture_folder());
  return 0;
}

static void add(int number) {
  struct tg_run_fixture run;
  struct tg_error err;
  tg_run_fixture_make(&run, number, TG_REVISION_A);
  if (!tg_deposit_add(folder, run.report, &err)) {
    fail_msg("%s", err.text);
  }
  tg_run_fixture_free(&run);
}

static void test_deposits_are_read_newest_first(void **state) {
  (void)state;
  struct tg_deposits deposits;
  struct tg_error err;
  add(2);
  add(30);
  add(1);
  assert_true(tg_deposits_read(&deposits, folder, &err));
  assert_int_equal(deposits.num, 3);
  assert_int_equal(deposits.num_problems, 0);
  assert_string_equal(deposits.reports[0]->start, "2026-02-01T00:30:00Z");
  assert_string_equal(deposits.reports[2]->start, "2026-02-01T00:01:00Z");
  assert_true(tg_report_row_named(deposits.reports[0], "rtt_ms")->value == 0.1);
  tg_deposits_release(&deposits);
}

static void test_a_folder_that_is_not_there_has_none(void **state) {
  (void)state;
  struct tg_deposits deposits;
  struct tg_error err;
  assert_true(tg_deposits_read(&deposits, folder, &err));
  assert_int_equal(deposits.num, 0);
  tg_deposits_release(&deposits);
}

static void test_a_run_deposited_twice_is_there_once(void **state) {
  (void)state;
  struct tg_deposits deposits;
  struct tg_error err;
  add(1);
  add(1);
  assert_true(tg_deposits_read(&deposits, folder, &err));
  assert_int_equal(deposits.num, 1);
  tg_deposits_release(&deposits);
}

static void test_another_report_of_the_same_run_is_refused(void **state) {
  (void)state;
  struct tg_run_fixture run;
  struct tg_deposits deposits;
  struct tg_error err;
  add(1);
  tg_run_fixture_make(&run, 1, TG_REVISION_A);
  run.rows[TG_RTT].value = 0.01;
  assert_false(tg_deposit_add(folder, run.report, &err));
  assert_non_null(strstr(err.text, "another report of the same run"));
  tg_run_fixture_free(&run);
  assert_true(tg_deposits_read(&deposits, folder, &err));
  assert_true(tg_report_row_named(deposits.reports[0], "rtt_ms")->value == 0.1);
  tg_deposits_release(&deposits);
}

static void test_a_deposit_that_fails_says_why_and_leaves_nothing(void **state) {
  (void)state;
  struct tg_run_fixture run;
  struct tg_error err;
  tg_run_fixture_make(&run, 1, TG_REVISION_A);
  assert_false(tg_deposit_add("/proc/nowhere", run.report, &err));
  assert_non_null(strstr(err.text, "cannot make the folder /proc/nowhere"));
  // The report is the caller's, and as it was.
  assert_int_equal(run.report->verdict, TG_OUTCOME_PASS);
  assert_true(run.report->passed);
  tg_run_fixture_free(&run);
}

static void test_a_file_that_is_no_deposit_is_named_and_left_out(void **state) {
  (void)state;
  char path[PATH_MAX + 64];
  struct tg_deposits deposits;
  struct tg_error err;
  add(1);
  add(2);
  (void)snprintf(path, sizeof(path), "%s/broken.json", folder);
  tg_fixture_write(path, "{\"schema\": 9}");
  (void)snprintf(path, sizeof(path), "%s/%032x.json", folder, 2);
  char *copy = tg_fixture_read(path);
  (void)snprintf(path, sizeof(path), "%s/%032x.json", folder, 3);
  tg_fixture_write(path, copy);
  free(copy);
  (void)snprintf(path, sizeof(path), "%s/.deposit-abc", folder);
  tg_fixture_write(path, "half");
  assert_true(tg_deposits_read(&deposits, folder, &err));
  assert_int_equal(deposits.num, 2);
  assert_int_equal(deposits.num_problems, 2);
  const bool first_is_broken = strstr(deposits.problems[0], "broken.json") != NULL;
  assert_non_null(strstr(deposits.problems[first_is_broken ? 0 : 1], "version 9"));
  assert_non_null(strstr(deposits.problems[first_is_broken ? 1 : 0], "a deposit is named for its run"));
  tg_deposits_release(&deposits);
}

static void test_a_fresh_series_keeps_the_window_of_history(void **state) {
  (void)state;
  char started[32];
  struct tg_deposits deposits;
  struct tg_error err;
  add(1);
  assert_true(tg_series_started(started, folder, &err));
  assert_string_equal(started, "");
  assert_true(tg_series_start(folder, &err));
  assert_true(tg_series_started(started, folder, &err));
  assert_int_equal(strlen(started), strlen("2026-01-31T23:59:59Z"));
  assert_true(tg_deposits_read(&deposits, folder, &err));
  assert_int_equal(deposits.num, 1);
  assert_int_equal(deposits.num_problems, 0);
  tg_deposits_release(&deposits);
}

static void test_a_series_file_that_cannot_be_read_is_an_error(void **state) {
  (void)state;
  char path[PATH_MAX + 64];
  char started[32];
  struct tg_error err;
  add(1);
  (void)snprintf(path, sizeof(path), "%s/series.json", folder);
  tg_fixture_write(path, "{\"schema\": 2, \"started\": \"2026-01-31T23:59:59Z\"}");
  assert_false(tg_series_started(started, folder, &err));
  assert_non_null(strstr(err.text, "--fresh-samples"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_deposits_are_read_newest_first, set_up),
      cmocka_unit_test_setup(test_a_folder_that_is_not_there_has_none, set_up),
      cmocka_unit_test_setup(test_a_run_deposited_twice_is_there_once, set_up),
      cmocka_unit_test_setup(test_another_report_of_the_same_run_is_refused, set_up),
      cmocka_unit_test_setup(test_a_deposit_that_fails_says_why_and_leaves_nothing, set_up),
      cmocka_unit_test_setup(test_a_file_that_is_no_deposit_is_named_and_left_out, set_up),
      cmocka_unit_test_setup(test_a_fresh_series_keeps_the_window_of_history, set_up),
      cmocka_unit_test_setup(test_a_series_file_that_cannot_be_read_is_an_error, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

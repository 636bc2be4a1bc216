// Recording, rule by rule: which runs count, and what is refused with the file untouched.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/baseline/record_fixture.h"

static void test_each_row_is_the_median_over_the_runs_and_their_number_is_stored(void **state) {
  (void)state;
  tg_fixture.runs[0].rows[TG_RTT].value = 0.13;
  tg_fixture.runs[1].rows[TG_RTT].value = 0.11;
  tg_fixture.runs[2].rows[TG_RTT].value = 0.12;
  tg_fixture.runs[0].rows[TG_RPS].value = 900;
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_int_equal(baseline->runs, 3);
  assert_int_equal(baseline->num_run_ids, 3);
  assert_int_equal(baseline->num_rows, 4);
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->median == 0.12);
  assert_true(tg_host_baseline_row(baseline, "rps")->median == 1000);
  assert_string_equal(baseline->label, "quiet-1");
  assert_string_equal(baseline->environment.commit, TG_REVISION_A);
  // Fractions have no row.
  assert_null(tg_host_baseline_row(baseline, "stalled"));
  tg_host_baseline_free(baseline);
}

static void test_more_than_three_runs_are_all_used(void **state) {
  (void)state;
  tg_fixture.request.num_reports = 5;
  tg_fixture.runs[0].rows[TG_RTT].value = 0.3;
  tg_fixture.runs[1].rows[TG_RTT].value = 0.2;
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_int_equal(baseline->runs, 5);
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->median == 0.1);
  tg_host_baseline_free(baseline);
}

static void test_fewer_than_three_are_refused(void **state) {
  (void)state;
  tg_fixture.request.num_reports = 2;
  tg_fixture_refused("2 distinct readable runs");
  tg_fixture.request.num_reports = 0;
  tg_fixture_refused("0 distinct readable runs");
}

static void test_one_run_processed_twice_counts_once(void **state) {
  (void)state;
  // A copy of the report under another name is the same run.
  struct tg_run_fixture copy;
  tg_run_fixture_make(&copy, 1, TG_REVISION_A);
  copy.report->file = "copy.json";
  tg_fixture.reports[2] = copy.report;
  tg_fixture_refused("2 distinct readable runs");
  tg_fixture_logged("copy.json: is the run 00000000000000000000000000000001 once more, as in run.json; it counts once");
  tg_fixture.reports[2] = tg_fixture.runs[1].report;
  tg_fixture_refused("2 distinct readable runs");
  tg_fixture.reports[2] = tg_fixture.runs[2].report;
  tg_fixture.reports[3] = copy.report;
  tg_fixture.request.num_reports = 4;
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_int_equal(baseline->runs, 3);
  tg_host_baseline_free(baseline);
  tg_run_fixture_free(&copy);
}

static void test_a_conflicting_copy_is_refused(void **state) {
  (void)state;
  struct tg_run_fixture copy;
  tg_run_fixture_make(&copy, 1, TG_REVISION_A);
  copy.report->file = "copy.json";
  copy.rows[TG_RTT].value = 0.09;
  tg_fixture.reports[3] = copy.report;
  tg_fixture.request.num_reports = 4;
  tg_fixture_refused("say different things of one run");
  assert_non_null(strstr(tg_fixture.err.text, "copy.json"));
  // Also if it is the deposit that differs.
  tg_fixture.request.num_reports = 3;
  tg_fixture.deposits[0] = copy.report;
  tg_fixture.request.num_deposits = 1;
  tg_fixture_refused("say different things of one run");
  tg_run_fixture_free(&copy);
}

static void test_an_unreadable_run_is_refused(void **state) {
  (void)state;
  tg_fixture.runs[1].report->readable = false;
  tg_fixture.runs[1].report->reasons[0] = "the machine slept";
  tg_fixture.runs[1].report->num_reasons = 1;
  tg_fixture_refused("unreadable: the machine slept");
}

static void test_a_run_without_a_verdict_is_refused(void **state) {
  (void)state;
  tg_fixture.runs[1].report->kind = TG_REPORT_ERROR;
  tg_fixture.runs[1].report->num_rows = 0;
  tg_fixture.runs[1].report->error_stage = "warm-up";
  tg_fixture.runs[1].report->error_message = "refused";
  tg_fixture_refused("unreadable: the run came to no verdict (warm-up: refused)");
}

static void test_a_missing_row_in_any_sample_is_refused(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    tg_fixture.runs[i].rows[TG_CURVE].has_value = false;
    tg_fixture_refused("has no value for the row curve");
    tg_fixture.runs[i].rows[TG_CURVE].has_value = true;
    tg_fixture.runs[i].report->num_rows = TG_CURVE;
    tg_fixture_refused("has no value for the row curve");
    tg_fixture.runs[i].report->num_rows = TG_RUN_ROWS;
  }
}

static void test_a_partial_manifest_is_refused(void **state) {
  (void)state;
  tg_fixture.runs[1].report->partial = true;
  tg_fixture.runs[1].report->mode = TG_MODE_ONLY;
  tg_fixture_refused("partial: not the whole manifest");
  tg_fixture.runs[1].report->partial = false;
  tg_fixture.runs[1].report->mode = TG_MODE_RATIOS_ONLY;
  tg_fixture_refused("partial: not the whole manifest");
}

static void test_a_dirty_tree_is_refused(void **state) {
  (void)state;
  json_t *dirty = json_pack("[s]", "harness/accept/quickack.c");
  tg_fixture.runs[2].report->environment.dirty_files = dirty;
  tg_fixture_refused("dirty tree");
  json_decref(dirty);
}

static void test_missing_provenance_is_refused(void **state) {
  (void)state;
  tg_fixture.runs[0].report->environment.commit = NULL;
  tg_fixture_refused("provenance lacks commit");
  tg_fixture.runs[0].report->environment.commit = TG_REVISION_A;
  tg_fixture.runs[0].report->environment.dirty_files = NULL;
  tg_fixture_refused("provenance lacks dirty_files");
}

static void test_a_host_that_is_not_the_files_is_refused(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    tg_fixture.runs[i].report->environment.host = "loud";
  }
  tg_fixture_refused("another machine than the runs (host differs)");
  for (int i = 0; i < 3; i++) {
    tg_fixture.runs[i].report->environment.host = "quiet";
    tg_fixture.runs[i].report->environment.cpu_model = "Another CPU";
  }
  tg_fixture_refused("another machine than the runs (cpu_model differs)");
}

static void test_another_labels_file_is_refused(void **state) {
  (void)state;
  tg_fixture.request.label = "quiet-2";
  tg_fixture_write("quiet-2.json", tg_fixture_baseline);
  assert_false(tg_fixture_record());
  assert_non_null(strstr(tg_fixture.err.text, "is the baseline of quiet-1"));
  tg_fixture.request.label = "../quiet-1";
  tg_fixture_refused("is not a host's label");
}

static void test_a_leftover_staged_file_is_refused(void **state) {
  (void)state;
  tg_fixture_write(TG_FIXTURE_STAGED, "{}");
  tg_fixture_refused("left by a recorder that did not end");
  assert_int_equal(unlink(TG_FIXTURE_STAGED), 0);
}

static void test_staged_is_reserved_before_the_destination_is_read(void **state) {
  (void)state;
  // Were the destination read first, its error would be the one.
  tg_fixture_write(TG_FIXTURE_FILE, "no JSON");
  tg_fixture_write(TG_FIXTURE_STAGED, "{}");
  assert_false(tg_fixture_record());
  assert_non_null(strstr(tg_fixture.err.text, ".staged"));
  assert_int_equal(unlink(TG_FIXTURE_STAGED), 0);
  assert_false(tg_fixture_record());
  assert_non_null(strstr(tg_fixture.err.text, "quiet-1.json:1:"));
  char *now = tg_fixture_read(TG_FIXTURE_FILE);
  assert_string_equal(now, "no JSON");
  free(now);
  assert_int_not_equal(access(TG_FIXTURE_STAGED, F_OK), 0);
}

static void test_a_failing_server_is_no_baseline(void **state) {
  (void)state;
  tg_fixture.runs[1].rows[TG_RTT].status = TG_STATUS_FAIL;
  tg_fixture.runs[1].rows[TG_RTT].value = 43;
  tg_fixture.runs[1].rows[TG_RTT].distance = 8.6;
  tg_fixture_refused("the gate rtt_ms failed");
  tg_fixture.runs[1].rows[TG_RTT].status = TG_STATUS_PASS;
  tg_fixture.runs[1].report->quickack = "off";
  tg_fixture_refused("planted fault");
}

static void test_what_another_baseline_said_of_a_run_is_no_objection(void **state) {
  (void)state;
  // The runs were judged against an older baseline, which they exceed: a change that adds work records its row anew.
  for (int i = 0; i < 3; i++) {
    tg_fixture.runs[i].rows[TG_RTT].baseline = (struct tg_comparison){
        .present = true, .reference = 0.05, .allowance = 0.05, .ratio = 2, .runs = 3, .status = TG_STATUS_FAIL};
    tg_fixture.runs[i].rows[TG_RTT].status = TG_STATUS_FAIL;
    tg_fixture.runs[i].report->verdict = TG_OUTCOME_FAIL;
    tg_report_conclude(tg_fixture.runs[i].report);
  }
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->median == 0.1);
  tg_host_baseline_free(baseline);
  // The verdict stands.
  assert_int_equal(tg_fixture.runs[0].report->verdict, TG_OUTCOME_FAIL);
  assert_int_equal(tg_fixture.runs[0].report->exit_status, TG_EXIT_FAIL);
}

static void test_runs_of_another_revision_are_skipped_with_a_diagnostic(void **state) {
  (void)state;
  tg_run_fixture_free(&tg_fixture.runs[3]);
  tg_run_fixture_make(&tg_fixture.runs[3], 3, TG_REVISION_B);
  tg_fixture.runs[3].report->file = "other.json";
  tg_fixture.runs[3].report->readable = false;  // what is skipped cannot refuse
  tg_fixture.request.num_reports = 4;
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_int_equal(baseline->runs, 3);
  tg_fixture_logged("other.json: skipped: of the revision bbbbbbbbbbbb");
  tg_host_baseline_free(baseline);
}

static void test_runs_of_another_environment_are_skipped_with_a_diagnostic(void **state) {
  (void)state;
  static const struct {
    size_t offset;
    const char *name;
  } fields[] = {
      {offsetof(struct tg_environment, host), "host"},
      {offsetof(struct tg_environment, architecture), "architecture"},
      {offsetof(struct tg_environment, cpu_model), "cpu_model"},
      {offsetof(struct tg_environment, kernel), "kernel"},
      {offsetof(struct tg_environment, compiler), "compiler"},
      {offsetof(struct tg_environment, flags), "flags"},
      {offsetof(struct tg_environment, boringssl), "boringssl"},
  };
  tg_fixture.request.num_reports = 4;
  for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
    // The oldest; the newest says what the environment is.
    const char **field = (const char **)(void *)((char *)&tg_fixture.runs[0].report->environment + fields[i].offset);
    const char *old = *field;
    char expected[80];
    *field = "another";
    struct tg_host_baseline *baseline = tg_fixture_recorded();
    assert_int_equal(baseline->runs, 3);
    (void)snprintf(expected, sizeof(expected), "another environment than run.json (%s differs)", fields[i].name);
    tg_fixture_logged(expected);
    tg_host_baseline_free(baseline);
    *field = old;
  }
}

static void test_two_recorders_at_once_leave_one_whole_baseline(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      for (int k = 0; k < 20; k++) {
        if (!tg_fixture_record() && strstr(tg_fixture.err.text, ".staged") == NULL) {
          _exit(1);
        }
      }
      _exit(0);
    }
  }
  for (int i = 0; i < 4; i++) {
    int status = 0;
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
  }
  struct tg_host_baseline *baseline = tg_host_baseline_load(TG_FIXTURE_FILE, &tg_fixture.err);
  assert_non_null(baseline);
  assert_int_equal(baseline->num_rows, 4);
  tg_host_baseline_free(baseline);
  assert_int_not_equal(access(TG_FIXTURE_STAGED, F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_record_set_up, tg_record_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_each_row_is_the_median_over_the_runs_and_their_number_is_stored),
      TEST(test_more_than_three_runs_are_all_used),
      TEST(test_fewer_than_three_are_refused),
      TEST(test_one_run_processed_twice_counts_once),
      TEST(test_a_conflicting_copy_is_refused),
      TEST(test_an_unreadable_run_is_refused),
      TEST(test_a_run_without_a_verdict_is_refused),
      TEST(test_a_missing_row_in_any_sample_is_refused),
      TEST(test_a_partial_manifest_is_refused),
      TEST(test_a_dirty_tree_is_refused),
      TEST(test_missing_provenance_is_refused),
      TEST(test_a_host_that_is_not_the_files_is_refused),
      TEST(test_another_labels_file_is_refused),
      TEST(test_a_leftover_staged_file_is_refused),
      TEST(test_staged_is_reserved_before_the_destination_is_read),
      TEST(test_a_failing_server_is_no_baseline),
      TEST(test_what_another_baseline_said_of_a_run_is_no_objection),
      TEST(test_runs_of_another_revision_are_skipped_with_a_diagnostic),
      TEST(test_runs_of_another_environment_are_skipped_with_a_diagnostic),
      TEST(test_two_recorders_at_once_leave_one_whole_baseline),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// What a run leaves on disk: whole files or the old ones, and nothing that looks like a measurement after a failure.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/manifest/row.h"
#include "perf/report/report_fixture.h"
#include "perf/run/output.h"

static char folder[256];
static struct tg_report_fixture fixture;
static struct tg_run run;

static const char *in_folder(const char *name) {
  static char path[512];
  (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
  return path;
}

static int set_up(void **state) {
  (void)state;
  struct tg_error err;
  tg_report_fixture_complete(&fixture);
  memset(&run, 0, sizeof(run));
  run.samples = tg_samples_create();
  run.raw = json_object();
  for (size_t round = 0; round < 8; round++) {
    if (!tg_samples_add(run.samples, "rtt_ms", round, 0.1 + 0.2, false, &err)) {
      return -1;
    }
  }
  (void)snprintf(folder, sizeof(folder), "%s/output-XXXXXX", getenv("TEST_TMPDIR"));
  return mkdtemp(folder) == NULL ? -1 : 0;
}

static int tear_down(void **state) {
  (void)state;
  tg_run_free(&run);
  tg_report_fixture_free(&fixture);
  return 0;
}

static void become_error(void) {
  tg_report_fixture_free(&fixture);
  tg_report_fixture_error(&fixture);
}

static void test_a_run_is_written_whole(void **state) {
  (void)state;
  struct tg_error err;
  assert_true(tg_output_write(in_folder("deep/er"), &run, &fixture.report, &err));
  struct tg_row_file *row = tg_row_load(in_folder("deep/er/row.json"), &err);
  assert_non_null(row);
  assert_int_equal(row->row.num_values, TG_FIXTURE_ROWS);
  assert_true(row->row.values[1].value == 900);
  assert_non_null(strstr(row->row.source, fixture.report.id));
  tg_row_free(row);
  struct tg_report *report = tg_report_load(in_folder("deep/er/report.json"), &err);
  assert_non_null(report);
  assert_true(report->passed);
  tg_report_free(report);
  json_t *samples = json_load_file(in_folder("deep/er/samples.json"), 0, NULL);
  assert_string_equal(json_string_value(json_object_get(samples, "run")), fixture.report.id);
  json_t *series = json_object_get(json_object_get(samples, "metrics"), "rtt_ms");
  assert_int_equal(json_array_size(series), 8);
  // Exactly: verdicts are derived from them again.
  assert_true(json_real_value(json_object_get(json_array_get(series, 0), "value")) == 0.1 + 0.2);
  json_decref(samples);
}

static void test_a_failure_leaves_no_measurement(void **state) {
  (void)state;
  struct tg_error err;
  assert_true(tg_output_write(folder, &run, &fixture.report, &err));
  become_error();
  assert_true(tg_output_write_failure(folder, &fixture.report, &err));
  assert_int_not_equal(access(in_folder("row.json"), F_OK), 0);
  assert_int_not_equal(access(in_folder("samples.json"), F_OK), 0);
  struct tg_report *report = tg_report_load(in_folder("report.json"), &err);
  assert_non_null(report);
  assert_false(report->passed);
  assert_int_equal(report->num_rows, 0);
  assert_string_equal(report->error_message, fixture.report.error_message);
  tg_report_free(report);
}

// A folder stands where a file should go, so that the rename fails: what was there stays.
static void test_a_failed_publication_keeps_the_old_report(void **state) {
  (void)state;
  struct tg_error err;
  assert_true(tg_output_write(folder, &run, &fixture.report, &err));
  assert_int_equal(unlink(in_folder("row.json")), 0);
  assert_int_equal(mkdir(in_folder("row.json"), 0755), 0);
  fixture.report.id = "ffffffffffffffffffffffffffffffff";
  assert_false(tg_output_write(folder, &run, &fixture.report, &err));
  assert_int_equal(strncmp(err.text, "report unavailable", 18), 0);
  assert_non_null(strstr(err.text, "row.json"));
  struct tg_report *report = tg_report_load(in_folder("report.json"), &err);
  assert_non_null(report);
  assert_string_not_equal(report->id, fixture.report.id);
  tg_report_free(report);
}

static void test_a_failure_that_cannot_be_told_keeps_the_old_files(void **state) {
  (void)state;
  struct tg_error err;
  assert_true(tg_output_write(folder, &run, &fixture.report, &err));
  become_error();
  fixture.report.error_stage = "nowhere";  // does not decode
  assert_false(tg_output_write_failure(folder, &fixture.report, &err));
  assert_int_equal(strncmp(err.text, "report unavailable", 18), 0);
  assert_int_equal(access(in_folder("row.json"), F_OK), 0);
  struct tg_report *report = tg_report_load(in_folder("report.json"), &err);
  assert_non_null(report);
  assert_true(report->passed);
  tg_report_free(report);
}

static void test_a_folder_that_cannot_be_made_is_named(void **state) {
  (void)state;
  struct tg_error err;
  become_error();
  assert_false(tg_output_write_failure("/proc/nowhere", &fixture.report, &err));
  assert_non_null(strstr(err.text, "/proc/nowhere"));
  assert_int_equal(strncmp(err.text, "report unavailable", 18), 0);
}

#define OUTPUT_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      OUTPUT_TEST(test_a_run_is_written_whole),
      OUTPUT_TEST(test_a_failure_leaves_no_measurement),
      OUTPUT_TEST(test_a_failed_publication_keeps_the_old_report),
      OUTPUT_TEST(test_a_failure_that_cannot_be_told_keeps_the_old_files),
      OUTPUT_TEST(test_a_folder_that_cannot_be_made_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

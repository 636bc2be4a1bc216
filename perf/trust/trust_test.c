// What makes a run unreadable, and what does not.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/report/report_fixture.h"
#include "perf/trust/trust.h"

static struct tg_report_fixture fixture;
static struct tg_samples *samples;

static int set_up(void **state) {
  (void)state;
  tg_report_fixture_complete(&fixture);
  samples = tg_samples_create();
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tg_samples_free(samples);
  tg_report_fixture_free(&fixture);
  return 0;
}

static const struct tg_series *series(const char *metric, const double *values, size_t num) {
  struct tg_error err;
  for (size_t i = 0; i < num; i++) {
    assert_true(tg_samples_add(samples, metric, i, values[i], false, &err));
  }
  return tg_samples_find(samples, metric);
}

static void near(double value, double expected) {
  if (fabs(value - expected) > 1e-6 * (1 + fabs(expected))) {
    fail_msg("%.9g where %.9g is expected", value, expected);
  }
}

static void test_spread_instability_and_outliers(void **state) {
  (void)state;
  static const double steady[] = {100, 101, 99, 100, 102, 98};
  static const double shifted[] = {100, 100, 100, 150, 150, 150};
  static const double one_out[] = {100, 101, 99, 100, 1000};
  static const double same[] = {7, 7, 7, 7, 7.01};
  struct tg_trust trust;
  tg_trust_of_series(&trust, series("steady", steady, 6));
  assert_true(trust.known && trust.spread > 0.01 && trust.spread < 0.02);
  near(trust.instability, 0);
  assert_int_equal(trust.outliers, 0);
  tg_trust_of_series(&trust, series("shifted", shifted, 6));
  near(trust.instability, 0.5);
  tg_trust_of_series(&trust, series("one_out", one_out, 5));
  assert_int_equal(trust.outliers, 1);
  assert_true(trust.spread < 0.03);
  tg_trust_of_series(&trust, series("same", same, 5));
  assert_int_equal(trust.outliers, 0);
  tg_trust_of_series(&trust, NULL);
  assert_false(trust.known);
}

static void test_one_round_and_counts(void **state) {
  (void)state;
  static const double one[] = {3};
  struct tg_trust trust;
  struct tg_error err;
  tg_trust_of_series(&trust, series("one", one, 1));
  assert_true(trust.known && trust.spread == 0 && trust.instability == 0 && trust.outliers == 0);
  assert_true(tg_samples_add_count(samples, "count", 0, 0, 100, &err));
  assert_true(tg_samples_add_count(samples, "count", 1, 9, 100, &err));
  tg_trust_of_series(&trust, tg_samples_find(samples, "count"));
  assert_true(trust.known && trust.spread == 0 && trust.instability == 0 && trust.outliers == 0);
}

static struct tg_logged_run logged(const char *id, double rps) {
  return (struct tg_logged_run){.id = id,
                                .genuine = true,
                                .finished = true,
                                .readable = true,
                                .environment = fixture.report.environment,
                                .values = json_pack("{s:f}", "rps", rps)};
}

static void test_run_to_run(void **state) {
  (void)state;
  struct tg_logged_run runs[7];
  runs[0] = logged("0", 600);
  runs[1] = logged("1", 1000);
  runs[2] = logged("2", 5000);  // each of the following is not to be compared with
  runs[2].readable = false;
  runs[3] = logged("3", 5000);
  runs[3].profile = TG_PROFILE_PUBLISHED;
  runs[4] = logged("4", 5000);
  runs[4].environment.kernel = "7.0";
  runs[5] = logged("5", 5000);
  runs[5].genuine = false;
  runs[6] = logged(fixture.report.id, 5000);
  struct tg_run_history history = {.runs = runs, .num = 7};
  struct tg_report_row *rps = &fixture.rows[1];
  tg_trust_run_to_run(rps, &fixture.report, &history);
  assert_int_equal(rps->trust.history_runs, 2);
  near(rps->trust.history_ratio, 900 / 800.0);
  assert_true(rps->trust.history_spread > 0);
  struct tg_report_row *cpu = &fixture.rows[2];
  tg_trust_run_to_run(cpu, &fixture.report, &history);
  assert_int_equal(cpu->trust.history_runs, 0);
  for (size_t i = 0; i < 7; i++) {
    json_decref((json_t *)runs[i].values);
  }
}

static void test_calibration(void **state) {
  (void)state;
  static const double values[] = {100, 100, 100, 120, 130};
  struct tg_calibration calibration;
  json_t *kept = NULL;
  tg_trust_calibration(&calibration, samples, &kept);
  assert_false(calibration.known);
  (void)series(TG_TRUST_CALIBRATION_METRIC, values, 5);
  tg_trust_calibration(&calibration, samples, &kept);
  assert_true(calibration.known);
  near(calibration.median_us, 100);
  near(calibration.slowest, 1.3);
  near(calibration.later_over_earlier, 1.25);
  assert_int_equal(json_array_size(calibration.values_us), 5);
  json_decref(kept);
}

static void test_drift(void **state) {
  (void)state;
  fixture.rows[0].baseline = (struct tg_comparison){.present = true, .ratio = 1.0};
  fixture.rows[1].baseline = (struct tg_comparison){.present = true, .ratio = 1.2};
  fixture.rows[2].baseline = (struct tg_comparison){.present = true, .ratio = 1.4};
  fixture.rows[3].history = (struct tg_comparison){.present = true, .ratio = 9};
  tg_trust_drift(&fixture.report);
  assert_string_equal(fixture.report.drift.against, "baseline");
  assert_int_equal(fixture.report.drift.rows, 3);
  near(fixture.report.drift.median, 1.2);
  near(fixture.report.drift.lower_quartile, 1.1);
  near(fixture.report.drift.upper_quartile, 1.3);
  for (size_t i = 0; i < 3; i++) {
    fixture.rows[i].baseline.present = false;
  }
  tg_trust_drift(&fixture.report);
  assert_string_equal(fixture.report.drift.against, "history");
  near(fixture.report.drift.median, 9);
  fixture.rows[3].history.present = false;
  tg_trust_drift(&fixture.report);
  assert_int_equal(fixture.report.drift.rows, 0);
}

static void reads(bool readable, const char *words) {
  static struct tg_trust_reasons texts;
  tg_trust_read(&fixture.report, &texts);
  assert_int_equal(fixture.report.readable, readable);
  assert_int_equal(fixture.report.num_reasons > 0, !readable);
  const char *last = readable ? "" : fixture.report.reasons[fixture.report.num_reasons - 1];
  if (strstr(last, words) == NULL) {
    fail_msg("\"%s\" lacks \"%s\"", last, words);
  }
}

static void calibrate(const double *values, size_t num) {
  json_t *kept = NULL;
  tg_samples_free(samples);
  samples = tg_samples_create();
  (void)series(TG_TRUST_CALIBRATION_METRIC, values, num);
  tg_trust_calibration(&fixture.report.calibration, samples, &kept);
  (void)json_object_set_new(fixture.owned, "kept", kept);
}

static void test_stolen_time_makes_a_run_unreadable(void **state) {
  (void)state;
  reads(true, "");
  fixture.report.stolen = 0.04;
  reads(true, "");
  fixture.report.stolen = 0.06;
  reads(false, "6.0 % of the CPU time was stolen");
  fixture.report.has_stolen = false;
  reads(true, "");
}

static void test_an_unsteady_cpu_makes_a_run_unreadable(void **state) {
  (void)state;
  static const double steady[] = {100, 103, 98, 101, 110, 99};
  static const double scattered[] = {100, 140, 80, 101, 141, 80};
  static const double slower[] = {100, 101, 100, 125, 126, 124};
  static const double faster[] = {125, 126, 124, 100, 101, 100};
  static const double one_hiccup[] = {100, 101, 300, 99, 100, 102};
  calibrate(steady, 6);
  reads(true, "");
  calibrate(one_hiccup, 6);
  reads(true, "");
  calibrate(scattered, 6);
  reads(false, "scattered by");
  calibrate(slower, 6);
  reads(false, "the CPU slowed down");
  calibrate(faster, 6);
  reads(false, "the CPU sped up");
}

static void test_rows_that_scatter_make_a_run_unreadable(void **state) {
  (void)state;
  fixture.rows[0].trust.spread = 0.4;
  reads(true, "");  // one of three
  fixture.rows[1].trust.spread = 0.4;
  reads(false, "2 of 3 timed rows scattered by more than 30 %");
  fixture.rows[1].trust.spread = 0.1;
  fixture.rows[3].trust.spread = 0.9;  // only recorded
  reads(true, "");
}

// The busiest machine there is, by its load average, was measured well if nothing that is measured says otherwise.
static void test_load_average_and_idle_time_never_decide(void **state) {
  (void)state;
  json_t *busy = json_pack("{s:[f, f, f], s:f}", "load_average_start", 99.0, 99.0, 99.0, "idle_fraction", 0.0);
  fixture.report.background = busy;
  reads(true, "");
  json_decref(busy);
}

#define TRUST_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TRUST_TEST(test_spread_instability_and_outliers),
      TRUST_TEST(test_one_round_and_counts),
      TRUST_TEST(test_run_to_run),
      TRUST_TEST(test_calibration),
      TRUST_TEST(test_drift),
      TRUST_TEST(test_stolen_time_makes_a_run_unreadable),
      TRUST_TEST(test_an_unsteady_cpu_makes_a_run_unreadable),
      TRUST_TEST(test_rows_that_scatter_make_a_run_unreadable),
      TRUST_TEST(test_load_average_and_idle_time_never_decide),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

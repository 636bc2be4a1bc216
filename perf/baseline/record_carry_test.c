// Recording, rule by rule: what is carried along, and the allowances that history gives.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/baseline/record_fixture.h"

static void test_the_destination_supplies_allowances_notes_trust_and_disabled_bounds(void **state) {
  (void)state;
  tg_fixture_write(TG_FIXTURE_FILE, tg_fixture_baseline);
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->allowance == 0.10);
  assert_true(tg_host_baseline_row(baseline, "rps")->allowance == 0.05);
  assert_true(tg_host_baseline_row(baseline, "curve")->allowance == 0.40);
  assert_string_equal(tg_host_baseline_row(baseline, "rtt_ms")->note, "timer");
  assert_true(tg_host_baseline_row(baseline, "cpu_us")->disabled);
  assert_string_equal(tg_host_baseline_row(baseline, "cpu_us")->note, "broken counter");
  assert_true(baseline->trust.spread == 0.2);
  assert_string_equal(baseline->notes, "on the shelf");
  tg_host_baseline_free(baseline);
}

static void test_rows_allowed_more_than_thirty_percent_are_listed_as_weak(void **state) {
  (void)state;
  tg_fixture_write(TG_FIXTURE_FILE, tg_fixture_baseline);
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  const json_t *wide = json_object_get(baseline->root, "wide_allowances");
  assert_int_equal(json_array_size(wide), 1);
  assert_string_equal(json_string_value(json_array_get(wide, 0)), "curve");
  tg_fixture_logged("curve: weak: allowed 40 %");
  tg_host_baseline_free(baseline);
}

// Six deposits of revision B, of which the last is `worst` x its revision's median in rtt_ms.
static void deposit_history(double worst) {
  for (int i = 0; i < 6; i++) {
    tg_run_fixture_free(&tg_fixture.runs[10 + i]);
    tg_run_fixture_make(&tg_fixture.runs[10 + i], 10 + i, TG_REVISION_B);
    tg_fixture.deposits[i] = tg_fixture.runs[10 + i].report;
  }
  tg_fixture.runs[15].rows[TG_RTT].value = 0.1 * worst;
  tg_fixture.request.num_deposits = 6;
}

static void test_every_widening_is_printed(void **state) {
  (void)state;
  deposit_history(1.2);
  tg_fixture_write(TG_FIXTURE_FILE, tg_fixture_baseline);
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->allowance == 0.25);
  assert_true(tg_host_baseline_row(baseline, "rps")->allowance == 0.05);
  tg_fixture_logged("rtt_ms: allowance widened from 10 % to 25 %: the run 0000000000000000000000000000000f");
  tg_fixture_not_logged("rps: allowance");
  tg_host_baseline_free(baseline);
}

static void test_an_allowance_never_narrows_by_itself_but_when_asked(void **state) {
  (void)state;
  deposit_history(1.0);
  tg_fixture_write(TG_FIXTURE_FILE, tg_fixture_baseline);
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "curve")->allowance == 0.40);
  tg_host_baseline_free(baseline);
  tg_fixture.request.wishes[0] = (struct tg_record_wish){.kind = TG_WISH_NARROW, .row = "curve"};
  tg_fixture.request.num_wishes = 1;
  baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "curve")->allowance == 0.05);
  tg_fixture_logged("curve: allowance narrowed from 40 % to 5 %");
  tg_host_baseline_free(baseline);
}

static void test_an_excursion_is_listed_and_widens_nothing(void **state) {
  (void)state;
  deposit_history(1.6);
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->allowance == 0.05);
  tg_fixture_logged("rtt_ms: excursion in the run 0000000000000000000000000000000f");
  tg_host_baseline_free(baseline);
}

static void test_the_window_is_of_this_host_environment_and_profile_and_of_readable_runs(void **state) {
  (void)state;
  deposit_history(1.4);
  struct tg_report *odd = tg_fixture.runs[15].report;
  struct tg_environment *environment = &odd->environment;
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->allowance == 0.45);
  tg_host_baseline_free(baseline);
  json_t *dirty = json_pack("[s]", "x");
  for (int i = 0; i < 5; i++) {
    const struct tg_report before = *odd;
    switch (i) {
      case 0:
        environment->host = "loud";
        break;
      case 1:
        environment->kernel = "6.9";
        break;
      case 2:
        odd->profile = TG_PROFILE_PUBLISHED;
        break;
      case 3:
        odd->readable = false;
        break;
      default:
        environment->dirty_files = dirty;
        break;
    }
    assert_int_equal(unlink(TG_FIXTURE_FILE), 0);
    baseline = tg_fixture_recorded();
    assert_true(tg_host_baseline_row(baseline, "rtt_ms")->allowance == 0.05);
    tg_host_baseline_free(baseline);
    *odd = before;
  }
  json_decref(dirty);
}

static void test_samples_are_part_of_the_window(void **state) {
  (void)state;
  // Three deposits of B and the three samples of A are six runs over two revisions.
  deposit_history(1.0);
  tg_fixture.request.num_deposits = 3;
  tg_fixture.runs[2].rows[TG_RTT].value = 0.12;
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->allowance == 0.25);
  tg_host_baseline_free(baseline);
}

static void test_a_sample_that_is_deposited_too_counts_once(void **state) {
  (void)state;
  // Five distinct runs are too few, however often they are there.
  deposit_history(1.0);
  tg_fixture.runs[2].rows[TG_RTT].value = 0.12;
  for (int i = 0; i < 3; i++) {
    tg_fixture.deposits[2 + i] = tg_fixture.runs[i].report;
  }
  tg_fixture.request.num_deposits = 5;
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->allowance == 0.05);
  tg_host_baseline_free(baseline);
}

static void test_only_the_newest_forty_runs_of_the_window_count(void **state) {
  (void)state;
  for (int i = 3; i < TG_RUNS; i++) {
    tg_run_fixture_free(&tg_fixture.runs[i]);
    tg_run_fixture_make(&tg_fixture.runs[i], i, i % 2 == 0 ? TG_REVISION_A : TG_REVISION_B);
    tg_fixture.deposits[i - 3] = tg_fixture.runs[i].report;
  }
  tg_fixture.request.num_deposits = TG_RUNS - 3;
  tg_fixture.runs[TG_RUNS - 41].rows[TG_RTT].value = 0.14;  // the 41st newest
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->allowance == 0.05);
  tg_host_baseline_free(baseline);
  tg_fixture.runs[TG_RUNS - 40].rows[TG_RTT].value = 0.14;
  baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "rtt_ms")->allowance == 0.45);
  tg_host_baseline_free(baseline);
}

static void test_a_bound_is_disabled_and_enabled_by_recording(void **state) {
  (void)state;
  tg_fixture.request.wishes[0] = (struct tg_record_wish){.kind = TG_WISH_DISABLE, .row = "rps", .why = "a slow disk"};
  tg_fixture.request.num_wishes = 1;
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_true(tg_host_baseline_row(baseline, "rps")->disabled);
  assert_string_equal(tg_host_baseline_row(baseline, "rps")->note, "a slow disk");
  tg_host_baseline_free(baseline);
  tg_fixture.request.wishes[0] = (struct tg_record_wish){.kind = TG_WISH_ENABLE, .row = "rps"};
  baseline = tg_fixture_recorded();
  assert_false(tg_host_baseline_row(baseline, "rps")->disabled);
  assert_null(tg_host_baseline_row(baseline, "rps")->note);
  tg_host_baseline_free(baseline);
  tg_fixture.request.wishes[0].row = "rsp";
  tg_fixture_refused("a baseline has no row rsp");
}

static void test_a_row_that_the_manifest_lost_is_dropped_and_said(void **state) {
  (void)state;
  tg_fixture_write(TG_FIXTURE_FILE, tg_fixture_baseline);
  tg_fixture.manifest->num_gates = TG_CURVE;
  struct tg_host_baseline *baseline = tg_fixture_recorded();
  assert_null(tg_host_baseline_row(baseline, "curve"));
  tg_fixture_logged("curve: dropped");
  tg_host_baseline_free(baseline);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_record_set_up, tg_record_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_the_destination_supplies_allowances_notes_trust_and_disabled_bounds),
      TEST(test_rows_allowed_more_than_thirty_percent_are_listed_as_weak),
      TEST(test_every_widening_is_printed),
      TEST(test_an_allowance_never_narrows_by_itself_but_when_asked),
      TEST(test_an_excursion_is_listed_and_widens_nothing),
      TEST(test_the_window_is_of_this_host_environment_and_profile_and_of_readable_runs),
      TEST(test_samples_are_part_of_the_window),
      TEST(test_a_sample_that_is_deposited_too_counts_once),
      TEST(test_only_the_newest_forty_runs_of_the_window_count),
      TEST(test_a_bound_is_disabled_and_enabled_by_recording),
      TEST(test_a_row_that_the_manifest_lost_is_dropped_and_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

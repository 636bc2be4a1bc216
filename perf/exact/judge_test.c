// The verdict on figures, in words and as JSON.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/exact/judge.h"

static struct tg_exact_figures figures;
static struct tg_exact_baseline baseline;
static struct tg_exact_result result;

// One scenario, and a baseline with the same figures.
static int make_both(void **state) {
  (void)state;
  memset(&figures, 0, sizeof(figures));
  memset(&baseline, 0, sizeof(baseline));
  figures.keys = (struct tg_exact_keys){.boringssl = "r1", .compiler = "c1", .cpu = "x1"};
  figures.num_scenarios = 1;
  strcpy(figures.scenarios[0], "full");
  baseline.file = "baselines/exact.json";
  baseline.allowance[TG_EXACT_INSTRUCTIONS] = baseline.allowance[TG_EXACT_DISPATCHED] = 0.001;
  for (int section = 0; section < TG_EXACT_SECTIONS; section++) {
    baseline.has[section] = true;
  }
  figures.values[0][TG_CALL_ACCEPT] = 2;
  for (int metric = TG_EXACT_REARMS; metric < (int)TG_EXACT_METRICS; metric++) {
    figures.values[0][metric] = 10000;
  }
  for (int metric = 0; metric < (int)TG_EXACT_METRICS; metric++) {
    baseline.values[0][metric] = figures.values[0][metric];
    baseline.states[0][metric] = figures.values[0][metric] != 0 ? TG_EXACT_RECORDED : TG_EXACT_ABSENT;
  }
  return 0;
}

static void says(bool passed, const char *expected) {
  char *text = NULL;
  size_t size = 0;
  tg_exact_judge(&figures, &baseline, &result);
  FILE *to = open_memstream(&text, &size);
  tg_exact_print(&result, to);
  (void)fclose(to);
  if (strstr(text, expected) == NULL) {
    fail_msg("%s\nexpected: %s", text, expected);
  }
  assert_int_equal(tg_exact_passed(&result), passed);
  assert_int_equal(strstr(text, "accept it with: ./tlsgate record --exact") == NULL, passed);
  free(text);
}

static void the_same_figures_pass(void **state) {
  (void)state;
  says(true, "exact: 1 scenarios, 11 figures: 11 as recorded, 0 changed, 0 unenforced, 0 disabled\n");
}

static void each_kind_of_change_fails(void **state) {
  (void)state;
  figures.values[0][TG_CALL_ACCEPT] = 3;
  says(false, "fail        full: calls accept4: baseline 2, now 3\n");
  figures.values[0][TG_CALL_ACCEPT] = 0;
  says(false, "fail        full: calls accept4: baseline 2, now 0\n");
  figures.values[0][TG_CALL_ACCEPT] = 2;
  figures.values[0][TG_CALL_FCNTL] = 1;
  says(false, "fail        full: calls fcntl: baseline 0, now 1\n");
  figures.values[0][TG_CALL_FCNTL] = 0;
  for (int metric = TG_EXACT_REARMS; metric <= (int)TG_EXACT_PEAK_BYTES; metric++) {
    figures.values[0][metric]--;
    says(false, "now 9999\n");
    figures.values[0][metric]++;
  }
}

static void instructions_may_differ_by_the_allowance(void **state) {
  (void)state;
  figures.values[0][TG_EXACT_ACCEPT] = 10010;
  figures.values[0][TG_EXACT_CRYPTO] = 9990;
  says(true, "0 changed");
  figures.values[0][TG_EXACT_ACCEPT] = 10050;
  says(false, "fail        full: instructions accept: baseline 10000, now 10050 (+0.500 %, allowed 0.100 %)\n");
  figures.values[0][TG_EXACT_ACCEPT] = 9989;
  says(false, "full: instructions accept: baseline 10000, now 9989");
}

static void without_a_key_nothing_is_passed(void **state) {
  (void)state;
  baseline.has[TG_EXACT_MEMORY] = false;
  figures.values[0][TG_EXACT_BYTES] = 1;
  says(true,
       "UNENFORCED  memory: 3 figures: baselines/exact.json has none for boringssl \"r1\"; ./tlsgate record --exact "
       "adds them\n");
  assert_int_equal(result.num[TG_EXACT_PASS], 8);
  assert_int_equal(result.num[TG_EXACT_UNENFORCED], 3);
}

static void what_is_disabled_is_said_and_not_judged(void **state) {
  (void)state;
  baseline.states[0][TG_EXACT_BYTES] = TG_EXACT_DISABLED;
  figures.values[0][TG_EXACT_BYTES] = 1;
  says(true, "disabled    full: memory bytes: now 1\n");
  assert_int_equal(result.num[TG_EXACT_OFF], 1);
}

static void the_json_says_the_same(void **state) {
  (void)state;
  figures.values[0][TG_EXACT_ALLOCATIONS] = 1;
  baseline.has[TG_EXACT_DISPATCHED] = false;
  tg_exact_judge(&figures, &baseline, &result);
  json_t *json = tg_exact_result_json(&result);
  assert_non_null(json);
  assert_string_equal(json_string_value(json_object_get(json, "verdict")), "fail");
  assert_int_equal(json_integer_value(json_object_get(json, "failed")), 1);
  json_t *unenforced = json_array_get(json_object_get(json, "unenforced"), 0);
  assert_string_equal(json_string_value(json_object_get(unenforced, "section")), "dispatched");
  assert_string_equal(json_string_value(json_object_get(json_object_get(unenforced, "key"), "cpu")), "x1");
  json_t *rows = json_object_get(json, "rows");
  assert_int_equal(json_array_size(rows), 11);
  size_t failed = 0;
  size_t without = 0;
  size_t i = 0;
  json_t *row = NULL;
  json_array_foreach(rows, i, row) {
    const char *verdict = json_string_value(json_object_get(row, "verdict"));
    failed += strcmp(verdict, "fail") == 0;
    without += strcmp(verdict, "unenforced") == 0 && json_is_null(json_object_get(row, "baseline"));
  }
  assert_int_equal(failed, 1);
  assert_int_equal(without, 2);
  json_decref(json);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(the_same_figures_pass, make_both),
      cmocka_unit_test_setup(each_kind_of_change_fails, make_both),
      cmocka_unit_test_setup(instructions_may_differ_by_the_allowance, make_both),
      cmocka_unit_test_setup(without_a_key_nothing_is_passed, make_both),
      cmocka_unit_test_setup(what_is_disabled_is_said_and_not_judged, make_both),
      cmocka_unit_test_setup(the_json_says_the_same, make_both),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

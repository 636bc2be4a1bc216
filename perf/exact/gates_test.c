// The gates that come of a check's exact.json, and that the file is decoded strictly.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/exact/gates.h"
#include "perf/exact/judge.h"

static struct tg_exact_figures figures;
static struct tg_exact_baseline baseline;
static struct tg_exact_result result;
static char path[300];

// One scenario, and a baseline with the same figures.
static int make_both(void **state) {
  (void)state;
  memset(&figures, 0, sizeof(figures));
  memset(&baseline, 0, sizeof(baseline));
  figures.keys = (struct tg_exact_keys){.boringssl = "r1", .compiler = "c1", .cpu = "x1"};
  strcpy(figures.native_cpu, "x1 x2");
  figures.num_scenarios = 1;
  strcpy(figures.scenarios[0], "full");
  baseline.file = "baselines/exact.json";
  for (int section = 0; section < TG_EXACT_SECTIONS; section++) {
    baseline.has[section] = true;
  }
  for (int metric = TG_EXACT_REARMS; metric < (int)TG_EXACT_METRICS; metric++) {
    figures.values[0][metric] = 10000;
    baseline.values[0][metric] = 10000;
    baseline.states[0][metric] = TG_EXACT_RECORDED;
  }
  (void)snprintf(path, sizeof(path), "%s/exact.json", getenv("TEST_TMPDIR"));
  return 0;
}

static void write_json(json_t *json) {
  assert_non_null(json);
  assert_int_equal(json_dump_file(json, path, 0), 0);
  json_decref(json);
}

static json_t *judged(void) {
  tg_exact_judge(&figures, &baseline, &result);
  return tg_exact_result_json(&result);
}

static struct tg_exact_gates *load(void) {
  struct tg_error err;
  write_json(judged());
  struct tg_exact_gates *gates = tg_exact_gates_load(path, &err);
  if (gates == NULL) {
    fail_msg("%s", err.text);
  }
  return gates;
}

static const struct tg_gate_verdict *gate(const struct tg_exact_gates *gates, const char *name) {
  for (size_t i = 0; i < gates->num; i++) {
    if (strcmp(gates->gates[i].name, name) == 0) {
      return &gates->gates[i].verdict;
    }
  }
  fail_msg("no gate %s", name);
  return NULL;
}

static void each_section_of_a_scenario_is_a_gate(void **state) {
  (void)state;
  struct tg_exact_gates *gates = load();
  assert_int_equal(gates->num, TG_EXACT_SECTIONS);
  const struct tg_gate_verdict *calls = gate(gates, "exact/full/calls");
  assert_true(calls->status == TG_STATUS_PASS && calls->folded && calls->value == 0 && calls->rounds == 1);
  assert_int_equal(calls->gate->kind, TG_KIND_EXACT);
  assert_int_equal(gate(gates, "exact/full/memory")->gate->kind, TG_KIND_EXACT);
  assert_int_equal(gate(gates, "exact/full/instructions")->gate->kind, TG_KIND_COUNTED);
  assert_string_equal(gates->note, "exact         10 figures in 1 scenarios as accepted\n");
  tg_exact_gates_free(gates);
}

static void a_change_names_figures_and_command(void **state) {
  (void)state;
  figures.values[0][TG_EXACT_REARMS] = 10002;
  figures.values[0][TG_EXACT_STALLS] = 1;
  struct tg_exact_gates *gates = load();
  const struct tg_gate_verdict *calls = gate(gates, "exact/full/calls");
  assert_true(calls->status == TG_STATUS_FAIL && !calls->folded && calls->value == 2);
  assert_string_equal(calls->message,
                      "rearms: baseline 10000, now 10002; stalls: baseline 10000, now 1; if that is meant, accept it: "
                      "./tlsgate record --exact");
  assert_int_equal(gate(gates, "exact/full/memory")->status, TG_STATUS_PASS);
  assert_int_equal(gates->changed, 2);
  struct tg_verdict verdict = {.gates = NULL};
  assert_true(tg_exact_gates_add(gates, &verdict));
  assert_true(verdict.status == TG_STATUS_FAIL && verdict.failed == 1 && verdict.passed == 3);
  free(verdict.gates);
  tg_exact_gates_free(gates);
}

static void many_changes_fit_the_message(void **state) {
  (void)state;
  for (int metric = 0; metric < (int)TG_EXACT_METRICS; metric++) {
    figures.values[0][metric] = 1234567890123;
  }
  struct tg_exact_gates *gates = load();
  const char *message = gate(gates, "exact/full/calls")->message;
  assert_non_null(strstr(message, " more; if that is meant, accept it: ./tlsgate record --exact"));
  tg_exact_gates_free(gates);
}

static void without_a_key_nothing_is_passed(void **state) {
  (void)state;
  baseline.has[TG_EXACT_MEMORY] = false;
  struct tg_exact_gates *gates = load();
  const struct tg_gate_verdict *memory = gate(gates, "exact/full/memory");
  assert_true(memory->status == TG_STATUS_RECORDED && !memory->has_value);
  assert_string_equal(memory->message,
                      "UNENFORCED: baselines/exact.json has no figures for boringssl \"r1\"; ./tlsgate record --exact "
                      "adds them");
  assert_non_null(
      strstr(gates->note, "UNENFORCED, memory: baselines/exact.json has no figures for boringssl \"r1\"\n"));
  assert_non_null(strstr(gates->note, "7 figures in 1 scenarios as accepted\n"));
  tg_exact_gates_free(gates);
}

static void refused(json_t *json, const char *words) {
  struct tg_error err = {""};
  write_json(json);
  assert_null(tg_exact_gates_load(path, &err));
  if (strstr(err.text, words) == NULL) {
    fail_msg("\"%s\" lacks \"%s\"", err.text, words);
  }
}

static json_t *row_of(json_t *json) {
  return json_array_get(json_object_get(json, "rows"), 0);
}

static void what_contradicts_itself_is_refused(void **state) {
  (void)state;
  json_t *json = judged();
  (void)json_object_set_new(json, "extra", json_true());
  refused(json, "extra");
  json = judged();
  (void)json_object_set_new(json, "schema", json_integer(2));
  refused(json, "schema");
  json = judged();
  (void)json_object_set_new(row_of(json), "now", json_integer(10001));
  refused(json, "the figures say otherwise");
  json = judged();
  (void)json_object_set_new(json, "verdict", json_string("fail"));
  refused(json, "the figures say otherwise");
  json = judged();
  (void)json_object_set_new(json, "passed", json_integer(9));
  refused(json, "passed");
  json = judged();
  (void)json_object_set_new(row_of(json), "baseline", json_null());
  refused(json, "baseline");
  json = judged();
  (void)json_array_append(json_object_get(json, "rows"), row_of(json));
  refused(json, "there already");
  refused(tg_exact_failure_json("valgrind is missing"), "valgrind is missing");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(each_section_of_a_scenario_is_a_gate, make_both),
      cmocka_unit_test_setup(a_change_names_figures_and_command, make_both),
      cmocka_unit_test_setup(many_changes_fit_the_message, make_both),
      cmocka_unit_test_setup(without_a_key_nothing_is_passed, make_both),
      cmocka_unit_test_setup(what_contradicts_itself_is_refused, make_both),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

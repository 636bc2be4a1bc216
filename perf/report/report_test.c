// The report's format: both shapes come back as they were written, and nothing that contradicts itself is accepted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/report/report_fixture.h"

// Decodes what `report` encodes to, expecting success.
static struct tg_report *round_trip(const struct tg_report *report) {
  struct tg_error err;
  json_t *json = tg_report_encode(report);
  assert_non_null(json);
  struct tg_report *back = tg_report_from_json("r.json", json, &err);
  if (back == NULL) {
    fail_msg("%s", err.text);
  }
  json_t *again = tg_report_encode(back);
  assert_true(json_equal(json, again));
  json_decref(again);
  json_decref(json);
  return back;
}

static void expect_refusal(json_t *json, const char *words) {
  struct tg_error err = {""};
  struct tg_report *report = tg_report_from_json("r.json", json, &err);
  if (report != NULL || strstr(err.text, words) == NULL) {
    fail_msg("%s: expected \"%s\", got \"%s\"", report != NULL ? "accepted" : "refused", words, err.text);
  }
}

// Expects that the report is refused with `words` once `path` ("run.id", "gates.0.value") has `value` (NULL: is gone).
static void refuses(const struct tg_report *report, const char *path, json_t *value, const char *words) {
  char text[96];
  json_t *root = tg_report_encode(report);
  json_t *at = root;
  (void)snprintf(text, sizeof(text), "%s", path);
  char *rest = text;
  char *key = strsep(&rest, ".");
  while (rest != NULL) {
    at = json_is_array(at) ? json_array_get(at, (size_t)strtoul(key, NULL, 10)) : json_object_get(at, key);
    assert_non_null(at);
    key = strsep(&rest, ".");
  }
  if (value == NULL) {
    assert_int_equal(json_object_del(at, key), 0);
  } else {
    assert_int_equal(json_object_set_new(at, key, value), 0);
  }
  expect_refusal(root, words);
  json_decref(root);
}

static int set_up_complete(void **state) {
  struct tg_report_fixture *fixture = calloc(1, sizeof(*fixture));
  tg_report_fixture_complete(fixture);
  *state = fixture;
  return 0;
}

static int set_up_error(void **state) {
  struct tg_report_fixture *fixture = calloc(1, sizeof(*fixture));
  tg_report_fixture_error(fixture);
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  tg_report_fixture_free(*state);
  free(*state);
  return 0;
}

static void test_a_complete_report_comes_back(void **state) {
  struct tg_report_fixture *fixture = *state;
  struct tg_report *back = round_trip(&fixture->report);
  assert_int_equal(back->kind, TG_REPORT_COMPLETE);
  assert_string_equal(back->id, fixture->report.id);
  assert_int_equal(back->num_rows, TG_FIXTURE_ROWS);
  const struct tg_report_row *rps = tg_report_row_named(back, "rps");
  assert_int_equal(rps->direction, TG_AT_LEAST);
  assert_true(rps->value == 900);
  assert_true(rps->baseline.present && rps->baseline.ratio == 1.05 && rps->baseline.runs == 3);
  assert_false(rps->history.present);
  assert_int_equal(rps->trust.history_runs, 0);
  assert_int_equal(tg_report_row_named(back, "rtt_ms")->trust.history_runs, 3);
  assert_null(tg_report_row_named(back, "none"));
  assert_int_equal(back->num_earlier, 2);
  assert_true(back->earlier[0].finished && back->earlier[0].verdict == TG_OUTCOME_FAIL);
  assert_false(back->earlier[1].finished);
  assert_true(back->passed && back->acceptance && back->exit_status == TG_EXIT_PASS);
  assert_true(tg_environment_is_clean(&back->environment));
  tg_report_free(back);
}

// What cannot be read on a machine is null in the file, and comes back as unknown.
static void test_the_unknown_stays_unknown(void **state) {
  struct tg_report_fixture *fixture = *state;
  struct tg_report *report = &fixture->report;
  report->environment.commit = NULL;
  report->environment.cpu_model = NULL;
  report->environment.label = NULL;
  report->environment.dirty_files = NULL;
  report->has_stolen = false;
  report->calibration.known = false;
  report->drift.rows = 0;
  report->rows[2].trust.known = false;
  struct tg_report *back = round_trip(report);
  assert_null(back->environment.commit);
  assert_null(back->environment.label);
  assert_string_equal(tg_environment_missing(&back->environment), "commit");
  assert_false(tg_environment_is_clean(&back->environment));
  assert_string_equal(tg_environment_differs(&back->environment, &back->environment), "cpu_model");
  assert_false(tg_environment_same_revision(&back->environment, &back->environment));
  assert_false(back->has_stolen || back->calibration.known || back->rows[2].trust.known);
  assert_int_equal(back->drift.rows, 0);
  tg_report_free(back);
}

static void test_environments_differ_by_name(void **state) {
  struct tg_report_fixture *fixture = *state;
  struct tg_environment a = fixture->report.environment;
  struct tg_environment b = a;
  assert_null(tg_environment_differs(&a, &b));
  assert_true(tg_environment_same_revision(&a, &b));
  b.flags = "-O3";
  assert_string_equal(tg_environment_differs(&a, &b), "flags");
  b = a;
  b.cpus = 3;
  assert_string_equal(tg_environment_differs(&a, &b), "cpus");
  b = a;
  b.commit = "ffffffffffffffffffffffffffffffffffffffff";
  assert_null(tg_environment_differs(&a, &b));
  assert_false(tg_environment_same_revision(&a, &b));
}

static void test_an_error_report_has_no_measurement(void **state) {
  static const char *const measurements[] = {"gates",       "counts", "readable", "measured_s", "stolen_fraction",
                                             "calibration", "drift",  "commands", "background", "negative_control"};
  struct tg_report_fixture *fixture = *state;
  struct tg_report *back = round_trip(&fixture->report);
  assert_int_equal(back->kind, TG_REPORT_ERROR);
  assert_false(back->passed || back->acceptance);
  assert_int_equal(back->exit_status, TG_EXIT_FAIL);
  assert_string_equal(back->error_stage, "warm-up");
  assert_int_equal(back->error_round, 1);
  assert_false(tg_report_is_whole(back));
  tg_report_free(back);
  json_t *json = tg_report_encode(&fixture->report);
  for (size_t i = 0; i < sizeof(measurements) / sizeof(measurements[0]); i++) {
    assert_null(json_object_get(json, measurements[i]));
    refuses(&fixture->report, measurements[i], json_object(), "unknown key");
  }
  json_decref(json);
  refuses(&fixture->report, "passed", json_true(), "passed: must be false");
  refuses(&fixture->report, "error.stage", json_string("somewhere"), "error.stage");
  refuses(&fixture->report, "error.message", NULL, "error.message: missing");
  refuses(&fixture->report, "verdict", json_string("fail"), "verdict");
}

static void test_a_report_is_decoded_strictly(void **state) {
  struct tg_report_fixture *fixture = *state;
  static const struct {
    const char *path;
    const char *value;  // JSON; NULL: the key is removed
    const char *words;
  } cases[] = {
      {"schema", "1", "schema: version 1 is not known"},
      {"schema", "3", "docs/evidence.md"},
      {"surprise", "1", "surprise: unknown key"},
      {"run.id", "\"abc\"", "run.id: must be 32"},
      {"run.id", NULL, "run.id: missing"},
      {"run.start", "\"yesterday\"", "run.start"},
      {"run.finish", "\"2026-01-31T09:59:59Z\"", "run.finish: is before"},
      {"run.mode", "\"fast\"", "run.mode"},
      {"run.profile", "null", "run.profile"},
      {"provenance.commit", "\"main\"", "provenance.commit"},
      {"provenance.host", "null", "provenance.host"},
      {"provenance.surprise", "1", "provenance.surprise: unknown key"},
      {"provenance.dirty_files", "[1]", "provenance.dirty_files"},
      {"earlier_runs.total", "3", "earlier_runs.listed: must have 3"},
      {"earlier_runs.listed.0.verdict", "\"unfinished\"", "exit_status"},
      {"earlier_runs.listed.1.verdict", "\"maybe\"", "verdict"},
      {"gates", "[]", "gates: must have 1"},
      {"gates.0.value", "null", "gates[0].value: null"},
      {"gates.0.rounds", "0", "gates[0].rounds"},
      {"gates.0.name", "\"rps\"", "gates[1].name: \"rps\" is there already"},
      {"gates.0.name", "\"a b\"", "gates[0].name"},
      {"gates.0.trust", NULL, "gates[0].trust"},
      {"gates.0.trust", "{\"spread\": 1}", "gates[0].trust.instability: missing"},
      {"gates.0.trust.run_to_run", "\"none\"", "no_history"},
      {"gates.0.trust.run_to_run.runs", "0", "no_history"},
      {"gates.1.baseline.status", "\"recorded\"", "gates[1].baseline.status"},
      {"counts.passed", "4", "counts: the rows say otherwise"},
      {"reasons", "[\"noisy\"]", "reasons"},
      {"readable", "false", "reasons"},
      {"negative_control.host_stalls", "false", "negative_control.hidden_by"},
      {"calibration.values_us", "[]", "calibration.values_us"},
      {"calibration.values_us", "[0]", "calibration.values_us"},
      {"drift.rows", "0", "drift.rows"},
      {"exit_status", "2", "exit_status: 2 is usage"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    json_t *value = cases[i].value == NULL ? NULL : json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
    refuses(&fixture->report, cases[i].path, value, cases[i].words);
  }
}

static void test_a_report_that_contradicts_itself_is_refused(void **state) {
  struct tg_report_fixture *fixture = *state;
  struct tg_report *report = &fixture->report;
  refuses(report, "exit_status", json_integer(3), "exit_status: must be 0");
  refuses(report, "verdict", json_string("fail"), "verdict: is fail, but the rows say pass");
  refuses(report, "verdict", json_string("error"), "verdict");
  refuses(report, "passed", json_false(), "passed");
  refuses(report, "acceptance", json_false(), "acceptance");
  refuses(report, "enforced", json_true(), "enforced");
  refuses(report, "unenforced_because", json_string("x"), "unenforced_because");
  refuses(report, "undecided_reported", json_true(), "undecided_reported");
  refuses(report, "partial", json_true(), "partial");
}

static void concludes(struct tg_report *report, enum tg_exit status, bool passed, bool acceptance) {
  report->verdict = tg_report_verdict_of_rows(report);
  tg_report_conclude(report);
  assert_int_equal(report->exit_status, status);
  assert_int_equal(report->passed, passed);
  assert_int_equal(report->acceptance, acceptance);
  tg_report_free(round_trip(report));
}

static void test_exit_statuses(void **state) {
  struct tg_report_fixture *fixture = *state;
  struct tg_report *report = &fixture->report;
  concludes(report, TG_EXIT_PASS, true, true);
  report->rows[0].status = TG_STATUS_UNDECIDED;
  concludes(report, TG_EXIT_UNDECIDED, false, false);
  report->undecided_reported = true;
  concludes(report, TG_EXIT_PASS, false, false);
  report->undecided_reported = false;
  report->rows[0].status = TG_STATUS_CLIENT_BOUND;
  concludes(report, TG_EXIT_UNDECIDED, false, false);
  report->rows[1].status = TG_STATUS_FAIL;
  concludes(report, TG_EXIT_FAIL, false, false);
}

static void test_a_full_run_without_its_baseline_is_unenforced(void **state) {
  struct tg_report_fixture *fixture = *state;
  struct tg_report *report = &fixture->report;
  report->mode = TG_MODE_FULL;
  report->unenforced_because = "TLSGATE_PERF_HOST is not set";
  concludes(report, TG_EXIT_UNENFORCED, false, false);
  report->rows[0].status = TG_STATUS_UNDECIDED;
  concludes(report, TG_EXIT_UNENFORCED, false, false);
  report->rows[0].status = TG_STATUS_FAIL;
  concludes(report, TG_EXIT_FAIL, false, false);
  report->rows[0].status = TG_STATUS_PASS;
  report->enforced = true;
  report->unenforced_because = NULL;
  concludes(report, TG_EXIT_PASS, true, true);
}

static void test_what_is_no_acceptance(void **state) {
  struct tg_report_fixture *fixture = *state;
  struct tg_report *report = &fixture->report;
  report->mode = TG_MODE_RATIOS_ONLY;
  concludes(report, TG_EXIT_PASS, true, false);
  report->mode = TG_MODE_ONLY;
  report->partial = true;
  concludes(report, TG_EXIT_UNDECIDED, false, false);
  report->mode = TG_MODE_GATES;
  report->partial = false;
  report->profile = TG_PROFILE_PUBLISHED;
  concludes(report, TG_EXIT_PASS, true, false);
  report->profile = TG_PROFILE_SHORT;
  report->fault = "burn_cpu";
  concludes(report, TG_EXIT_PASS, true, false);
  report->fault = NULL;
  report->quickack = "off";
  concludes(report, TG_EXIT_PASS, true, false);
}

#define REPORT_TEST(set_up, test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      REPORT_TEST(set_up_complete, test_a_complete_report_comes_back),
      REPORT_TEST(set_up_complete, test_the_unknown_stays_unknown),
      REPORT_TEST(set_up_complete, test_environments_differ_by_name),
      REPORT_TEST(set_up_error, test_an_error_report_has_no_measurement),
      REPORT_TEST(set_up_complete, test_a_report_is_decoded_strictly),
      REPORT_TEST(set_up_complete, test_a_report_that_contradicts_itself_is_refused),
      REPORT_TEST(set_up_complete, test_exit_statuses),
      REPORT_TEST(set_up_complete, test_a_full_run_without_its_baseline_is_unenforced),
      REPORT_TEST(set_up_complete, test_what_is_no_acceptance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

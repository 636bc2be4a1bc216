// From a run to its report, on synthetic runs: what is enforced, what an unreadable run may still say, and that nothing
// that was tried is forgotten. No server, no clock.
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

#include "perf/baseline/host_baseline.h"
#include "perf/report/folder.h"
#include "perf/run/run_report.h"

static const char manifest_text[] =
    "{\"schema\": 1, \"about\": \"test\", \"purpose\": \"run\", \"gates\": ["
    "{\"name\": \"rtt_ms\", \"unit\": \"ms\", \"kind\": \"physics\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": 5, \"why\": \"a test\", \"fault\": \"f\"},"
    "{\"name\": \"rps\", \"unit\": \"1/s\", \"kind\": \"absolute\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"bound\": 200, \"why\": \"a test\", \"fault\": \"f\"}]}";

#define COMMIT "89abcdef0123456789abcdef0123456789abcdef"

static char root[256];       // of one test
static char workspace[300];  // below it
static char timed[300];
static char digest[TG_SHA256_HEX + 1];
static struct tg_manifest *manifest;
static json_t *provenance;
static struct tg_run run;
static struct tg_run_report_config config;

static const char *in(const char *folder, const char *name) {
  static char path[700];
  (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
  return path;
}

static void write_file(const char *path, const char *text) {
  struct tg_error err;
  assert_true(tg_folder_of_file_make(path, &err));
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int set_up(void **state) {
  (void)state;
  struct tg_error err;
  (void)snprintf(root, sizeof(root), "%s/report-XXXXXX", getenv("TEST_TMPDIR"));
  if (mkdtemp(root) == NULL || setenv("XDG_STATE_HOME", root, 1) != 0) {
    return -1;
  }
  (void)snprintf(workspace, sizeof(workspace), "%s/tree", root);
  (void)snprintf(timed, sizeof(timed), "%s/server", root);
  write_file(timed, "a server");
  assert_true(tg_sha256_of_file(timed, digest, &err));
  manifest = tg_manifest_parse("test", manifest_text, strlen(manifest_text), &err);
  provenance = json_pack("{s:s, s:[], s:s, s:s, s:s, s:s, s:i, s:n, s:s, s:s, s:s, s:s, s:{}, s:s}", "commit", COMMIT,
                         "dirty_files", "host", "quiet", "label", "quiet-1", "architecture", "x86_64", "cpu_model",
                         "A CPU", "cpus", 2, "os", "kernel", "6.1", "compiler", "clang", "flags", "-O2", "boringssl",
                         "abc", "stall_settings", "server_sha256", digest);
  config = (struct tg_run_report_config){
      .quickack = "rearm", .workspace = workspace, .timed = timed, .provenance = provenance, .manifest = manifest};
  return manifest == NULL || provenance == NULL ? -1 : 0;
}

static int tear_down(void **state) {
  (void)state;
  json_decref(provenance);
  tg_manifest_free(manifest);
  return 0;
}

// A run with six rounds of each row, around these values.
static void measure(double rtt_ms, double rps) {
  struct tg_error err;
  const struct tg_host_view host = {.stall_hidden_by = NULL};
  memset(&run, 0, sizeof(run));
  run.samples = tg_samples_create();
  run.raw = json_object();
  run.commands = json_object();
  run.host_stalls = true;
  for (size_t round = 0; round < 6; round++) {
    double wobble = round % 2 == 0 ? 1.01 : 0.99;
    assert_true(tg_samples_add(run.samples, "rtt_ms", round, rtt_ms * wobble, false, &err));
    assert_true(tg_samples_add(run.samples, "rps", round, rps * wobble, false, &err));
  }
  run.verdict = tg_verdict_judge(manifest, run.samples, &host);
}

static void begin(struct tg_run_report *report) {
  struct tg_error problem;
  struct tg_error err;
  if (!tg_run_report_begin(report, &config, &problem, &err) || problem.text[0] != '\0') {
    fail_msg("%s%s", err.text, problem.text);
  }
}

// Completes and publishes the run that was measured, in a folder of its own, and reads the report back.
static struct tg_report *conclude(struct tg_run_report *report) {
  struct tg_error err;
  static int number;
  char folder[400];
  (void)snprintf(folder, sizeof(folder), "%s/out-%d", root, number++);
  tg_run_report_complete(report, &run);
  if (!tg_run_report_publish(report, folder, &run, &err)) {
    fail_msg("%s", err.text);
  }
  tg_run_free(&run);
  tg_run_report_end(report);
  struct tg_report *back = tg_report_load(in(folder, "report.json"), &err);
  if (back == NULL) {
    fail_msg("%s", err.text);
  }
  return back;
}

static struct tg_report *whole(double rtt_ms, double rps) {
  struct tg_run_report report;
  begin(&report);
  measure(rtt_ms, rps);
  return conclude(&report);
}

static void exits(struct tg_report *report, enum tg_exit status) {
  assert_int_equal(report->exit_status, status);
  tg_report_free(report);
}

static void test_bounds_decide(void **state) {
  (void)state;
  exits(whole(0.1, 900), TG_EXIT_PASS);
  exits(whole(43, 900), TG_EXIT_FAIL);
  exits(whole(0.1, 50), TG_EXIT_FAIL);
}

// One figure of one scenario.
static struct tg_exact_gates *count(int now) {
  char text[800];
  struct tg_error err;
  (void)snprintf(
      text, sizeof(text),
      "{\"schema\": 1, \"verdict\": \"%s\", \"baseline\": \"baselines/exact.json\", \"keys\": {\"boringssl\": \"r\", "
      "\"compiler\": \"c\", \"cpu\": \"x\"}, \"cpu_native\": \"x\", \"passed\": %d, \"failed\": %d, \"not_enforced\": "
      "0, "
      "\"disabled\": 0, \"unenforced\": [], \"rows\": [{\"section\": \"calls\", \"scenario\": \"full\", \"name\": "
      "\"rearms\", \"now\": %d, \"baseline\": 3, \"allowed\": 0, \"verdict\": \"%s\"}]}",
      now == 3 ? "pass" : "fail", now == 3, now != 3, now, now == 3 ? "pass" : "fail");
  write_file(in(root, "exact.json"), text);
  struct tg_exact_gates *gates = tg_exact_gates_load(in(root, "exact.json"), &err);
  if (gates == NULL) {
    fail_msg("%s", err.text);
  }
  return gates;
}

// However noisy the machine was.
static void test_exact_gates_decide(void **state) {
  (void)state;
  struct tg_run_report report;
  begin(&report);
  measure(0.1, 900);
  run.exact = count(3);
  struct tg_report *back = conclude(&report);
  assert_int_equal(back->num_rows, 3);
  assert_true(back->acceptance);
  assert_int_equal(tg_report_row_named(back, "exact/full/calls")->status, TG_STATUS_PASS);
  exits(back, TG_EXIT_PASS);
  begin(&report);
  measure(0.1, 900);
  run.stolen = 0.2;
  run.exact = count(4);
  back = conclude(&report);
  assert_false(back->readable);
  assert_int_equal(tg_report_row_named(back, "exact/full/calls")->status, TG_STATUS_FAIL);
  assert_non_null(strstr(tg_report_row_named(back, "exact/full/calls")->message, "rearms: baseline 3, now 4"));
  assert_int_equal(tg_report_row_named(back, "rps")->status, TG_STATUS_UNDECIDED);
  exits(back, TG_EXIT_FAIL);
}

static void test_a_report_lists_every_earlier_run(void **state) {
  (void)state;
  struct tg_run_report killed;
  exits(whole(43, 900), TG_EXIT_FAIL);
  begin(&killed);  // and never ends
  tg_run_report_end(&killed);
  struct tg_run_report failed;
  struct tg_error err;
  const struct tg_run_failure failure = {
      .stage = "warm-up", .workload = "w", .round = 1, .error = {"rtt_client: refused"}};
  begin(&failed);
  tg_run_report_fail(&failed, &failure);
  assert_true(tg_run_report_publish(&failed, in(root, "failed"), NULL, &err));
  tg_run_report_end(&failed);
  struct tg_report *last = whole(0.1, 900);
  assert_int_equal(last->num_earlier_total, 3);
  size_t unfinished = 0;
  size_t failures = 0;
  size_t errors = 0;
  for (size_t i = 0; i < last->num_earlier; i++) {
    unfinished += !last->earlier[i].finished;
    failures += last->earlier[i].finished && last->earlier[i].verdict == TG_OUTCOME_FAIL;
    errors += last->earlier[i].finished && last->earlier[i].verdict == TG_OUTCOME_ERROR;
  }
  assert_true(unfinished == 1 && failures == 1 && errors == 1);
  tg_report_free(last);
}

static void test_run_to_run_needs_history_which_can_be_carried(void **state) {
  (void)state;
  char carried[400];
  (void)snprintf(carried, sizeof(carried), "%s/carried.jsonl", root);
  config.history = carried;
  struct tg_report *first = whole(0.1, 800);
  assert_int_equal(tg_report_row_named(first, "rps")->trust.history_runs, 0);
  tg_report_free(first);
  // Another checkout, on a machine without state.
  (void)snprintf(workspace, sizeof(workspace), "%s/other", root);
  assert_int_equal(setenv("XDG_STATE_HOME", in(root, "other-state"), 1), 0);
  struct tg_report *second = whole(0.1, 880);
  const struct tg_trust *trust = &tg_report_row_named(second, "rps")->trust;
  assert_int_equal(trust->history_runs, 1);
  assert_true(trust->history_ratio > 1.09 && trust->history_ratio < 1.11);
  assert_int_equal(second->num_earlier_total, 1);
  tg_report_free(second);
}

static void test_an_unreadable_run_decides_physics_alone(void **state) {
  (void)state;
  struct tg_run_report report;
  begin(&report);
  measure(0.1, 50);
  run.stolen = 0.2;
  struct tg_report *back = conclude(&report);
  assert_false(back->readable);
  assert_non_null(strstr(back->reasons[0], "stolen"));
  assert_int_equal(tg_report_row_named(back, "rtt_ms")->status, TG_STATUS_PASS);
  assert_int_equal(tg_report_row_named(back, "rps")->status, TG_STATUS_UNDECIDED);
  exits(back, TG_EXIT_UNDECIDED);
  begin(&report);
  measure(43, 900);
  run.stolen = 0.2;
  exits(conclude(&report), TG_EXIT_FAIL);
}

static void test_undecided_is_reported_when_asked_but_not_of_a_full_run(void **state) {
  (void)state;
  struct tg_run_report report;
  config.report_undecided = true;
  begin(&report);
  measure(0.1, 900);
  run.stolen = 0.2;
  struct tg_report *back = conclude(&report);
  assert_true(back->undecided_reported && !back->passed && !back->acceptance);
  exits(back, TG_EXIT_PASS);
  config.mode = TG_MODE_ONLY;
  begin(&report);
  measure(0.1, 900);
  run.stolen = 0.2;
  exits(conclude(&report), TG_EXIT_UNDECIDED);
}

static void record(const char *label, const char *host, double rps) {
  struct tg_host_baseline baseline = {
      .about = "test",
      .label = label,
      .recorded = "2026-01-01T00:00:00Z",
      .runs = 3,
      .environment = {.commit = COMMIT,
                      .host = host,
                      .label = label,
                      .architecture = "x86_64",
                      .cpu_model = "A CPU",
                      .kernel = "6.1",
                      .compiler = "clang",
                      .flags = "-O2",
                      .boringssl = "abc",
                      .server_sha256 = digest,
                      .cpus = 2,
                      .dirty_files = json_object_get(provenance, "dirty_files"),
                      .stall_settings = json_object_get(provenance, "stall_settings")},
      .run_ids = {"11111111111111111111111111111111", "22222222222222222222222222222222",
                  "33333333333333333333333333333333"},
      .num_run_ids = 3,
      .rows = {{.name = "rtt_ms", .median = 0.1, .allowance = 0.1}, {.name = "rps", .median = rps, .allowance = 0.1}},
      .num_rows = 2};
  char name[100];
  tg_trust_limits_default(&baseline.trust);
  json_t *json = tg_host_baseline_encode(&baseline);
  assert_non_null(json);
  char *text = json_dumps(json, JSON_INDENT(2));
  (void)snprintf(name, sizeof(name), "baselines/hosts/%s.json", label);
  write_file(in(workspace, name), text);
  free(text);
  json_decref(json);
}

static void test_a_full_run_enforces_the_baseline(void **state) {
  (void)state;
  config.mode = TG_MODE_FULL;
  record("quiet-1", "quiet", 900);
  struct tg_report *good = whole(0.1, 880);
  assert_true(good->enforced && good->acceptance);
  assert_true(tg_report_row_named(good, "rps")->baseline.present);
  assert_int_equal(good->drift.rows, 2);
  exits(good, TG_EXIT_PASS);
  struct tg_report *bad = whole(0.1, 700);  // within its bound, and 1.29 x worse than recorded
  assert_true(bad->enforced);
  assert_int_equal(tg_report_row_named(bad, "rps")->baseline.status, TG_STATUS_FAIL);
  assert_int_equal(tg_report_row_named(bad, "rps")->status, TG_STATUS_FAIL);
  assert_non_null(strstr(tg_report_row_named(bad, "rps")->message, "recorded of this host"));
  exits(bad, TG_EXIT_FAIL);
  config.mode = TG_MODE_GATES;
  exits(whole(0.1, 700), TG_EXIT_PASS);
}

static void unenforced(const char *because) {
  config.mode = TG_MODE_FULL;
  struct tg_report *report = whole(0.1, 900);
  assert_false(report->enforced || report->passed || report->acceptance);
  assert_int_equal(report->verdict, TG_OUTCOME_UNENFORCED);
  if (strstr(report->unenforced_because, because) == NULL) {
    fail_msg("\"%s\" lacks \"%s\"", report->unenforced_because, because);
  }
  exits(report, TG_EXIT_UNENFORCED);
}

static void test_a_full_run_is_unenforced(void **state) {
  (void)state;
  unenforced("no baseline for the host quiet-1");
  record("quiet-1", "another", 900);
  unenforced("host differs");
  assert_int_equal(json_object_set_new(provenance, "label", json_null()), 0);
  unenforced("TLSGATE_PERF_HOST");
  config.workspace = "";
  unenforced("source tree");
  config.fault = "burn_cpu";
  unenforced("planted fault");
}

static void test_a_failed_gate_is_worse_than_a_missing_baseline(void **state) {
  (void)state;
  config.mode = TG_MODE_FULL;
  exits(whole(43, 900), TG_EXIT_FAIL);
}

static void test_a_baseline_that_does_not_decode_fails_the_run(void **state) {
  (void)state;
  struct tg_run_report report;
  struct tg_error problem;
  struct tg_error err;
  config.mode = TG_MODE_FULL;
  write_file(in(workspace, "baselines/hosts/quiet-1.json"), "{}");
  assert_true(tg_run_report_begin(&report, &config, &problem, &err));
  assert_non_null(strstr(problem.text, "quiet-1.json"));
  tg_run_report_end(&report);
}

static void test_a_history_that_does_not_decode_fails_the_run(void **state) {
  (void)state;
  struct tg_run_report report;
  struct tg_error problem;
  struct tg_error err;
  write_file(in(workspace, "baselines/history/a-cpu.json"), "{}");
  assert_true(tg_run_report_begin(&report, &config, &problem, &err));
  assert_non_null(strstr(problem.text, "a-cpu.json"));
  tg_run_report_end(&report);
  config.mode = TG_MODE_RATIOS_ONLY;  // judges none
  assert_true(tg_run_report_begin(&report, &config, &problem, &err));
  assert_string_equal(problem.text, "");
  tg_run_report_end(&report);
}

static void test_the_history_of_the_cpu_model_decides(void **state) {
  (void)state;
  struct tg_cpu_history history = {.about = "test", .cpu_model = "A CPU", .factor = TG_HISTORY_FACTOR, .num_rows = 5};
  struct tg_history_value values[] = {{"rtt_ms", 0.1}, {"rps", 2000}};
  static const char *const ids[] = {"10000000000000000000000000000000", "20000000000000000000000000000000",
                                    "30000000000000000000000000000000", "40000000000000000000000000000000",
                                    "50000000000000000000000000000000"};
  for (size_t i = 0; i < 5; i++) {
    history.rows[i] = (struct tg_history_row){
        .id = ids[i], .date = "2026-01-01T00:00:00Z", .revision = COMMIT, .values = values, .num_values = 2};
  }
  json_t *json = tg_cpu_history_encode(&history);
  char *text = json_dumps(json, JSON_INDENT(2));
  write_file(in(workspace, "baselines/history/a-cpu.json"), text);
  free(text);
  json_decref(json);
  exits(whole(0.1, 1900), TG_EXIT_PASS);
  struct tg_report *report = whole(0.1, 900);
  assert_int_equal(tg_report_row_named(report, "rps")->history.status, TG_STATUS_FAIL);
  assert_string_equal(report->drift.against, "history");
  exits(report, TG_EXIT_FAIL);
}

static void test_evidence_exits_0_with_whatever_verdict(void **state) {
  (void)state;
  config.evidence = true;
  struct tg_report *report = whole(43, 900);
  assert_int_equal(report->verdict, TG_OUTCOME_FAIL);
  assert_false(report->passed || report->acceptance);
  exits(report, TG_EXIT_PASS);
  report = whole(0.1, 900);
  assert_false(report->acceptance);
  tg_report_free(report);
  struct tg_run_report failed;
  const struct tg_run_failure failure = {.stage = "server", .error = {"gone"}};
  begin(&failed);
  tg_run_report_fail(&failed, &failure);
  assert_int_equal(failed.report.exit_status, TG_EXIT_FAIL);
  tg_run_report_end(&failed);
}

static void test_the_timed_binary_is_the_one_of_the_hash(void **state) {
  (void)state;
  struct tg_run_report report;
  begin(&report);
  measure(0.1, 900);
  write_file(timed, "another server");
  struct tg_report *back = conclude(&report);
  assert_int_equal(back->kind, TG_REPORT_ERROR);
  assert_non_null(strstr(back->error_message, "was replaced while it was measured"));
  exits(back, TG_EXIT_FAIL);
}

static void test_an_unpublished_run_is_logged_as_an_error(void **state) {
  (void)state;
  struct tg_run_report report;
  struct tg_error err;
  begin(&report);
  measure(0.1, 900);
  tg_run_report_complete(&report, &run);
  assert_false(tg_run_report_publish(&report, "/proc/nowhere", &run, &err));
  assert_int_equal(strncmp(err.text, "report unavailable", 18), 0);
  tg_run_free(&run);
  tg_run_report_end(&report);
  struct tg_report *next = whole(0.1, 900);
  assert_int_equal(next->num_earlier_total, 1);
  assert_int_equal(next->earlier[0].verdict, TG_OUTCOME_ERROR);
  tg_report_free(next);
}

static void test_a_run_that_can_be_logged_nowhere_does_not_run(void **state) {
  (void)state;
  struct tg_run_report report;
  struct tg_error problem;
  struct tg_error err;
  config.workspace = "";
  assert_int_equal(setenv("XDG_STATE_HOME", "/proc/nowhere", 1), 0);
  assert_false(tg_run_report_begin(&report, &config, &problem, &err));
  assert_non_null(strstr(err.text, "/proc/nowhere"));
  tg_run_report_end(&report);
}

#define REPORT_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      REPORT_TEST(test_bounds_decide),
      REPORT_TEST(test_exact_gates_decide),
      REPORT_TEST(test_a_report_lists_every_earlier_run),
      REPORT_TEST(test_run_to_run_needs_history_which_can_be_carried),
      REPORT_TEST(test_an_unreadable_run_decides_physics_alone),
      REPORT_TEST(test_undecided_is_reported_when_asked_but_not_of_a_full_run),
      REPORT_TEST(test_a_full_run_enforces_the_baseline),
      REPORT_TEST(test_a_full_run_is_unenforced),
      REPORT_TEST(test_a_failed_gate_is_worse_than_a_missing_baseline),
      REPORT_TEST(test_a_baseline_that_does_not_decode_fails_the_run),
      REPORT_TEST(test_a_history_that_does_not_decode_fails_the_run),
      REPORT_TEST(test_the_history_of_the_cpu_model_decides),
      REPORT_TEST(test_evidence_exits_0_with_whatever_verdict),
      REPORT_TEST(test_the_timed_binary_is_the_one_of_the_hash),
      REPORT_TEST(test_an_unpublished_run_is_logged_as_an_error),
      REPORT_TEST(test_a_run_that_can_be_logged_nowhere_does_not_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Parts that are Bazel tests, and their verdict: every test that was planned has passed.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/certify/parts_internal.h"
#include "perf/certify/plan.h"
#include "perf/certify/test_results.h"

#define RESULTS_FILE "tests.json"

// All tests of //:certification on a machine that has built nothing of them yet: some twenty minutes on two cores, and
// ten times that on a busy one.
#define TESTS_LIMIT_S 14400.0

#define LOGS_MAX 20  // of tests that did not pass, in the folder

bool tg_tests_binaries(const struct tg_part_run *run, json_t *paths, struct tg_error *err) {
  json_t *plan = tg_plan_load(run->plan, err);
  const json_t *labels = tg_plan_tests(plan, run->part->name);
  size_t i;
  const json_t *label;
  json_array_foreach(labels, i, label) {
    char path[PATH_MAX];
    tg_label_path(path, "bazel-bin", json_string_value(label), "");
    (void)json_array_append_new(paths, json_string(path));
  }
  json_decref(plan);
  return plan != NULL;
}

// Bazel takes long lists from a file.
static bool write_labels(const json_t *labels, const char *path, struct tg_error *err) {
  FILE *file = fopen(path, "we");
  size_t i;
  const json_t *label;
  bool ok = file != NULL;
  json_array_foreach(labels, i, label) {
    ok = ok && fprintf(file, "%s\n", json_string_value(label)) > 0;
  }
  ok = (file == NULL || fclose(file) == 0) && ok;
  if (!ok) {
    tg_error_set(err, "%s: %s", path, strerror(errno));
  }
  return ok;
}

// The logs of tests that did not pass, for people.
static void keep_logs(const struct tg_part_run *run, const struct tg_test_results *results, bool all) {
  size_t kept = 0;
  for (size_t i = 0; i < results->num && kept < LOGS_MAX; i++) {
    if (!all && strcmp(results->tests[i].status, "PASSED") == 0) {
      continue;
    }
    char log[PATH_MAX];
    char from[2 * PATH_MAX];
    char name[PATH_MAX];
    tg_label_path(log, "bazel-testlogs", results->tests[i].label, "/test.log");
    (void)snprintf(from, sizeof(from), "%s/%s", run->source->workspace, log);
    (void)snprintf(name, sizeof(name), "%.200s.log", results->tests[i].label + strlen("//"));
    for (char *c = name; *c != '\0'; c++) {
      *c = (char)(*c == '/' || *c == ':' ? '.' : *c);
    }
    kept += tg_raw_copy(run, from, name, NULL);
  }
}

static bool test_labels(const struct tg_part_run *run, const json_t *labels, bool all_logs, struct tg_error *err) {
  char targets[PATH_MAX];
  char events[PATH_MAX];
  char list[PATH_MAX + 32];
  char events_option[PATH_MAX + 32];
  tg_raw_path(targets, run, ".targets");
  tg_raw_path(events, run, ".events");
  (void)snprintf(list, sizeof(list), "--target_pattern_file=%s", targets);
  (void)snprintf(events_option, sizeof(events_option), "--build_event_json_file=%s", events);
  const char *const argv[] = {"bazel",      "test",        "--keep_going",         "--show_progress_rate_limit=10",
                              "--color=no", "--curses=no", "--test_output=errors", events_option,
                              list,         NULL};
  if (!write_labels(labels, targets, err)) {
    return false;
  }
  int status = tg_part_command(run, argv, "bazel.log", TESTS_LIMIT_S, err);
  json_t *json = status >= 0 ? tg_test_results_from_events(events, labels, err) : NULL;
  (void)unlink(targets);
  (void)unlink(events);
  struct tg_test_results results;
  char path[PATH_MAX];
  tg_raw_path(path, run, RESULTS_FILE);
  bool ok = json != NULL && tg_raw_write(run, RESULTS_FILE, json, err) && tg_test_results_load(&results, path, err);
  if (ok) {
    keep_logs(run, &results, all_logs);
    tg_test_results_free(&results);
  }
  json_decref(json);
  return ok;
}

static bool run_tests(const struct tg_part_run *run, bool all_logs, struct tg_error *err) {
  json_t *plan = tg_plan_load(run->plan, err);
  const json_t *labels = tg_plan_tests(plan, run->part->name);
  bool ok = labels != NULL && test_labels(run, labels, all_logs, err);
  if (plan != NULL && labels == NULL) {
    tg_error_set(err, "//:certification has no test for this part");
  }
  json_decref(plan);
  return ok;
}

bool tg_tests_run(const struct tg_part_run *run, struct tg_error *err) {
  return run_tests(run, false, err);
}

bool tg_tests_run_with_logs(const struct tg_part_run *run, struct tg_error *err) {
  return run_tests(run, true, err);
}

// The tests that ran are those of the plan.
static bool check_asked(const struct tg_test_results *results, const json_t *planned, struct tg_error *err) {
  bool same = json_array_size(planned) == results->num;
  for (size_t i = 0; same && i < results->num; i++) {
    same = strcmp(json_string_value(json_array_get(planned, i)), results->tests[i].label) == 0;
  }
  if (!same) {
    tg_error_set(err, "%s has other tests than %s plans for this part", RESULTS_FILE, TG_PLAN_FILE);
  }
  return same;
}

static json_t *figures_of(const struct tg_test_results *results) {
  json_t *others = json_array();
  double seconds = 0;
  for (size_t i = 0; i < results->num; i++) {
    const struct tg_test_result *test = &results->tests[i];
    seconds += test->cached ? 0 : test->duration_s;
    if (strcmp(test->status, "PASSED") != 0) {
      (void)json_array_append_new(others, json_pack("{s:s, s:s}", "label", test->label, "status", test->status));
    }
  }
  return json_pack("{s:I, s:I, s:I, s:f, s:o}", "tests", (json_int_t)results->num, "passed",
                   (json_int_t)results->passed, "cached", (json_int_t)results->cached, "test_s", seconds, "not_passed",
                   others);
}

bool tg_tests_judge(const struct tg_part *part, const struct tg_evidence *evidence, struct tg_part_verdict *out,
                    struct tg_error *err) {
  char path[PATH_MAX];
  struct tg_test_results results;
  (void)snprintf(path, sizeof(path), "%.4000s/" RESULTS_FILE, evidence->folder);
  json_t *plan = tg_plan_load(evidence->plan, err);
  if (plan == NULL || !tg_test_results_load(&results, path, err)) {
    json_decref(plan);
    return false;
  }
  bool ok = check_asked(&results, tg_plan_tests(plan, part->name), err);
  if (ok) {
    bool passed = results.passed == results.num && results.finished && results.code == 0;
    out->outcome = passed ? TG_OUTCOME_PASS : TG_OUTCOME_FAIL;
    (void)snprintf(out->message, sizeof(out->message), "%zu of %zu tests passed%s%s", results.passed, results.num,
                   passed ? "" : "; Bazel ended with ",
                   passed             ? ""
                   : results.finished ? results.exit
                                      : "nothing said");
    out->figures = figures_of(&results);
  }
  tg_test_results_free(&results);
  json_decref(plan);
  return ok;
}

// The comparison as a program: what it refuses, what it reports of servers that fail, that it passes a server against
// itself or leaves it undecided, and that it fails one that has become slower.
// usage: cli_test AB_COMPARE HTTPS_SERVER FAULTY_SERVER
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <jansson.h>

#include "perf/compare/judge.h"
#include "perf/process/child.h"

#define ARGS_MAX      12
#define RUN_TIMEOUT_S 400

static const char *program;
static const char *server;
static const char *faulty;
static char folder[PATH_MAX];

static void run(const char *const *args, int status, const char *words) {
  const char *argv[ARGS_MAX] = {program};
  struct tg_child_result result;
  struct tg_error err;
  for (size_t i = 0; args[i] != NULL; i++) {
    argv[i + 1] = args[i];
  }
  if (!tg_child_run(argv, RUN_TIMEOUT_S, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != status || (strstr(result.err, words) == NULL && strstr(result.out, words) == NULL)) {
    fail_msg("exit %d, wanted %d and \"%s\"\n%s%s", result.exit_status, status, words, result.out, result.err);
  }
  tg_child_result_free(&result);
}

static json_t *report(void) {
  char path[PATH_MAX];
  (void)snprintf(path, sizeof(path), "%.4000s/report.json", folder);
  json_t *json = json_load_file(path, 0, NULL);
  assert_non_null(json);
  return json;
}

static int make_folder(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof(folder), "%.3000s/ab-XXXXXX", getenv("TEST_TMPDIR"));
  (void)unsetenv("TLSGATE_FAULT");
  return mkdtemp(folder) == NULL ? -1 : 0;
}

static void bad_usage_is_refused(void **state) {
  (void)state;
  const struct {
    const char *args[6];
    const char *words;
  } cases[] = {
      {{"--nonsense"}, "--nonsense"},
      {{NULL}, "BASE CANDIDATE"},
      {{server}, "BASE CANDIDATE"},
      {{server, server, server}, "BASE CANDIDATE"},
      {{server, "/nowhere/https_server"}, "candidate /nowhere/https_server is not a program"},
      {{folder, server}, "is not a program"},
      {{server, server, "--rounds", "4"}, "5 to 200, not 4"},
      {{server, server, "--rounds", "7.5"}, "not 7.5"},
      {{server, server, "--allow", "0"}, "not 0"},
      {{server, server, "--allow", "5%"}, "not 5%"},
      {{server, server, "--budget", "9"}, "not 9"},
      {{server, server, "--out", "/proc/nowhere"}, "/proc/nowhere"},
      {{"--series", server}, "takes no servers"},
      {{"--series", "--record", "x"}, "--record"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    run(cases[i].args, 2, cases[i].words);
  }
  const char *const help[] = {"--help", NULL};
  run(help, 0, "usage:");
}

static void expect_failure_report(const char *words) {
  json_t *json = report();
  const char *stage = NULL;
  const char *message = NULL;
  int passed = 1;
  assert_int_equal(
      json_unpack(json, "{s:b, s:{s:s, s:s}}", "passed", &passed, "error", "stage", &stage, "message", &message), 0);
  assert_false(passed);
  assert_string_equal(stage, "measure");
  if (strstr(message, words) == NULL) {
    fail_msg("%s is not in: %s", words, message);
  }
  assert_non_null(json_object_get(json, "provenance"));
  assert_null(json_object_get(json, "metrics"));
  assert_null(json_object_get(json, "samples"));
  json_decref(json);
}

static void a_server_that_dies_is_an_error_report(void **state) {
  (void)state;
  assert_int_equal(setenv("TLSGATE_FAULT", "exits", 1), 0);
  const char *const args[] = {server, faulty, "--out", folder, "--quiet", NULL};
  run(args, 1, "candidate");
  expect_failure_report("candidate");
}

static void a_program_that_is_no_server_is_an_error_report(void **state) {
  (void)state;
  const char *const args[] = {"/bin/true", server, "--out", folder, "--quiet", NULL};
  run(args, 1, "no ready line");
  expect_failure_report("server base: no ready line");
}

static const char *status_of(const json_t *json, const char *metric) {
  size_t index = 0;
  json_t *row = NULL;
  json_array_foreach(json_object_get(json, "metrics"), index, row) {
    if (strcmp(json_string_value(json_object_get(row, "name")), metric) == 0) {
      return json_string_value(json_object_get(row, "status"));
    }
  }
  fail_msg("no metric %s", metric);
  return NULL;
}

// CPU burnt in every handshake, as much again as half of it: whatever else runs here, that is seen, twice.
static void a_server_that_has_become_slower_fails(void **state) {
  (void)state;
  assert_int_equal(setenv("TLSGATE_FAULT", "burn_handshake", 1), 0);
  assert_int_equal(setenv("TLSGATE_BURN_NS", "400000", 1), 0);
  const char *const args[] = {server, faulty, "--out", folder, "--quiet", "--rounds", "6", NULL};
  run(args, 1, "in a second set of rounds");
  json_t *json = report();
  assert_string_equal(status_of(json, "full_handshake_cpu_us"), "fail");
  assert_string_equal(status_of(json, "resumed_handshake_cpu_us"), "fail");
  assert_int_equal(json_array_size(json_object_get(json, "samples")), 2);
  json_decref(json);
}

static size_t runs_of(const json_t *set, const char *side, const char *metric) {
  return json_array_size(json_object_get(json_object_get(json_object_get(set, side), metric), "values"));
}

static void a_server_does_not_fail_against_itself(void **state) {
  (void)state;
  char record[PATH_MAX];
  (void)snprintf(record, sizeof(record), "%.4000s/record.json", folder);
  const char *argv[ARGS_MAX] = {program, server, server, "--out", folder, "--rounds", "5", "--record", record, NULL};
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, RUN_TIMEOUT_S, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != 0 && result.exit_status != 3) {
    fail_msg("exit %d\n%s%s", result.exit_status, result.out, result.err);
  }
  assert_non_null(strstr(result.err, "round 5 of 5"));
  json_t *json = report();
  assert_int_equal(json_is_true(json_object_get(json, "passed")), result.exit_status == 0);
  tg_child_result_free(&result);
  const json_t *set = json_array_get(json_object_get(json, "samples"), 0);
  struct tg_compare_set recorded;
  if (!tg_compare_record_load(&recorded, record, &err)) {
    fail_msg("%s", err.text);
  }
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    const char *metric = tg_compare_metrics[i].name;
    assert_int_equal(runs_of(set, "base", metric), 10);
    assert_int_equal(runs_of(set, "candidate", metric), 10);
    assert_int_equal(tg_compare_set_rounds(&recorded, metric), 5);
  }
  tg_compare_set_free(&recorded);
  const char *sha256[TG_COMPARE_SIDES] = {NULL, NULL};
  assert_int_equal(
      json_unpack(json, "{s:{s:s}, s:{s:s}}", "base", "sha256", &sha256[0], "candidate", "sha256", &sha256[1]), 0);
  assert_int_equal(strlen(sha256[0]), 64);
  assert_string_equal(sha256[0], sha256[1]);
  json_decref(json);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: cli_test AB_COMPARE HTTPS_SERVER FAULTY_SERVER\n");
    return 2;
  }
  program = argv[1];
  server = argv[2];
  faulty = argv[3];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(bad_usage_is_refused, make_folder),
      cmocka_unit_test_setup(a_server_that_dies_is_an_error_report, make_folder),
      cmocka_unit_test_setup(a_program_that_is_no_server_is_an_error_report, make_folder),
      cmocka_unit_test_setup(a_server_that_has_become_slower_fails, make_folder),
      cmocka_unit_test_setup(a_server_does_not_fail_against_itself, make_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

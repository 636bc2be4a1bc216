// The command: exit statuses, the report and what is said of wrong input.
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/process/child.h"

static const char *program;
static char folder[256];

static void run(int status, const char *in_out, const char *in_err, const char *const *arguments) {
  const char *argv[16] = {program};
  struct tg_child_result result = {.exit_status = -1};
  struct tg_error err;
  for (size_t i = 0; i < 14 && arguments[i] != NULL; i++) {
    argv[i + 1] = arguments[i];
  }
  if (!tg_child_run(argv, 120, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != status || strstr(result.out, in_out) == NULL || strstr(result.err, in_err) == NULL) {
    fail_msg("status %d, not %d, or no \"%s\" or \"%s\" in:\n%s%s", result.exit_status, status, in_out, in_err,
             result.out, result.err);
  }
  tg_child_result_free(&result);
}

#define RUN(status, in_out, in_err, ...) run(status, in_out, in_err, (const char *const[]){__VA_ARGS__, NULL})

static void test_usage(void **state) {
  (void)state;
  RUN(0, "--server FILE", "", "--help");
  RUN(0, "never_reading", "", "--list");
  RUN(2, "", "--only", "--only", "nothing");
  RUN(2, "", "--limit takes 1 to 600", "--limit", "0");
  RUN(2, "", "--connections takes", "--connections", "10.5");
  RUN(2, "", "--workers takes", "--workers", "none");
  RUN(2, "", "unexpected argument", "own");
  RUN(2, "", "--help lists", "--nothing");
  RUN(2, "", "/nowhere.json", "--server", "/nowhere.json");
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void test_a_server_that_is_not_there(void **state) {
  (void)state;
  char path[300];
  (void)snprintf(path, sizeof(path), "%s/absent.json", folder);
  write_file(path,
             "{\"schema\": 1, \"name\": \"absent\", \"package\": \"absent-light\", \"start\": [\"absent-server\"],"
             "\"ready\": {\"by\": \"connect\", \"within_s\": 1},"
             "\"stop\": {\"signal\": \"TERM\", \"status\": 0, \"within_s\": 1},"
             "\"ports\": {\"tls\": \"free\", \"http\": null},"
             "\"routes\": {\"small\": {\"path\": \"/\", \"bytes\": 15}, \"big\": {\"path\": \"/b\", \"bytes\": 65536},"
             "\"upload\": null}, \"gates\": {\"left_out\": []}}");
  RUN(1, "", "apt-get install --no-install-recommends absent-light", "--server", path, "--out", folder);
  write_file(path, "{\"schema\": 1}");
  RUN(2, "", "name: missing", "--server", path, "--out", folder);
}

static void test_a_run_and_its_report(void **state) {
  (void)state;
  char path[300];
  json_error_t error;
  (void)snprintf(path, sizeof(path), "%s/report.json", folder);
  RUN(0, "1/1 passed", "", "--only", "segmented_hello", "--quiet", "--out", folder);
  json_t *report = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  assert_non_null(report);
  assert_string_equal(json_string_value(json_object_get(report, "kind")), "probe");
  assert_string_equal(json_string_value(json_object_get(report, "verdict")), "pass");
  assert_int_equal(json_array_size(json_object_get(report, "probes")), 1);
  json_decref(report);
}

// What cannot be tried is not passed: the descriptors of this process are too few for the probe.
static void test_undecided(void **state) {
  (void)state;
  char limited[400];
  (void)snprintf(limited, sizeof(limited),
                 "ulimit -n 100; exec \"$0\" --only silent_connections --limit 1 --settle 5 --quiet --out '%.250s'",
                 folder);
  const char *const argv[] = {"/bin/sh", "-c", limited, program, NULL};
  struct tg_child_result result = {.exit_status = -1};
  struct tg_error err;
  assert_true(tg_child_run(argv, 120, &result, &err));
  if (result.exit_status == 0 || strstr(result.out, "raise ulimit -Hn") == NULL) {
    fail_msg("status %d:\n%s%s", result.exit_status, result.out, result.err);
  }
  tg_child_result_free(&result);
}

int main(int argc, char **argv) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_usage),
      cmocka_unit_test(test_a_server_that_is_not_there),
      cmocka_unit_test(test_a_run_and_its_report),
      cmocka_unit_test(test_undecided),
  };
  const char *temporary = getenv("TEST_TMPDIR");
  if (argc != 2) {
    fprintf(stderr, "usage: cli_test PROBE\n");
    return 2;
  }
  program = argv[1];
  (void)snprintf(folder, sizeof(folder), "%.200s/probe-XXXXXX", temporary != NULL ? temporary : "/tmp");
  if (mkdtemp(folder) == NULL) {
    perror("cli_test: cannot make a folder");
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}

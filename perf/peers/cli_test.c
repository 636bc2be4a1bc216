// The command: a comparison of the project's own server alone, its files, its exit statuses, and what is said of wrong
// input.
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
  const char *argv[32] = {program};
  struct tg_child_result result = {.exit_status = -1};
  struct tg_error err;
  for (size_t i = 0; i < 30 && arguments[i] != NULL; i++) {
    argv[i + 1] = arguments[i];
  }
  // The host's lock may have to be waited for.
  if (!tg_child_run(argv, 700, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != status || strstr(result.out, in_out) == NULL || strstr(result.err, in_err) == NULL) {
    fail_msg("status %d, not %d, or no \"%s\" or \"%s\" in:\n%s%s", result.exit_status, status, in_out, in_err,
             result.out, result.err);
  }
  tg_child_result_free(&result);
}

#define RUN(status, in_out, in_err, ...) run(status, in_out, in_err, (const char *const[]){__VA_ARGS__, NULL})

// A server that starts with `start`, and is to be ready within half a second.
static void describe(const char *path, const char *start) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fprintf(file,
                      "{\"schema\": 1, \"name\": \"made-up\", \"package\": \"some-package\", \"start\": [%s],"
                      "\"ready\": {\"by\": \"connect\", \"within_s\": 0.5},"
                      "\"stop\": {\"signal\": \"TERM\", \"status\": 143, \"within_s\": 5},"
                      "\"ports\": {\"tls\": \"free\", \"http\": null},"
                      "\"routes\": {\"small\": {\"path\": \"/\", \"bytes\": 15},"
                      "\"big\": {\"path\": \"/b\", \"bytes\": 65536}, \"upload\": null},"
                      "\"gates\": {\"left_out\": []}}",
                      start) > 0);
  assert_int_equal(fclose(file), 0);
}

static json_t *load_report(void) {
  char path[300];
  json_error_t error;
  (void)snprintf(path, sizeof(path), "%s/report.json", folder);
  json_t *report = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  assert_non_null(report);
  return report;
}

static void test_usage(void **state) {
  (void)state;
  char path[300];
  RUN(0, "--rounds N", "", "--help");
  RUN(0, "keepalive", "", "--list");
  RUN(2, "", "--rounds takes 1 to 50", "--rounds", "none");
  RUN(2, "", "apache", "apache");
  RUN(2, "", "/nowhere.json", "/nowhere.json");
  (void)snprintf(path, sizeof(path), "%s/one.json", folder);
  describe(path, "\"sleep\"");
  char again[300];
  (void)snprintf(again, sizeof(again), "%s/two.json", folder);
  describe(again, "\"sleep\"");
  RUN(2, "", "another server is called made-up too", path, again);
}

// Everything but the shards and strace, so that it takes seconds. A server that is not installed is named and skipped.
static void test_a_comparison_and_its_files(void **state) {
  (void)state;
  char absent[300];
  char path[300];
  (void)snprintf(path, sizeof(path), "%s/compare.html", folder);
  (void)snprintf(absent, sizeof(absent), "%s/absent.json", folder);
  describe(absent, "\"absent-server\"");
  RUN(0, "0 of 14 bars reached", "apt-get install --no-install-recommends some-package", "own", absent, "--rounds", "1",
      "--only", "rtt", "--only", "resumed", "--only", "churn", "--only", "idle", "--only", "keepalive", "--only", "big",
      "--quiet", "--out", folder);
  json_t *report = load_report();
  assert_string_equal(json_string_value(json_object_get(report, "kind")), "compare");
  assert_string_equal(json_string_value(json_object_get(report, "verdict")), "compared");
  assert_int_equal(json_array_size(json_object_get(report, "servers")), 1);
  assert_int_equal(json_array_size(json_object_get(report, "skipped")), 1);
  size_t read = 0;
  size_t i;
  json_t *metric;
  json_array_foreach(json_object_get(report, "metrics"), i, metric) {
    const json_t *own = json_object_get(json_object_get(metric, "servers"), "own");
    const char *cell_state = json_string_value(json_object_get(own, "state"));
    bool is_read = strcmp(cell_state, "read") == 0;
    read += is_read;
    const char *name = json_string_value(json_object_get(metric, "name"));
    // A server that stalls nobody, and one that rests, may say nought.
    bool may_be_nought = strcmp(name, "stalled_fraction") == 0 || strcmp(name, "idle_cpu_percent") == 0;
    if (is_read && !may_be_nought) {
      assert_true(json_number_value(json_object_get(own, "median")) > 0);
    }
  }
  assert_int_equal(read, 15);
  json_decref(report);
  assert_int_equal(access(path, R_OK), 0);
  RUN(1, "", "nothing to compare", absent, "--rounds", "1", "--only", "rtt", "--quiet", "--out", folder);
}

static void test_a_server_that_cannot_be_read_is_undecided(void **state) {
  (void)state;
  char path[300];
  (void)snprintf(path, sizeof(path), "%s/mute.json", folder);
  describe(path, "\"sleep\", \"60\"");
  RUN(3, "unreadable: made-up, RTT p50: round 1", "", path, "own", "--rounds", "1", "--only", "rtt", "--quiet", "--out",
      folder);
  json_t *report = load_report();
  assert_string_equal(json_string_value(json_object_get(report, "verdict")), "undecided");
  json_decref(report);
}

static void test_bars_decide_when_asked(void **state) {
  (void)state;
  RUN(1, "not measured", "", "own", "--rounds", "1", "--only", "rtt", "--bars", "--quiet", "--out", folder);
}

int main(int argc, char **argv) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_usage),
      cmocka_unit_test(test_a_comparison_and_its_files),
      cmocka_unit_test(test_a_server_that_cannot_be_read_is_undecided),
      cmocka_unit_test(test_bars_decide_when_asked),
  };
  const char *temporary = getenv("TEST_TMPDIR");
  if (argc != 2) {
    fprintf(stderr, "usage: cli_test COMPARE\n");
    return 2;
  }
  program = argv[1];
  (void)snprintf(folder, sizeof(folder), "%.200s/compare-XXXXXX", temporary != NULL ? temporary : "/tmp");
  if (mkdtemp(folder) == NULL) {
    perror("cli_test: cannot make a folder");
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}

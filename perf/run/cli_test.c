// The gates as a program: what it refuses, what it leaves behind when a run fails, and a host that hides the stall.
// usage: cli_test GATES_RUN
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <jansson.h>

#include "perf/process/child.h"

#define ARGS_MAX      12
#define RUN_TIMEOUT_S 400

static const char *program;
static char folder[PATH_MAX];

static void run(const char *const *args, struct tg_child_result *result) {
  const char *argv[ARGS_MAX] = {program};
  struct tg_error err;
  for (size_t i = 0; args[i] != NULL; i++) {
    argv[i + 1] = args[i];
  }
  if (!tg_child_run(argv, 200, result, &err)) {
    fail_msg("%s", err.text);
  }
}

static void expect(const char *const *args, int status, const char *words) {
  struct tg_child_result result;
  run(args, &result);
  if (result.exit_status != status || (strstr(result.err, words) == NULL && strstr(result.out, words) == NULL)) {
    fail_msg("%s: exit %d, wanted %d and \"%s\"\n%s%s", args[0], result.exit_status, status, words, result.out,
             result.err);
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
  (void)snprintf(folder, sizeof(folder), "%.3000s/gates-XXXXXX", getenv("TEST_TMPDIR"));
  return mkdtemp(folder) == NULL ? -1 : 0;
}

static void test_bad_usage(void **state) {
  (void)state;
  static const struct {
    const char *args[4];
    const char *words;
  } cases[] = {
      {{"--nonsense"}, "--nonsense"},
      {{"--budget", "4"}, "5 to 3600"},
      {{"--budget", "ten"}, "not ten"},
      {{"--budget", "20x"}, "not 20x"},
      {{"--quickack", "on"}, "not on"},
      {{"--fault", "gremlin"}, "gremlin"},
      {{"--only", "no_such_gate"}, "no_such_gate"},
      {{"--published", "--only", "tls_rtt_p50_ms"}, "exclude"},
      {{"--quickack=off", "--only", "exact"}, "counts the server that ships"},
      {{"--published", "--full"}, "exclude"},
      {{"--full", "--ratios-only"}, "exclude"},
      {{"--history", ""}, "--history"},
      {{"--server", ""}, "name of a file"},
      {{"--server", "no-such-file.json"}, "no-such-file.json"},
      {{"--server", "perf/servers/own.json", "--full"}, "--server excludes"},
      {{"--server", "perf/servers/own.json", "--quickack=off"}, "--server excludes"},
      {{"--server=perf/servers/script.json", "--only", "http_churn_rps"}, "no plaintext port"},
      {{"stray"}, "stray"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    expect(cases[i].args, 2, cases[i].words);
  }
  const char *const help[] = {"--help", NULL};
  expect(help, 0, "usage:");
}

static void test_a_bad_folder_is_refused_before_anything_is_measured(void **state) {
  (void)state;
  char file[PATH_MAX];
  (void)snprintf(file, sizeof(file), "%.4000s/file", folder);
  FILE *made = fopen(file, "we");
  assert_non_null(made);
  assert_int_equal(fclose(made), 0);
  const char *const bad[] = {file, "/proc/nowhere", ""};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    const char *const args[] = {"--out", bad[i], NULL};
    double start = tg_now_s();
    expect(args, 2, "--out");
    assert_true(tg_now_s() - start < 5);
  }
}

static void test_one_gate_is_no_verdict(void **state) {
  (void)state;
  // Its workload also yields tls_stalled_fraction, which nobody asked for.
  const char *const args[] = {"--only", "tls_rtt_p50_ms", "--out", folder, "--quiet", NULL};
  expect(args, 3, "\n1/1 passed\n");
  expect(args, 3, "PARTIAL");
  json_t *json = report();
  assert_non_null(json_object_get(json, "gates"));
  assert_true(json_is_false(json_object_get(json, "passed")));
  assert_true(json_is_true(json_object_get(json, "partial")));
  json_decref(json);
  // Not in a full run either, and of two runs the second knows of the first.
  const char *const full[] = {"--only", "tls_rtt_p50_ms", "--full", "--out", folder, "--quiet", NULL};
  expect(full, 3, "PARTIAL");
  json = report();
  assert_true(json_integer_value(json_object_get(json_object_get(json, "earlier_runs"), "total")) >= 1);
  json_decref(json);
}

static void test_the_exact_gates_are_gates(void **state) {
  (void)state;
  const char *const args[] = {"--only", "exact", "--out", folder, "--quiet", NULL};
  expect(args, 3, " scenarios as accepted\n");
  json_t *json = report();
  assert_true(json_array_size(json_object_get(json, "gates")) > 20);
  json_decref(json);
}

// The own server as any other: the same gates, its own line in the log, and what is left out with its reason.
static void test_a_described_server_is_judged(void **state) {
  (void)state;
  const char *const args[] = {
      "--server", "perf/servers/own.json", "--ratios-only", "--budget", "5", "--out", folder, "--quiet", NULL};
  struct tg_child_result result;
  run(args, &result);
  // So few seconds decide little on a busy machine, but they fail nothing that is physics.
  if (result.exit_status != 0 && result.exit_status != 3) {
    fail_msg("exit %d\n%s%s", result.exit_status, result.out, result.err);
  }
  assert_non_null(strstr(result.out, "left-out      exact"));
  assert_non_null(strstr(result.out, "known by its port alone"));
  tg_child_result_free(&result);
  json_t *json = report();
  assert_string_equal(json_string_value(json_object_get(json_object_get(json, "run"), "server")), "own");
  assert_true(json_is_false(json_object_get(json, "acceptance")));
  const json_t *servers = json_object_get(json_object_get(json, "commands"), "servers");
  assert_int_equal(json_object_size(servers), 4);
  assert_non_null(strstr(json_string_value(json_object_get(servers, "hrr")), "--groups P-384"));
  json_decref(json);
}

static void test_a_stalled_server_fails(void **state) {
  (void)state;
  const char *const args[] = {"--only", "tls_rtt_p50_ms", "--out", folder, "--quiet", "--quickack", "off", NULL};
  expect(args, 1, "around every step of the handshake");
  json_t *json = report();
  assert_true(json_is_object(json_object_get(json, "diagnosis")));
  json_decref(json);
}

// What a maintainer sees who has lost the re-arm: the whole suite, with its default budget, is red.
static void test_the_whole_suite_is_red_without_the_rearm(void **state) {
  (void)state;
  const char *const args[] = {"--out", folder, "--quiet", "--quickack", "off", NULL};
  expect(args, 1, "tls_rtt_p50_ms");
  json_t *json = report();
  assert_string_equal(json_string_value(json_object_get(json, "verdict")), "fail");
  assert_true(json_integer_value(json_object_get(json_object_get(json, "counts"), "failed")) >= 9);
  assert_true(json_is_false(json_object_get(json, "acceptance")));
  json_decref(json);
}

static void test_a_server_that_dies_fails_the_run(void **state) {
  (void)state;
  const char *const args[] = {"--only", "tls_rtt_p50_ms", "--out", folder, "--quiet", "--fault", "exits", NULL};
  expect(args, 1, "rtt_fresh");
  json_t *json = report();
  assert_true(json_is_false(json_object_get(json, "passed")));
  assert_non_null(json_object_get(json_object_get(json, "error"), "message"));
  assert_string_equal(json_string_value(json_object_get(json, "verdict")), "error");
  assert_null(json_object_get(json, "gates"));
  json_decref(json);
}

static size_t scratch_folders(void) {
  glob_t found;
  size_t num = glob("/tmp/tlsgate-??????", 0, NULL, &found) == 0 ? found.gl_pathc : 0;
  globfree(&found);
  return num;
}

static void test_an_interrupted_run_leaves_nothing_behind(void **state) {
  (void)state;
  size_t before = scratch_folders();
  // With the re-arm off, what it costs is not counted first.
  const char *const argv[] = {program, "--out", folder, "--quiet", "--quickack", "off", NULL};
  struct tg_error err;
  int out_fd = -1;
  pid_t pid = tg_child_start(argv, NULL, NULL, &out_fd, &err);
  assert_true(pid > 0);
  double deadline = tg_now_s() + 60;
  while (scratch_folders() == before && tg_now_s() < deadline) {
    (void)usleep(20000);
  }
  assert_int_equal(scratch_folders(), before + 1);
  assert_int_equal(kill(pid, SIGTERM), 0);
  bool killed = true;
  assert_int_equal(tg_child_wait(pid, 20, &killed), 128 + SIGTERM);
  close(out_fd);
  assert_false(killed);
  assert_int_equal(scratch_folders(), before);
}

static void ip(const char *const *argv) {
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, 20, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != 0) {
    fail_msg("ip: %s", result.err);
  }
  tg_child_result_free(&result);
}

// Last: the namespace stays.
static void test_a_host_that_hides_the_stall_is_undecided(void **state) {
  (void)state;
  if (unshare(CLONE_NEWNET) != 0) {
    fail_msg("cannot make a network namespace: run as root");
  }
  const char *const up[] = {"ip", "link", "set", "lo", "up", NULL};
  const char *const quickack[] = {"ip",   "route", "change",    "local",    "127.0.0.1", "dev",
                                  "lo",   "table", "local",     "proto",    "kernel",    "scope",
                                  "host", "src",   "127.0.0.1", "quickack", "1",         NULL};
  ip(up);
  ip(quickack);
  const char *const healthy[] = {"--only", "tls_rtt_p50_ms", "--out", folder, "--quiet", NULL};
  expect(healthy, 3, "quickack 1");
  const char *const off[] = {"--only", "tls_rtt_p50_ms", "--out", folder, "--quiet", "--quickack", "off", NULL};
  expect(off, 3, "hides the stall");
}

int main(int argc, char **argv) {
  const char *state = getenv("TEST_TMPDIR");
  if (argc != 2 || state == NULL || setenv("XDG_STATE_HOME", state, 1) != 0) {
    fprintf(stderr, "usage: cli_test GATES_RUN\n");
    return 2;
  }
  program = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_bad_usage, make_folder),
      cmocka_unit_test_setup(test_a_bad_folder_is_refused_before_anything_is_measured, make_folder),
      cmocka_unit_test_setup(test_one_gate_is_no_verdict, make_folder),
      cmocka_unit_test_setup(test_the_exact_gates_are_gates, make_folder),
      cmocka_unit_test_setup(test_a_described_server_is_judged, make_folder),
      cmocka_unit_test_setup(test_a_stalled_server_fails, make_folder),
      cmocka_unit_test_setup(test_the_whole_suite_is_red_without_the_rearm, make_folder),
      cmocka_unit_test_setup(test_a_server_that_dies_fails_the_run, make_folder),
      cmocka_unit_test_setup(test_an_interrupted_run_leaves_nothing_behind, make_folder),
      cmocka_unit_test_setup(test_a_host_that_hides_the_stall_is_undecided, make_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

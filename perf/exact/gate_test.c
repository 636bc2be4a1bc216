// The gates can fail: with a fault in the program that is measured they are red, and say what has changed; without one
// they are green. Usage: gate_test CHECK RECORD FAULTY_MEASURE...
//
// The baseline is one that this test records from the program as it is, so that it holds for whatever keys there are.
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

#include "perf/manifest/strict_json.h"
#include "perf/process/child.h"

#define LIMIT_S 120.0

static const char *check;
static const char *record;
static char **programs;
static char folder[64];
static char baseline[80];
static char result_file[80];

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "re");
  assert_non_null(file);
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  (void)fread(text, 1, (1 << 20) - 1, file);
  (void)fclose(file);
  return text;
}

// The program with the fault `name` in it.
static const char *with_fault(const char *name) {
  for (char **at = programs; *at != NULL; at++) {
    const char *slash = strrchr(*at, '/');
    if (strcmp(slash == NULL ? *at : slash + 1, name) == 0) {
      return *at;
    }
  }
  fail_msg("%s is not among the arguments", name);
  return NULL;
}

// Runs a program, expects the exit status and what it says on either output.
static void runs_to(const char *const argv[], int exit_status, const char *const says[]) {
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, LIMIT_S, &result, &err)) {
    fail_msg("%s", err.text);
  }
  for (size_t i = 0; says[i] != NULL; i++) {
    if (result.exit_status != exit_status ||
        (strstr(result.out, says[i]) == NULL && strstr(result.err, says[i]) == NULL)) {
      fail_msg("expected %d and \"%s\"; exit status %d:\n%s\n%s", exit_status, says[i], result.exit_status, result.out,
               result.err);
    }
  }
  tg_child_result_free(&result);
}

static int record_baseline(void **state) {
  (void)state;
  strcpy(folder, "/tmp/exact-test-XXXXXX");
  if (mkdtemp(folder) == NULL) {
    return 1;
  }
  (void)snprintf(baseline, sizeof(baseline), "%s/exact.baseline.json", folder);
  (void)snprintf(result_file, sizeof(result_file), "%s/exact.json", folder);
  write_file(baseline, "{\"schema\": 1, \"calls\": {}, \"memory\": [], \"instructions\": [], \"dispatched\": []}\n");
  const char *const argv[] = {record, "--baseline", baseline, "--runs", "2", NULL};
  runs_to(argv, 0,
          (const char *const[]){"Exact figures accepted (", "full_tls13: recorded for the first time\n",
                                "memory: recorded for the first time for boringssl ", NULL});
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  (void)unlink(baseline);
  (void)unlink(result_file);
  return rmdir(folder);
}

static void check_says(const char *fault, int exit_status, const char *const says[]) {
  const char *argv[] = {check,
                        "--baseline",
                        baseline,
                        "--out",
                        folder,
                        fault == NULL ? NULL : "--measure",
                        fault == NULL ? NULL : with_fault(fault),
                        NULL};
  runs_to(argv, exit_status, says);
}

static json_t *result_json(void) {
  struct tg_error err;
  json_t *value = tg_json_load(result_file, &err);
  if (value == NULL) {
    fail_msg("%s", err.text);
  }
  return value;
}

static const char *verdict_of(const json_t *result) {
  return json_string_value(json_object_get(result, "verdict"));
}

static const json_t *row_of(const json_t *result, const char *scenario, const char *name) {
  size_t i = 0;
  const json_t *row = NULL;
  json_array_foreach(json_object_get(result, "rows"), i, row) {
    if (strcmp(json_string_value(json_object_get(row, "scenario")), scenario) == 0 &&
        strcmp(json_string_value(json_object_get(row, "name")), name) == 0) {
      return row;
    }
  }
  fail_msg("there is no row %s %s", scenario, name);
  return NULL;
}

static void the_program_as_it_is_passes(void **state) {
  (void)state;
  check_says(NULL, 0, (const char *const[]){" 0 changed, 0 unenforced, 0 disabled\n", NULL});
  json_t *result = result_json();
  assert_string_equal(verdict_of(result), "pass");
  assert_int_equal(json_integer_value(json_object_get(row_of(result, "full_tls13", "accept4"), "now")), 2);
  json_decref(result);
}

static void an_added_call_fails(void **state) {
  (void)state;
  check_says("call_added", 1,
             (const char *const[]){"fail        full_tls13: calls setsockopt: baseline 3, now 4\n",
                                   "fail        timed_out_handshake: calls setsockopt: baseline 1, now 2\n",
                                   "If the change is meant, accept it with: ./tlsgate record --exact\n", NULL});
  json_t *result = result_json();
  assert_string_equal(verdict_of(result), "fail");
  assert_string_equal(verdict_of(row_of(result, "full_tls12", "setsockopt")), "fail");
  assert_string_equal(verdict_of(row_of(result, "full_tls12", "recv")), "pass");
  json_decref(result);
}

static void an_added_allocation_fails(void **state) {
  (void)state;
  check_says("allocation_added", 1,
             (const char *const[]){"fail        full_tls13: memory allocations: baseline ", NULL});
  json_t *result = result_json();
  const json_t *row = row_of(result, "handshake_tls12", "bytes");
  assert_int_equal(
      json_integer_value(json_object_get(row, "now")) - json_integer_value(json_object_get(row, "baseline")), 64);
  assert_string_equal(verdict_of(row), "fail");
  // No handshake, no allocation.
  assert_string_equal(verdict_of(row_of(result, "keep_alive_request", "bytes")), "pass");
  json_decref(result);
}

static void a_dropped_rearm_fails(void **state) {
  (void)state;
  check_says("quickack_not_at_accept", 1,
             (const char *const[]){"fail        full_tls13: calls rearms: baseline 3, now 2\n", NULL});
  // This one costs a client time as well.
  check_says("quickack_not_for_split_request", 1,
             (const char *const[]){"fail        split_request: calls rearms: baseline 1, now 0\n",
                                   "fail        split_request: calls stalls: baseline 0, now 1\n", NULL});
}

// 0.5 % of what a handshake costs in harness/accept is 20 instructions.
static void half_a_percent_of_work_fails(void **state) {
  (void)state;
  check_says("work_added", 1,
             (const char *const[]){"fail        handshake_tls13: instructions accept: baseline ", NULL});
  json_t *result = result_json();
  const json_t *row = row_of(result, "handshake_tls13", "accept");
  const double was = (double)json_integer_value(json_object_get(row, "baseline"));
  const double added = (double)json_integer_value(json_object_get(row, "now")) - was;
  print_message("%.0f instructions more than %.0f: %.2f %%\n", added, was, 100 * added / was);
  assert_true(added > 0 && added <= 0.005 * was);
  assert_string_equal(verdict_of(row), "fail");
  assert_string_equal(verdict_of(row_of(result, "handshake_tls13", "server")), "pass");
  assert_string_equal(verdict_of(row_of(result, "handshake_tls13", "crypto")), "pass");
  json_decref(result);
}

static void what_is_recorded_already_is_left_alone(void **state) {
  (void)state;
  struct stat before;
  struct stat after;
  assert_int_equal(stat(baseline, &before), 0);
  const char *const argv[] = {record, "--baseline", baseline, "--runs", "2", NULL};
  runs_to(argv, 0, (const char *const[]){"Nothing has changed: ", NULL});
  assert_int_equal(stat(baseline, &after), 0);
  assert_int_equal(before.st_ino, after.st_ino);
}

static void a_scenario_that_fails_is_not_recorded_and_not_judged(void **state) {
  (void)state;
  char *before = read_file(baseline);
  const char *broken = with_fault("handshake_deadline_never_set");
  const char *const argv[] = {record, "--baseline", baseline, "--measure", broken, NULL};
  runs_to(argv, 1,
          (const char *const[]){"record --exact: measuring ended with status ",
                                " in scenario timed_out_handshake: ", "property P4 broken", " is as it was\n", NULL});
  char *after = read_file(baseline);
  assert_string_equal(before, after);
  free(before);
  free(after);
  check_says("handshake_deadline_never_set", 1, (const char *const[]){"exact: measuring ended with status ", NULL});
  json_t *result = result_json();
  assert_string_equal(verdict_of(result), "error");
  assert_null(json_object_get(result, "rows"));
  json_decref(result);
}

static void a_change_is_recorded_with_its_difference(void **state) {
  (void)state;
  char *before = read_file(baseline);
  const char *const argv[] = {record,   "--baseline", baseline, "--measure", with_fault("call_added"),
                              "--runs", "2",          NULL};
  runs_to(argv, 0, (const char *const[]){"\n    full_tls13: calls setsockopt 3 -> 4\n", NULL});
  check_says("call_added", 0, (const char *const[]){" 0 changed, ", NULL});
  check_says(NULL, 1, (const char *const[]){"full_tls13: calls setsockopt: baseline 4, now 3\n", NULL});
  write_file(baseline, before);
  free(before);
}

static void without_its_key_a_figure_is_unenforced(void **state) {
  (void)state;
  char *before = read_file(baseline);
  char *other = strdup(before);
  for (char *at = other; (at = strstr(at, "\"boringssl\": \"")) != NULL; at++) {
    at[strlen("\"boringssl\": \"")] = '_';
  }
  write_file(baseline, other);
  check_says("allocation_added", 0,
             (const char *const[]){"UNENFORCED  memory: ", "UNENFORCED  instructions: ", "UNENFORCED  dispatched: ",
                                   "./tlsgate record --exact adds them\n", NULL});
  json_t *result = result_json();
  assert_string_equal(verdict_of(row_of(result, "full_tls13", "bytes")), "unenforced");
  assert_int_equal(json_array_size(json_object_get(result, "unenforced")), 3);
  json_decref(result);
  // Calls are judged all the same.
  check_says("call_added", 1, (const char *const[]){"full_tls13: calls setsockopt: baseline 3, now 4\n", NULL});
  write_file(baseline, before);
  free(other);
  free(before);
}

static void a_missing_valgrind_is_named_with_its_package(void **state) {
  (void)state;
  char path[80];
  (void)snprintf(path, sizeof(path), "PATH=%s", folder);
  const char *const argv[] = {"env", path, check, "--baseline", baseline, "--out", folder, NULL};
  runs_to(argv, 1,
          (const char *const[]){"exact: valgrind is not on this machine: install the Debian package valgrind", NULL});
}

static void bad_usage_is_said(void **state) {
  (void)state;
  const char *const unknown[] = {check, "--bogus", NULL};
  runs_to(unknown, 2,
          (const char *const[]){"check: there is no option --bogus; check --help lists the options\n", NULL});
  const char *const runs[] = {record, "--runs", "1", NULL};
  runs_to(runs, 2, (const char *const[]){"record --exact: not a value for --runs; ", NULL});
  const char *const missing[] = {check, "--out", NULL};
  runs_to(missing, 2, (const char *const[]){"check: a value is missing behind --out; ", NULL});
  const char *const nowhere[] = {check, "--baseline", "/nonexistent/exact.json", "--out", folder, NULL};
  runs_to(nowhere, 1, (const char *const[]){"exact: /nonexistent/exact.json: cannot be opened", NULL});
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: gate_test CHECK RECORD FAULTY_MEASURE...\n");
    return 2;
  }
  check = argv[1];
  record = argv[2];
  programs = argv + 3;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_program_as_it_is_passes),
      cmocka_unit_test(an_added_call_fails),
      cmocka_unit_test(an_added_allocation_fails),
      cmocka_unit_test(a_dropped_rearm_fails),
      cmocka_unit_test(half_a_percent_of_work_fails),
      cmocka_unit_test(what_is_recorded_already_is_left_alone),
      cmocka_unit_test(a_scenario_that_fails_is_not_recorded_and_not_judged),
      cmocka_unit_test(a_change_is_recorded_with_its_difference),
      cmocka_unit_test(without_its_key_a_figure_is_unenforced),
      cmocka_unit_test(a_missing_valgrind_is_named_with_its_package),
      cmocka_unit_test(bad_usage_is_said),
  };
  return cmocka_run_group_tests(tests, record_baseline, remove_folder);
}

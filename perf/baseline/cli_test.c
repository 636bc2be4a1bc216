// The two commands as a person calls them: options, exit statuses, a series with idle time, a fresh series of deposits.
// Usage: cli_test RECORD HISTORY
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

#include "perf/baseline/baseline_fixture.h"
#include "perf/baseline/cpu_history.h"
#include "perf/baseline/deposit.h"
#include "perf/baseline/fields.h"
#include "perf/process/child.h"
#include "perf/process/runfiles.h"

static const char *record_program;
static const char *history_program;

static struct tg_manifest *manifest;
static struct tg_report_row *rows;
static char folder[PATH_MAX];
static char commit[72];
static struct tg_child_result result;

static int run(const char *const argv[]) {
  struct tg_error err;
  tg_child_result_free(&result);
  result = (struct tg_child_result){.out = NULL};
  if (!tg_child_run(argv, 60, &result, &err)) {
    fail_msg("%s", err.text);
  }
  return result.exit_status;
}

static void git(const char *const arguments[]) {
  const char *argv[16] = {"git", "-C", "tree", "-c", "user.name=test", "-c", "user.email=test@localhost"};
  size_t num = 7;
  for (; *arguments != NULL; arguments++) {
    argv[num++] = *arguments;
  }
  if (run(argv) != 0) {
    fail_msg("git %s: %s", argv[7], result.err);
  }
}

// An empty folder with a committed tree in it, whose commit the reports will be of.
static int set_up(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof(folder), "%s", tg_fixture_folder());
  if (chdir(folder) != 0 || mkdir("tree", 0777) != 0 || mkdir("baselines", 0777) != 0) {
    return -1;
  }
  tg_fixture_write("tree/file", "x");
  tg_fixture_write("tree/.gitignore", "/reports/\n*.staged\n");
  git((const char *const[]){"init", "-q", NULL});
  git((const char *const[]){"add", "-A", NULL});
  git((const char *const[]){"commit", "-q", "-m", "x", NULL});
  git((const char *const[]){"rev-parse", "HEAD", NULL});
  result.out[strcspn(result.out, "\n")] = '\0';
  (void)snprintf(commit, sizeof(commit), "%s", result.out);
  return 0;
}

// Makes the report of the run `number` over the shipped manifest. To be released with tg_run_fixture_free.
static void make(struct tg_run_fixture *out, int number) {
  tg_run_fixture_make(out, number, commit);
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const struct tg_gate *gate = &manifest->gates[i];
    rows[i] = out->rows[tg_baseline_covers(gate) ? TG_CURVE : TG_STALLED];
    rows[i].name = gate->name;
    rows[i].unit = gate->unit;
    rows[i].kind = gate->kind;
    rows[i].direction = gate->direction;
    rows[i].status = TG_STATUS_RECORDED;
  }
  rows[0].status = TG_STATUS_PASS;
  out->report->rows = rows;
  out->report->num_rows = manifest->num_gates;
  tg_report_conclude(out->report);
}

static void write_report(const char *path, int number) {
  struct tg_run_fixture run_of;
  make(&run_of, number);
  char *text = tg_json_dump(tg_report_encode(run_of.report));
  tg_fixture_write(path, text);
  free(text);
  tg_run_fixture_free(&run_of);
}

static int record(const char *const arguments[]) {
  const char *argv[24] = {record_program, "--tree", "tree", "--baselines", "baselines"};
  size_t num = 5;
  for (; *arguments != NULL; arguments++) {
    argv[num++] = *arguments;
  }
  return run(argv);
}

static void expect(const char *text, const char *expected) {
  if (strstr(text, expected) == NULL) {
    fail_msg("\"%s\" is not in:\n%s", expected, text);
  }
}

static void test_record_takes_reports_and_says_what_must_follow(void **state) {
  (void)state;
  struct tg_error err;
  write_report("1.json", 1);
  write_report("2.json", 2);
  write_report("3.json", 3);
  assert_int_equal(record((const char *const[]){"--host", "quiet-1", "1.json", "2.json", "1.json", NULL}), 1);
  expect(result.err, "2 distinct readable runs");
  expect(result.err, "nothing was recorded");
  assert_int_not_equal(access("baselines/quiet-1.json", F_OK), 0);
  assert_int_equal(record((const char *const[]){"--host", "quiet-1", "1.json", "2.json", "3.json", NULL}), 0);
  expect(result.out, "That changes no verdict");
  expect(result.out, "a fresh full run must exit 0 with \"enforced\": true");
  expect(result.out, "TLSGATE_PERF_HOST=quiet-1 ./tlsgate gates --full");
  struct tg_host_baseline *baseline = tg_host_baseline_load("baselines/quiet-1.json", &err);
  assert_non_null(baseline);
  assert_int_equal(baseline->runs, 3);
  assert_string_equal(baseline->environment.commit, commit);
  tg_host_baseline_free(baseline);
}

static void test_a_dirty_tree_is_refused(void **state) {
  (void)state;
  write_report("1.json", 1);
  write_report("2.json", 2);
  write_report("3.json", 3);
  tg_fixture_write("tree/file", "y");
  assert_int_equal(record((const char *const[]){"--host", "quiet-1", "1.json", "2.json", "3.json", NULL}), 1);
  expect(result.err, "the tree is dirty (file)");
  assert_int_not_equal(access("baselines/quiet-1.json", F_OK), 0);
}

static void test_a_report_that_cannot_be_read_is_refused(void **state) {
  (void)state;
  write_report("1.json", 1);
  tg_fixture_write("2.json", "{");
  assert_int_equal(record((const char *const[]){"--host", "quiet-1", "1.json", "2.json", NULL}), 1);
  expect(result.err, "2.json:1:");
}

// A measuring program that hands out the prepared reports 1.json, 2.json, ...
static void write_program(const char *ending) {
  char text[512];
  (void)snprintf(text, sizeof(text),
                 "#!/bin/sh\n[ \"$1 $2\" = '--full --out' ] || exit 2\nmkdir -p \"$3\"\n"
                 "echo \"$TLSGATE_PERF_HOST $(date +%%s)\" >>log\nn=$(wc -l <log)\n%s",
                 ending);
  tg_fixture_write("program", text);
  assert_int_equal(chmod("program", 0755), 0);
}

static void test_a_series_measures_with_idle_time_between(void **state) {
  (void)state;
  write_report("1.json", 1);
  write_report("2.json", 2);
  write_report("3.json", 3);
  // Any verdict is a report: 4 is what a host without a baseline gets.
  write_program("cp $n.json \"$3/report.json\"\nexit 4\n");
  const double start = tg_now_s();
  assert_int_equal(
      record((const char *const[]){"--host", "quiet-1", "--gates", "./program", "--series", "3", "--gap", "1", NULL}),
      0);
  assert_true(tg_now_s() - start >= 2);
  expect(result.err, "run 3 of 3");
  expect(result.err, "idle for 1 s");
  char *log = tg_fixture_read("log");
  expect(log, "quiet-1 ");
  free(log);
  assert_int_equal(access("baselines/quiet-1.json", F_OK), 0);
}

static void test_a_series_ends_with_a_run_that_leaves_no_report(void **state) {
  (void)state;
  write_report("1.json", 1);
  write_program("[ $n = 1 ] || exit 1\ncp $n.json \"$3/report.json\"\n");
  assert_int_equal(
      record((const char *const[]){"--host", "quiet-1", "--gates", "./program", "--series", "3", "--gap", "0", NULL}),
      1);
  expect(result.err, "run 2 of the series ended with status 1 and no report");
  assert_int_not_equal(access("baselines/quiet-1.json", F_OK), 0);
}

static void deposit(int number) {
  struct tg_run_fixture run_of;
  struct tg_error err;
  make(&run_of, number);
  assert_true(tg_deposit_add("deposits", run_of.report, &err));
  tg_run_fixture_free(&run_of);
}

static void test_deposited_runs_are_the_samples_until_a_fresh_series_begins(void **state) {
  (void)state;
  deposit(1);
  deposit(2);
  deposit(3);
  assert_int_equal(record((const char *const[]){"--host", "quiet-1", "--deposits", "deposits", NULL}), 0);
  assert_int_equal(record((const char *const[]){"--deposits", "deposits", "--fresh-samples", NULL}), 0);
  expect(result.out, "the window of history in deposits stays as it is");
  assert_int_equal(record((const char *const[]){"--host", "quiet-1", "--deposits", "deposits", NULL}), 1);
  expect(result.err, "0 distinct readable runs");
  char path[PATH_MAX];
  (void)snprintf(path, sizeof(path), "deposits/%032x.json", 1);
  assert_int_equal(access(path, F_OK), 0);
}

static void test_a_damaged_deposit_is_named_and_nothing_more(void **state) {
  (void)state;
  deposit(1);
  tg_fixture_write("deposits/x.json", "{");
  write_report("1.json", 1);
  write_report("2.json", 2);
  write_report("3.json", 3);
  assert_int_equal(
      record((const char *const[]){"--host", "quiet-1", "--deposits", "deposits", "1.json", "2.json", "3.json", NULL}),
      0);
  expect(result.out, "not looked at: deposits/x.json:1:");
}

static void test_wrong_usage_of_record_exits_2(void **state) {
  (void)state;
  static const char *const cases[][5] = {{"x.json"},
                                         {"--series", "2"},
                                         {"--series", "3x"},
                                         {"--gap", "5", "--host", "a"},
                                         {"--series", "3", "--host", "a", "x.json"},
                                         {"--fresh-samples", "x.json"},
                                         {"--disable", "tls_rtt_p50_ms"},
                                         {"--enable", "tls_rtt_p50_ms=x"},
                                         {"--nonsense"}};
  assert_int_equal(unsetenv("TLSGATE_PERF_HOST"), 0);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const char *arguments[6] = {cases[i][0], cases[i][1], cases[i][2], cases[i][3], cases[i][4], NULL};
    if (record(arguments) != 2) {
      fail_msg("case %zu exits %d: %s", i, result.exit_status, result.err);
    }
    expect(result.err, "--help lists the options");
  }
  assert_int_equal(record((const char *const[]){"--help", NULL}), 0);
  expect(result.out, "usage: record");
}

static void test_history_update_adds_a_run_once(void **state) {
  (void)state;
  struct tg_error err;
  write_report("1.json", 1);
  const char *const argv[] = {history_program, "update", "--history", "baselines", "--factor", "1.8", "1.json", NULL};
  assert_int_equal(run(argv), 0);
  expect(result.out, "joins the medians");
  assert_int_equal(run(argv), 0);
  expect(result.out, "is there already; it counts once");
  struct tg_cpu_history *history = tg_cpu_history_find("baselines", "A CPU @ 3.0 GHz", &err);
  assert_non_null(history);
  assert_int_equal(history->num_rows, 1);
  assert_true(history->factor == 1.8);
  tg_cpu_history_free(history);
}

static void test_wrong_usage_of_history_exits_2_and_a_refusal_1(void **state) {
  (void)state;
  assert_int_equal(run((const char *const[]){history_program, NULL}), 2);
  assert_int_equal(run((const char *const[]){history_program, "erase", "x", NULL}), 2);
  assert_int_equal(run((const char *const[]){history_program, "update", NULL}), 2);
  assert_int_equal(run((const char *const[]){history_program, "update", "--factor", "0.9", "x", NULL}), 2);
  assert_int_equal(run((const char *const[]){history_program, "update", "--history", "baselines", "x", NULL}), 1);
  expect(result.err, "x: cannot be opened");
  write_report("1.json", 1);
  const char *const argv[] = {history_program, "update",    "--history", "baselines",
                              "--factor",      "no_such=2", "1.json",    NULL};
  assert_int_equal(run(argv), 1);
  expect(result.err, "has no metric of that name");
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      TEST(test_record_takes_reports_and_says_what_must_follow),
      TEST(test_a_dirty_tree_is_refused),
      TEST(test_a_report_that_cannot_be_read_is_refused),
      TEST(test_a_series_measures_with_idle_time_between),
      TEST(test_a_series_ends_with_a_run_that_leaves_no_report),
      TEST(test_deposited_runs_are_the_samples_until_a_fresh_series_begins),
      TEST(test_a_damaged_deposit_is_named_and_nothing_more),
      TEST(test_wrong_usage_of_record_exits_2),
      TEST(test_history_update_adds_a_run_once),
      TEST(test_wrong_usage_of_history_exits_2_and_a_refusal_1),
  };
  static char programs[2][PATH_MAX];
  char file[PATH_MAX];
  struct tg_error err;
  if (argc != 3 || realpath(argv[1], programs[0]) == NULL || realpath(argv[2], programs[1]) == NULL) {
    fprintf(stderr, "usage: cli_test RECORD HISTORY\n");
    return 2;
  }
  record_program = programs[0];
  history_program = programs[1];
  manifest = tg_runfile("baselines/gates.json", file, &err) ? tg_manifest_load(file, &err) : NULL;
  rows = calloc(TG_GATES_MAX, sizeof(*rows));
  if (manifest == NULL || rows == NULL) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tg_child_result_free(&result);
  tg_manifest_free(manifest);
  free(rows);
  return failed;
}

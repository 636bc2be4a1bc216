// The log of runs: nothing that was tried is forgotten, however it ended and whoever wrote at the same time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/report/report_fixture.h"
#include "perf/report/run_log.h"

#define WRITERS 6
#define TIMES   50

static char folder[256];
static struct tg_report_fixture fixture;

static int set_up(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof(folder), "%s/log-XXXXXX", getenv("TEST_TMPDIR"));
  tg_report_fixture_complete(&fixture);
  return mkdtemp(folder) == NULL ? -1 : 0;
}

static int tear_down(void **state) {
  (void)state;
  tg_report_fixture_free(&fixture);
  return 0;
}

static struct tg_run_logs logs_of(size_t num) {
  struct tg_run_logs logs = {.num = num};
  for (size_t i = 0; i < num; i++) {
    (void)snprintf(logs.paths[i], sizeof(logs.paths[i]), "%s/deep/%zu/runs.jsonl", folder, i);
  }
  return logs;
}

static void log_run(const struct tg_run_logs *logs, const char *id, const char *start, bool end) {
  struct tg_error err;
  size_t logged = 0;
  fixture.report.id = id;
  fixture.report.start = start;
  if (!tg_run_log_start(logs, &fixture.report, &logged, &err) ||
      (end && !tg_run_log_end(logs, &fixture.report, &logged, &err))) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(logged, logs->num);
}

static void load(const struct tg_run_logs *logs, struct tg_run_history *history) {
  struct tg_error err;
  if (!tg_run_history_load(logs, history, &err)) {
    fail_msg("%s", err.text);
  }
}

static void append_raw(const struct tg_run_logs *logs, const char *text) {
  FILE *file = fopen(logs->paths[0], "ae");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

#define ID(digit) digit "0000000000000000000000000000000"

static void test_ids_are_random(void **state) {
  (void)state;
  struct tg_error err;
  char a[TG_RUN_ID_LEN + 1];
  char b[TG_RUN_ID_LEN + 1];
  assert_true(tg_run_id_make(a, &err) && tg_run_id_make(b, &err));
  assert_int_equal(strlen(a), TG_RUN_ID_LEN);
  assert_int_equal(strspn(a, "0123456789abcdef"), TG_RUN_ID_LEN);
  assert_string_not_equal(a, b);
}

static void test_every_run_is_told_failures_and_unfinished_ones_included(void **state) {
  (void)state;
  struct tg_run_logs logs = logs_of(1);
  struct tg_run_history history;
  load(&logs, &history);
  assert_int_equal(history.num, 0);
  tg_run_history_free(&history);
  log_run(&logs, ID("1"), "2026-01-01T00:00:01Z", true);
  log_run(&logs, ID("2"), "2026-01-01T00:00:02Z", false);
  fixture.report.rows[0].status = TG_STATUS_FAIL;
  fixture.report.verdict = TG_OUTCOME_FAIL;
  tg_report_conclude(&fixture.report);
  log_run(&logs, ID("3"), "2026-01-01T00:00:03Z", true);
  load(&logs, &history);
  assert_int_equal(history.num, 3);
  assert_int_equal(history.damaged, 0);
  assert_true(history.runs[0].finished && history.runs[0].verdict == TG_OUTCOME_PASS);
  assert_true(json_number_value(json_object_get(history.runs[0].values, "rps")) == 900);
  assert_false(history.runs[1].finished);
  assert_true(history.runs[2].finished && history.runs[2].exit_status == TG_EXIT_FAIL);
  fixture.report.id = ID("4");
  tg_run_history_list(&history, &fixture.report);
  assert_int_equal(fixture.report.num_earlier_total, 3);
  assert_string_equal(fixture.report.earlier[0].id, ID("1"));
  assert_false(fixture.report.earlier[1].finished);
  assert_int_equal(fixture.report.earlier[2].verdict, TG_OUTCOME_FAIL);
  free(fixture.report.earlier);
  tg_run_history_free(&history);
}

static void test_an_error_has_no_values(void **state) {
  (void)state;
  struct tg_run_logs logs = logs_of(1);
  struct tg_run_history history;
  tg_report_fixture_free(&fixture);
  tg_report_fixture_error(&fixture);
  log_run(&logs, ID("1"), "2026-01-01T00:00:01Z", true);
  load(&logs, &history);
  assert_int_equal(history.runs[0].verdict, TG_OUTCOME_ERROR);
  assert_null(history.runs[0].values);
  assert_false(history.runs[0].readable);
  tg_run_history_free(&history);
}

static void test_only_runs_of_this_revision_on_this_host_are_listed(void **state) {
  (void)state;
  struct tg_run_logs logs = logs_of(1);
  struct tg_run_history history;
  struct tg_environment here = fixture.report.environment;
  log_run(&logs, ID("1"), "2026-01-01T00:00:01Z", true);
  fixture.report.environment.commit = "ffffffffffffffffffffffffffffffffffffffff";
  log_run(&logs, ID("2"), "2026-01-01T00:00:02Z", true);
  fixture.report.environment = here;
  fixture.report.environment.host = "other";
  log_run(&logs, ID("3"), "2026-01-01T00:00:03Z", true);
  fixture.report.environment = here;
  log_run(&logs, ID("4"), "2026-01-01T00:00:04Z", false);
  load(&logs, &history);
  tg_run_history_list(&history, &fixture.report);  // which is run 4: not its own predecessor
  assert_int_equal(fixture.report.num_earlier_total, 1);
  assert_string_equal(fixture.report.earlier[0].id, ID("1"));
  free(fixture.report.earlier);
  tg_run_history_free(&history);
}

static void test_the_newest_are_listed_and_all_counted(void **state) {
  (void)state;
  struct tg_run_logs logs = logs_of(1);
  struct tg_run_history history;
  for (unsigned i = 0; i < TG_REPORT_EARLIER_MAX + 5; i++) {
    char id[TG_RUN_ID_LEN + 1];
    char start[32];
    (void)snprintf(id, sizeof(id), "%032x", i);
    (void)snprintf(start, sizeof(start), "2026-01-01T00:%02u:%02uZ", i / 60, i % 60);
    log_run(&logs, id, start, true);
  }
  load(&logs, &history);
  fixture.report.id = ID("f");
  tg_run_history_list(&history, &fixture.report);
  assert_int_equal(fixture.report.num_earlier_total, TG_REPORT_EARLIER_MAX + 5);
  assert_int_equal(fixture.report.num_earlier, TG_REPORT_EARLIER_MAX);
  assert_string_equal(fixture.report.earlier[0].id, "00000000000000000000000000000005");
  free(fixture.report.earlier);
  tg_run_history_free(&history);
}

static void test_logs_are_united(void **state) {
  (void)state;
  struct tg_run_logs both = logs_of(2);
  struct tg_run_logs first = logs_of(1);
  struct tg_run_history history;
  log_run(&both, ID("1"), "2026-01-01T00:00:01Z", true);
  log_run(&first, ID("2"), "2026-01-01T00:00:02Z", true);
  assert_int_equal(unlink(first.paths[0]), 0);
  log_run(&first, ID("3"), "2026-01-01T00:00:03Z", true);
  load(&both, &history);
  assert_int_equal(history.num, 2);
  assert_string_equal(history.runs[0].id, ID("1"));
  assert_string_equal(history.runs[1].id, ID("3"));
  tg_run_history_free(&history);
}

static void test_damage_is_told_and_costs_only_itself(void **state) {
  (void)state;
  struct tg_run_logs logs = logs_of(1);
  struct tg_run_history history;
  log_run(&logs, ID("1"), "2026-01-01T00:00:01Z", true);
  append_raw(&logs, "{\"schema\": 1, \"event\": \"sta");  // a disk that was full
  log_run(&logs, ID("2"), "2026-01-01T00:00:02Z", true);
  append_raw(&logs, "{\"schema\": 9, \"event\": \"start\"}\n");
  load(&logs, &history);
  assert_int_equal(history.num, 2);
  assert_int_equal(history.damaged, 2);
  assert_non_null(strstr(history.first_damage.text, "runs.jsonl line 3"));
  tg_run_history_free(&history);
}

static void test_one_log_that_cannot_be_written_is_named_and_the_others_are(void **state) {
  (void)state;
  struct tg_run_logs logs = logs_of(2);
  struct tg_error err;
  size_t logged = 0;
  (void)snprintf(logs.paths[0], sizeof(logs.paths[0]), "/proc/nowhere/runs.jsonl");
  assert_false(tg_run_log_start(&logs, &fixture.report, &logged, &err));
  assert_int_equal(logged, 1);
  assert_non_null(strstr(err.text, "/proc/nowhere"));
}

static void test_where_runs_are_logged(void **state) {
  (void)state;
  struct tg_run_logs logs;
  assert_int_equal(setenv("HOME", "/home/x", 1), 0);
  assert_int_equal(unsetenv("XDG_STATE_HOME"), 0);
  tg_run_logs_find(&logs, "/w", "h.jsonl");
  assert_int_equal(logs.num, 3);
  assert_string_equal(logs.paths[0], "/w/reports/runs.jsonl");
  assert_string_equal(logs.paths[1], "/home/x/.local/state/tlsgate/runs.jsonl");
  assert_string_equal(logs.paths[2], "h.jsonl");
  assert_int_equal(setenv("XDG_STATE_HOME", "/state", 1), 0);
  tg_run_logs_find(&logs, "", NULL);
  assert_int_equal(logs.num, 1);
  assert_string_equal(logs.paths[0], "/state/tlsgate/runs.jsonl");
  assert_int_equal(setenv("XDG_STATE_HOME", "relative", 1), 0);
  tg_run_logs_find(&logs, NULL, NULL);
  assert_string_equal(logs.paths[0], "/home/x/.local/state/tlsgate/runs.jsonl");
}

static void write_often(const struct tg_run_logs *logs, unsigned writer) {
  for (unsigned i = 0; i < TIMES; i++) {
    char id[TG_RUN_ID_LEN + 1];
    (void)snprintf(id, sizeof(id), "%032x", writer * 1000 + i);
    log_run(logs, id, "2026-01-01T00:00:01Z", true);
  }
  _exit(0);
}

static void test_concurrent_writers_lose_nothing(void **state) {
  (void)state;
  struct tg_run_logs logs = logs_of(1);
  struct tg_run_history history;
  for (unsigned i = 0; i < WRITERS; i++) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      write_often(&logs, i);
    }
  }
  for (unsigned i = 0; i < WRITERS; i++) {
    int status = 0;
    assert_true(wait(&status) > 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  load(&logs, &history);
  assert_int_equal(history.num, WRITERS * TIMES);
  assert_int_equal(history.damaged, 0);
  for (size_t i = 0; i < history.num; i++) {
    assert_true(history.runs[i].finished);
  }
  tg_run_history_free(&history);
}

#define LOG_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      LOG_TEST(test_ids_are_random),
      LOG_TEST(test_every_run_is_told_failures_and_unfinished_ones_included),
      LOG_TEST(test_an_error_has_no_values),
      LOG_TEST(test_only_runs_of_this_revision_on_this_host_are_listed),
      LOG_TEST(test_the_newest_are_listed_and_all_counted),
      LOG_TEST(test_logs_are_united),
      LOG_TEST(test_damage_is_told_and_costs_only_itself),
      LOG_TEST(test_one_log_that_cannot_be_written_is_named_and_the_others_are),
      LOG_TEST(test_where_runs_are_logged),
      LOG_TEST(test_concurrent_writers_lose_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

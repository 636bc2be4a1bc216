// What a run reports of a server that fails, for a fixed set of ways to fail: the release build's own client, the tools
// that it uses, and the report code, against a fixture that is no real server. No figure comes of it, and no verdict on
// timing. The reports are kept as the test's outputs.
// usage: failure_fixtures_test RTT_CLIENT FIXTURE_SERVER
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

#include "harness/client/testing/client_run.h"
#include "perf/host/provenance.h"
#include "perf/process/child.h"
#include "perf/run/run.h"
#include "perf/run/run_report.h"
#include "perf/workload/load.h"
#include "perf/workload/rtt.h"

static const char *client_path;
static const char *server_path;
static const char *cert;
static const char *key;

struct fixture {
  const char *name;
  const char *behaviour;    // of fixture_server
  const char *connections;  // that it serves before it exits; "0": all
  const char *stage;        // what the report must say
  const char *words;        // and in its message
  double least_s;           // that it takes
};

// One warm-up connection and four measured ones.
static const struct fixture fixtures[] = {
    {"refuses", "refuse", "0", "warm-up", "warm-up connection 0: connect: Connection refused", 0},
    {"closes_early", "close_early", "0", "warm-up", "warm-up connection 0: handshake: ", 0},
    {"half_a_head", "half_head", "0", "warm-up", "warm-up connection 0: response: the server closed the connection", 0},
    {"half_a_body", "half_body", "0", "warm-up", "after 2 of 5 body bytes", 0},
    {"too_much", "too_much", "0", "warm-up", "1 bytes beyond the body of 5", 0},
    {"wrong_status", "wrong_status", "0", "warm-up", "the status is 503, without the code capacity-unavailable", 0},
    {"sheds_load", "shed", "0", "warm-up", "load shedding (503 capacity-unavailable)", 0},
    {"hangs", "hang", "0", "warm-up", "timed out waiting for the server before the first byte", 9.5},
    {"exits_in_warm_up", "close_early", "1", "warm-up", "warm-up connection 0: ", 0},
    {"exits_in_measurement", "good", "3", "measurement", "measurement connection 2: ", 0},
};

static void start(struct tg_server *server, const struct fixture *fixture) {
  const char *const argv[] = {server_path, "--behaviour",   fixture->behaviour,   "--cert", cert, "--key",
                              key,         "--connections", fixture->connections, NULL};
  struct tg_error err;
  if (!tg_server_start(server, fixture->name, argv, NULL, &err)) {
    fail_msg("%s", err.text);
  }
}

// The error report that the gates would write, kept for people, and read back.
static struct tg_report *report_of(const char *name, const struct tg_run_failure *failure) {
  const char *outputs = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  char folder[PATH_MAX];
  char path[PATH_MAX];
  struct tg_run_report report;
  struct tg_error problem;
  struct tg_error err;
  json_t *provenance = tg_provenance(NULL, server_path, &err);
  const struct tg_run_report_config config = {
      .quickack = "rearm", .workspace = "", .timed = server_path, .provenance = provenance};
  assert_non_null(outputs);
  (void)snprintf(folder, sizeof(folder), "%.3000s/%.90s", outputs, name);
  if (provenance == NULL || !tg_run_report_begin(&report, &config, &problem, &err)) {
    fail_msg("%s", err.text);
  }
  tg_run_report_fail(&report, failure);
  if (!tg_run_report_publish(&report, folder, NULL, &err)) {
    fail_msg("%s", err.text);
  }
  tg_run_report_end(&report);
  json_decref(provenance);
  (void)snprintf(path, sizeof(path), "%.4000s/report.json", folder);
  struct tg_report *back = tg_report_load(path, &err);
  if (back == NULL) {
    fail_msg("%s", err.text);
  }
  return back;
}

static void check(const struct tg_report *report, const char *name, const char *stage, const char *words) {
  assert_int_equal(report->kind, TG_REPORT_ERROR);
  assert_false(report->passed);
  assert_int_equal(report->exit_status, TG_EXIT_FAIL);
  if (strcmp(report->error_stage, stage) != 0 || strstr(report->error_message, words) == NULL) {
    fail_msg("%s: stage %s, \"%s\"; expected stage %s and \"%s\"", name, report->error_stage, report->error_message,
             stage, words);
  }
  // Bodies and headers of the fixture.
  assert_null(strstr(report->error_message, "hello"));
  assert_null(strstr(report->error_message, "Content-Length: "));
  assert_null(strstr(report->error_message, "Busy"));
}

static void rtt_client_failures_are_reported(void **state) {
  (void)state;
  const char *const options[] = {"--warmup", "1", NULL};
  for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
    const struct fixture *fixture = &fixtures[i];
    struct tg_server server;
    struct tg_rtt rtt;
    struct tg_error why;
    struct tg_run_failure failure;
    start(&server, fixture);
    const double before_s = tg_now_s();
    assert_false(tg_rtt_run(client_path, &server, 4, options, &rtt, &why));
    const double took_s = tg_now_s() - before_s;
    (void)tg_server_stop(&server, NULL);
    assert_true(took_s >= fixture->least_s && took_s < fixture->least_s + 5);
    tg_run_failure_of_workload(&failure, "rtt_fresh", 0, rtt.failed_in_warm_up, &why);
    struct tg_report *report = report_of(fixture->name, &failure);
    check(report, fixture->name, fixture->stage, fixture->words);
    assert_non_null(strstr(report->error_message, "rtt_client"));
    assert_string_equal(report->error_workload, "rtt_fresh");
    assert_int_equal(report->error_round, 1);
    tg_report_free(report);
  }
}

// A tool that the project did not write says less, and fails all the same. It warms up in a run of its own.
static void tool_failures_are_reported(void **state) {
  (void)state;
  static const struct fixture tools[] = {
      {"ab_refuses", "refuse", "0", "warm-up", "ab", 0},
      {"ab_closes_early", "close_early", "0", "warm-up", "ab", 0},
      {"ab_half_a_head", "half_head", "0", "warm-up", "ab", 0},
      {"ab_half_a_body", "half_body", "0", "warm-up", "ab", 0},
      {"ab_too_much", "too_much", "0", "warm-up", "ab", 0},
      {"ab_wrong_status", "wrong_status", "0", "warm-up", "ab", 0},
      {"ab_sheds_load", "shed", "0", "warm-up", "ab", 0},
      {"ab_exits", "good", "2", "warm-up", "ab", 0},
  };
  for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
    struct tg_server server;
    struct tg_load load;
    struct tg_error why;
    struct tg_run_failure failure;
    start(&server, &tools[i]);
    const struct tg_target target = {.server = &server, .tls = true, .path = "/", .body_bytes = 5};
    const bool ok = tg_load_ab(&target, 4, 1, &load, &why);
    (void)tg_server_stop(&server, NULL);
    if (ok) {
      fail_msg("%s: ab did not fail", tools[i].name);
    }
    tg_run_failure_of_workload(&failure, "https_churn", 0, true, &why);
    struct tg_report *report = report_of(tools[i].name, &failure);
    check(report, tools[i].name, tools[i].stage, tools[i].words);
    tg_report_free(report);
  }
}

int main(int argc, char **argv) {
  const char *state = getenv("TEST_TMPDIR");
  if (argc != 3 || state == NULL || setenv("XDG_STATE_HOME", state, 1) != 0) {
    fprintf(stderr, "usage: failure_fixtures_test RTT_CLIENT FIXTURE_SERVER\n");
    return 2;
  }
  client_path = argv[1];
  server_path = argv[2];
  tg_test_certificate("fixture", &cert, &key);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rtt_client_failures_are_reported),
      cmocka_unit_test(tool_failures_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

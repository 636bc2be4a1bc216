// The diagnosis on real servers: one that does not stall, one without any re-arm, one that re-arms in the handshake
// alone, and servers that are as slow for another reason. usage: stall_test GATES_RUN
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "perf/process/child.h"

#define TIMEOUT_S 300
#define ARGS_MAX  24

static const char *program;

// What one run left.
struct outcome {
  struct tg_child_result result;
  json_t *report;  // NULL: none
};

static void judge(struct outcome *out, const char *const *options, const char *const *gates) {
  char folder[PATH_MAX];
  char path[PATH_MAX + 16];
  const char *argv[ARGS_MAX] = {program, "--quiet", "--out", folder};
  size_t n = 4;
  struct tg_error err;
  (void)snprintf(folder, sizeof(folder), "%.3000s/stall-XXXXXX", getenv("TEST_TMPDIR"));
  assert_non_null(mkdtemp(folder));
  for (; *options != NULL; options++) {
    argv[n++] = *options;
  }
  for (; *gates != NULL; gates++) {
    argv[n++] = "--only";
    argv[n++] = *gates;
  }
  assert_true(n < ARGS_MAX);
  if (!tg_child_run(argv, TIMEOUT_S, &out->result, &err)) {
    fail_msg("%s", err.text);
  }
  (void)snprintf(path, sizeof(path), "%s/report.json", folder);
  out->report = json_load_file(path, 0, NULL);
}

static void done(struct outcome *out) {
  json_decref(out->report);
  tg_child_result_free(&out->result);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

// Fails, and says and does not say these.
static void diagnosed(const char *const *options, const char *const *gates, const char *const *said,
                      const char *const *not_said) {
  struct outcome run;
  judge(&run, options, gates);
  if (run.result.exit_status != 1 || strstr(run.result.out, "diagnosis, by experiment") == NULL) {
    fail_msg("%s %s: exit %d\n%s%s", options[0], options[1], run.result.exit_status, run.result.out, run.result.err);
  }
  assert_true(json_is_object(json_object_get(run.report, "diagnosis")));
  assert_null(strstr(run.result.out, "look for a lost quickack"));
  for (; *said != NULL; said++) {
    if (strstr(run.result.out, *said) == NULL) {
      fail_msg("does not say %s:\n%s", *said, run.result.out);
    }
  }
  for (; *not_said != NULL; not_said++) {
    if (strstr(run.result.out, *not_said) != NULL) {
      fail_msg("says %s:\n%s", *not_said, run.result.out);
    }
  }
  done(&run);
}

#define REARM_HANDSHAKE "around every step of the handshake"
#define REARM_REQUEST   "after every read that leaves a request incomplete"

static void test_without_any_rearm(void **state) {
  (void)state;
  diagnosed(LIST("--quickack", "off"), LIST("tls_rtt_p50_ms", "tls12_resumed_rtt_p50_ms", "keepalive_split_rtt_p50_ms"),
            LIST(REARM_HANDSHAKE, REARM_REQUEST, "applies in part", "aws/s2n-tls#979", "openssl/openssl#25538"),
            LIST("the server itself is slow", "works that long"));
}

static void test_split_requests_alone(void **state) {
  (void)state;
  diagnosed(LIST("--fault", "rearms_in_handshake"),
            LIST("tls_rtt_p50_ms", "tls12_resumed_rtt_p50_ms", "keepalive_split_rtt_p50_ms"),
            LIST("2/3 passed, 1 failed: keepalive_split_rtt_p50_ms", REARM_REQUEST, "does not apply",
                 "steffengy/tiberius#46"),
            LIST(REARM_HANDSHAKE, "aws/s2n-tls#979", "the server itself is slow"));
}

static void test_a_server_that_sleeps(void **state) {
  (void)state;
  diagnosed(LIST("--fault", "sleeps"), LIST("tls_rtt_p50_ms", "keepalive_split_rtt_p50_ms"),
            LIST("the server itself is slow and uses little CPU"),
            LIST("published", "stalled by", REARM_HANDSHAKE, REARM_REQUEST, "works that long"));
}

static void test_a_server_that_works(void **state) {
  (void)state;
  diagnosed(LIST("--fault", "works"), LIST("tls_rtt_p50_ms"), LIST("the server works that long"),
            LIST("published", "stalled by", REARM_HANDSHAKE, REARM_REQUEST, "uses little CPU"));
}

// No stall of TLS 1.3, no diagnosis; what OpenSSL's early tickets do not hide, resumed TLS 1.2, has one.
static void test_nginx(void **state) {
  (void)state;
  struct outcome run;
  judge(&run, LIST("--server", "perf/servers/nginx.json"), LIST("tls_rtt_p50_ms", "tls_resumed_rtt_p50_ms"));
  // nginx is optional; without it the package is named.
  if (run.result.exit_status == 2 &&
      strstr(run.result.err, "apt-get install --no-install-recommends nginx-light") != NULL) {
    print_message("%s", run.result.err);
    done(&run);
    return;
  }
  // 3: of two gates alone no verdict follows.
  if (run.result.exit_status != 3 || strstr(run.result.out, "2/2 passed") == NULL ||
      strstr(run.result.out, "diagnosis") != NULL) {
    fail_msg("exit %d\n%s%s", run.result.exit_status, run.result.out, run.result.err);
  }
  assert_null(json_object_get(run.report, "diagnosis"));
  assert_string_equal(json_string_value(json_object_get(json_object_get(run.report, "run"), "server")), "nginx");
  done(&run);
  diagnosed(LIST("--server", "perf/servers/nginx.json"), LIST("tls_rtt_p50_ms", "tls12_resumed_rtt_p50_ms"),
            LIST("1/2 passed, 1 failed: tls12_resumed_rtt_p50_ms", "Its TLS 1.3 is spared", REARM_HANDSHAKE,
                 "does not apply"),
            LIST(REARM_REQUEST, "openssl/openssl#25538", "the server itself is slow"));
}

int main(int argc, char **argv) {
  const char *state = getenv("TEST_TMPDIR");
  if (argc != 2 || state == NULL || setenv("XDG_STATE_HOME", state, 1) != 0) {
    fprintf(stderr, "usage: stall_test GATES_RUN\n");
    return 2;
  }
  program = argv[1];
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nginx),
      cmocka_unit_test(test_without_any_rearm),
      cmocka_unit_test(test_split_requests_alone),
      cmocka_unit_test(test_a_server_that_sleeps),
      cmocka_unit_test(test_a_server_that_works),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

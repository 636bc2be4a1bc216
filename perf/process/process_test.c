// Children and servers: what they print, how they end, and that nothing hangs on them.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/process/child.h"
#include "perf/process/runfiles.h"
#include "perf/process/server.h"

static void test_output_and_status_are_kept(void **state) {
  (void)state;
  const char *const argv[] = {"/bin/sh", "-c", "echo out; echo err >&2; exit 7", NULL};
  struct tg_child_result result;
  struct tg_error err;
  assert_true(tg_child_run(argv, 10, &result, &err));
  assert_int_equal(result.exit_status, 7);
  assert_string_equal(result.out, "out\n");
  assert_string_equal(result.err, "err\n");
  tg_child_result_free(&result);
}

static void test_a_signal_is_a_status(void **state) {
  (void)state;
  const char *const argv[] = {"/bin/sh", "-c", "kill -TERM $$", NULL};
  struct tg_child_result result;
  assert_true(tg_child_run(argv, 10, &result, NULL));
  assert_int_equal(result.exit_status, 128 + SIGTERM);
  tg_child_result_free(&result);
}

static void test_cpu_time_is_counted(void **state) {
  (void)state;
  const char *const argv[] = {"/bin/sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", NULL};
  struct tg_child_result result;
  assert_true(tg_child_run(argv, 60, &result, NULL));
  assert_true(result.cpu_s > 0.01);
  assert_true(result.cpu_s < 2 * result.wall_s + 0.1);
  tg_child_result_free(&result);
}

static void test_long_output_does_not_block(void **state) {
  (void)state;
  const char *const argv[] = {"/bin/sh", "-c", "head -c 20000000 /dev/zero | tr '\\0' x", NULL};
  struct tg_child_result result;
  assert_true(tg_child_run(argv, 60, &result, NULL));
  assert_int_equal(result.exit_status, 0);
  assert_int_equal(strlen(result.out), TG_CHILD_OUTPUT_MAX - 1);
  tg_child_result_free(&result);
}

static void test_a_child_that_hangs_is_killed(void **state) {
  (void)state;
  const char *const argv[] = {"/bin/sleep", "60", NULL};
  struct tg_child_result result;
  struct tg_error err;
  double start = tg_now_s();
  assert_false(tg_child_run(argv, 0.2, &result, &err));
  assert_true(tg_now_s() - start < 10);
  assert_non_null(strstr(err.text, "did not end"));
}

// What hyperfine starts must not outlive it, nor a tool that closes its output escape the time limit.
static void test_what_a_killed_child_started_is_killed_too(void **state) {
  (void)state;
  const char *const argv[] = {"/bin/sh", "-c", "exec >/dev/null 2>&1; sleep 61.25 & sleep 61.25", NULL};
  const char *const find[] = {"/bin/sh", "-c", "grep -l '61[.]25' /proc/[0-9]*/cmdline 2>/dev/null", NULL};
  struct tg_child_result result;
  struct tg_error err;
  assert_false(tg_child_run(argv, 0.3, &result, &err));
  assert_non_null(strstr(err.text, "did not end"));
  (void)usleep(100000);
  assert_true(tg_child_run(find, 10, &result, &err));
  assert_string_equal(result.out, "");
  tg_child_result_free(&result);
}

static void test_a_missing_program_is_named(void **state) {
  (void)state;
  const char *const argv[] = {"no-such-load-tool", NULL};
  struct tg_child_result result;
  struct tg_error err;
  assert_false(tg_child_run(argv, 1, &result, &err));
  assert_non_null(strstr(err.text, "no-such-load-tool"));
  assert_non_null(strstr(err.text, "packages.txt"));
}

static bool start(struct tg_server *server, const char *script, struct tg_error *err) {
  const char *const argv[] = {"/bin/sh", "-c", script, NULL};
  return tg_server_start(server, "fake", argv, NULL, err);
}

static void test_a_server_says_its_ports(void **state) {
  (void)state;
  struct tg_server server;
  struct tg_error err;
  assert_true(start(
      &server, "trap 'exit 0' TERM; echo '{\"tls_port\":1,\"http_port\":null}'; while :; do sleep 0.05; done", &err));
  assert_int_equal(server.tls_port, 1);
  assert_int_equal(server.http_port, 0);
  assert_true(tg_server_alive(&server, &err));
  assert_true(tg_server_cpu_s(&server) >= 0);
  assert_true(tg_server_stop(&server, &err));
}

// nginx's workers do the work, and its master none.
static void test_what_a_server_starts_counts_as_its_cpu_time(void **state) {
  (void)state;
  struct tg_server server;
  struct tg_error err;
  assert_true(start(&server,
                    "trap 'kill $child; exit 0' TERM; (while :; do :; done) & child=$!; "
                    "echo '{\"tls_port\":1,\"http_port\":null}'; wait",
                    &err));
  double begun = tg_now_s();
  while (tg_server_cpu_s(&server) < 0.1 && tg_now_s() - begun < 20) {
    (void)usleep(10000);
  }
  assert_true(tg_server_cpu_s(&server) >= 0.1);
  assert_true(tg_server_stop(&server, &err));
}

static void test_servers_that_do_not_start(void **state) {
  (void)state;
  static const struct {
    const char *script;
    const char *message;
  } cases[] = {
      {"exit 3", "no ready line"},
      {"echo hello; sleep 5", "ready line is not"},
      {"echo '{\"tls_port\":70000,\"http_port\":1}'; sleep 5", "ready line is not"},
      {"echo '{\"tls_port\":1'; sleep 5", "ready line is not"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tg_server server;
    struct tg_error err;
    assert_false(start(&server, cases[i].script, &err));
    assert_non_null(strstr(err.text, cases[i].message));
    assert_int_equal(server.pid, 0);
  }
}

static void test_a_server_that_dies_is_noticed(void **state) {
  (void)state;
  struct tg_server server;
  struct tg_error err;
  assert_true(start(&server, "echo '{\"tls_port\":1,\"http_port\":2}'; exit 9", &err));
  for (int i = 0; i < 500 && tg_server_alive(&server, &err); i++) {
    (void)usleep(10000);
  }
  assert_false(tg_server_alive(&server, &err));
  assert_non_null(strstr(err.text, "status 9"));
  assert_false(tg_server_stop(&server, &err));
}

static void test_runfiles(void **state) {
  (void)state;
  char path[PATH_MAX];
  struct tg_error err;
  assert_false(tg_runfile("no/such/file", path, &err));
  assert_non_null(strstr(err.text, "no/such/file"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_output_and_status_are_kept),
      cmocka_unit_test(test_a_signal_is_a_status),
      cmocka_unit_test(test_cpu_time_is_counted),
      cmocka_unit_test(test_long_output_does_not_block),
      cmocka_unit_test(test_a_child_that_hangs_is_killed),
      cmocka_unit_test(test_a_missing_program_is_named),
      cmocka_unit_test(test_what_a_killed_child_started_is_killed_too),
      cmocka_unit_test(test_a_server_says_its_ports),
      cmocka_unit_test(test_what_a_server_starts_counts_as_its_cpu_time),
      cmocka_unit_test(test_servers_that_do_not_start),
      cmocka_unit_test(test_a_server_that_dies_is_noticed),
      cmocka_unit_test(test_runfiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

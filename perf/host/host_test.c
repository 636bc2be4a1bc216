// The host's settings and its identity. The settings are changed in a network namespace of the test's own.
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/host/provenance.h"
#include "perf/host/stall_settings.h"
#include "perf/process/child.h"

static void run_ok(const char *const argv[]) {
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, 20, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != 0) {
    fail_msg("%s: %s", argv[0], result.err);
  }
  tg_child_result_free(&result);
}

static void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  close(fd);
}

static void test_names_the_settings_that_hide_the_stall(void **state) {
  (void)state;
  char text[256];
  if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    fail_msg("cannot make a network namespace: allow unprivileged ones or run as root");
  }
  const char *const up[] = {"ip", "link", "set", "lo", "up", NULL};
  run_ok(up);
  tg_stall_settings_describe(text, sizeof(text));
  assert_string_equal(text, "");
  const char *const quickack[] = {"ip", "route", "change", "local",    "127.0.0.1", "dev",
                                  "lo", "table", "local",  "quickack", "1",         NULL};
  run_ok(quickack);
  tg_stall_settings_describe(text, sizeof(text));
  assert_non_null(strstr(text, "quickack 1"));
  write_file("/proc/sys/net/ipv4/tcp_pingpong_thresh", "3");
  tg_stall_settings_describe(text, sizeof(text));
  assert_non_null(strstr(text, "net.ipv4.tcp_pingpong_thresh = 3"));
  assert_non_null(strstr(text, "quickack 1"));
}

static void test_provenance_says_what_was_timed(void **state) {
  (void)state;
  struct tg_error err;
  json_t *provenance = tg_provenance(NULL, "/proc/self/exe", &err);
  assert_non_null(provenance);
  assert_int_equal(json_string_length(json_object_get(provenance, "server_sha256")), 64);
  assert_true(json_string_length(json_object_get(provenance, "cpu_model")) > 0);
  assert_true(json_string_length(json_object_get(provenance, "boringssl")) > 0);
  assert_non_null(strstr(json_string_value(json_object_get(provenance, "flags")), "-O2"));
  assert_true(json_is_null(json_object_get(provenance, "commit")));
  json_decref(provenance);
  assert_null(tg_provenance(NULL, "/nonexistent/server", &err));
  assert_non_null(strstr(err.text, "/nonexistent/server"));
}

static void test_stolen_fraction(void **state) {
  (void)state;
  struct tg_cpu_times from = {.total = 1000, .stolen = 10};
  struct tg_cpu_times to = {.total = 1200, .stolen = 60};
  assert_true(tg_stolen_fraction(&from, &to) == 0.25);
  assert_true(tg_stolen_fraction(&from, &from) == 0);
  assert_true(tg_cpu_times_read(&from));
  assert_true(from.total > from.idle);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_provenance_says_what_was_timed),
      cmocka_unit_test(test_stolen_fraction),
      cmocka_unit_test(test_names_the_settings_that_hide_the_stall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

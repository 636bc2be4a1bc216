// The host's lock, its settings and its identity. The settings are changed in a network namespace of the test's own.
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/host/lock.h"
#include "perf/host/provenance.h"
#include "perf/host/stall_settings.h"
#include "perf/process/child.h"
#include "perf/process/runfiles.h"

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

// A child that holds the lock file named, shared or exclusively, until its pipe closes. It works in `folder`.
static pid_t hold(const char *file, int operation, const char *folder, int *release) {
  int ready[2];
  int stop[2];
  assert_int_equal(pipe(ready), 0);
  assert_int_equal(pipe(stop), 0);
  pid_t pid = fork();
  if (pid == 0) {
    char byte = 0;
    close(stop[1]);
    int fd = open(file, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && flock(fd, operation) == 0 && chdir(folder) == 0;
    (void)!write(ready[1], ok ? "y" : "n", 1);
    (void)!read(stop[0], &byte, 1);
    _exit(0);
  }
  close(stop[0]);
  char answer = 0;
  assert_int_equal(read(ready[0], &answer, 1), 1);
  assert_int_equal(answer, 'y');
  close(ready[0]);
  close(ready[1]);
  *release = stop[1];
  return pid;
}

static void let_go(pid_t pid, int release) {
  close(release);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_one_measurement_at_a_time(void **state) {
  (void)state;
  struct tg_error err;
  int release = -1;
  pid_t other = hold(TG_MEASURE_LOCK, LOCK_EX, "/", &release);
  assert_int_equal(tg_measure_lock(NULL, 500, &err), -1);
  assert_non_null(strstr(err.text, "another measurement"));
  let_go(other, release);
  int fd = tg_measure_lock("/", 60000, &err);
  assert_true(fd >= 0);
  close(fd);
}

static void test_no_measurement_during_a_foreign_build(void **state) {
  (void)state;
  struct tg_error err;
  int release = -1;
  pid_t builder = hold(TG_BUILD_LOCK, LOCK_SH, "/usr", &release);
  assert_int_equal(tg_measure_lock("/elsewhere", 500, &err), -1);
  assert_non_null(strstr(err.text, "build"));
  let_go(builder, release);
}

static void test_own_build_is_not_waited_for(void **state) {
  (void)state;
  struct tg_error err;
  int release = -1;
  pid_t builder = hold(TG_BUILD_LOCK, LOCK_SH, "/usr/lib", &release);
  // The build that runs this very test may be another's to a measurement that calls itself part of /usr.
  int fd = tg_measure_lock("/", 5000, &err);
  assert_true(fd >= 0);
  close(fd);
  let_go(builder, release);
}

// The other build's own measurement waits for this one: waiting for that build would be for ever.
static void test_a_build_that_waits_for_the_measurement_is_not_waited_for(void **state) {
  (void)state;
  struct tg_error err;
  int release[2] = {-1, -1};
  pid_t builder = hold(TG_BUILD_LOCK, LOCK_SH, "/usr/lib", &release[0]);
  pid_t measurement = hold(TG_WAITING_LOCK, LOCK_SH, "/usr", &release[1]);
  pid_t own = fork();
  if (own == 0) {
    // The build that runs this very test is its workspace's.
    char workspace[PATH_MAX];
    bool known = tg_workspace("baselines/gates.json", workspace);
    _exit(known && tg_measure_lock(workspace, 40000, &err) >= 0 ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(own, &status, 0), own);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  let_go(measurement, release[1]);
  let_go(builder, release[0]);
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
      cmocka_unit_test(test_one_measurement_at_a_time),
      cmocka_unit_test(test_no_measurement_during_a_foreign_build),
      cmocka_unit_test(test_own_build_is_not_waited_for),
      cmocka_unit_test(test_a_build_that_waits_for_the_measurement_is_not_waited_for),
      cmocka_unit_test(test_names_the_settings_that_hide_the_stall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

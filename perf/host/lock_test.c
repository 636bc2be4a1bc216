// The host's lock, on a /tmp of the test's own: builds and measurements that go on meanwhile are none of its business.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/host/lock.h"

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
  int fd = tg_measure_lock(NULL, 60000, &err);
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
  int fd = tg_measure_lock("/usr", 5000, &err);
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
  int fd = tg_measure_lock("/var", 40000, &err);
  assert_true(fd >= 0);
  close(fd);
  let_go(measurement, release[1]);
  let_go(builder, release[0]);
}

static int own_tmp(void **state) {
  (void)state;
  if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mount("lock_test", "/tmp", "tmpfs", 0, NULL) != 0) {
    print_error("cannot make a mount namespace with a /tmp of its own (%s): allow unprivileged ones or run as root\n",
                strerror(errno));
    return -1;
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_measurement_at_a_time),
      cmocka_unit_test(test_no_measurement_during_a_foreign_build),
      cmocka_unit_test(test_own_build_is_not_waited_for),
      cmocka_unit_test(test_a_build_that_waits_for_the_measurement_is_not_waited_for),
  };
  return cmocka_run_group_tests(tests, own_tmp, NULL);
}

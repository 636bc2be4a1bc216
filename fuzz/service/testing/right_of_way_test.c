// Fuzzing makes way for a measurement, and does not begin during one.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#include "fuzz/service/right_of_way.h"

static void test_a_measurement_goes_first(void **state) {
  (void)state;
  char folder[] = "/tmp/right-of-way-XXXXXX";
  char measure_path[64];
  char build_path[64];
  assert_non_null(mkdtemp(folder));
  (void)snprintf(measure_path, sizeof(measure_path), "%s/measure", folder);
  (void)snprintf(build_path, sizeof(build_path), "%s/build", folder);
  struct tg_right_of_way way;
  struct tg_error err;
  assert_true(tg_right_of_way_open(&way, measure_path, build_path, &err));
  int measure = open(measure_path, O_RDONLY | O_CLOEXEC);
  int build = open(build_path, O_RDONLY | O_CLOEXEC);

  assert_false(tg_right_of_way_yield(&way));
  assert_true(tg_right_of_way_enter(&way));
  // A build may work at the same time, a measurement not.
  assert_int_equal(flock(build, LOCK_SH | LOCK_NB), 0);
  assert_int_equal(flock(build, LOCK_UN), 0);
  assert_int_equal(flock(measure, LOCK_EX | LOCK_NB), 0);
  assert_int_equal(flock(build, LOCK_EX | LOCK_NB), -1);
  assert_true(tg_right_of_way_yield(&way));
  tg_right_of_way_leave(&way);
  assert_int_equal(flock(build, LOCK_EX | LOCK_NB), 0);
  assert_int_equal(flock(build, LOCK_UN), 0);
  // Not before it has ended, though BUILD could be had.
  assert_false(tg_right_of_way_enter(&way));
  assert_int_equal(flock(build, LOCK_EX | LOCK_NB), 0);
  assert_int_equal(flock(build, LOCK_UN), 0);
  assert_int_equal(flock(measure, LOCK_UN), 0);
  assert_false(tg_right_of_way_yield(&way));
  assert_true(tg_right_of_way_enter(&way));

  tg_right_of_way_close(&way);
  assert_int_equal(flock(build, LOCK_EX | LOCK_NB), 0);
  close(measure);
  close(build);
  unlink(measure_path);
  unlink(build_path);
  rmdir(folder);
}

static void test_locks_that_cannot_be_opened(void **state) {
  (void)state;
  struct tg_right_of_way way;
  struct tg_error err;
  assert_false(tg_right_of_way_open(&way, "/nonexistent/measure", "/nonexistent/build", &err));
  assert_string_equal(err.text, "cannot open the lock /nonexistent/measure: No such file or directory");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_measurement_goes_first),
      cmocka_unit_test(test_locks_that_cannot_be_opened),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

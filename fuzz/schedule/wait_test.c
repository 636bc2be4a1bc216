// The scale of waits grows, is round, and has the values that schedule.h promises.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fuzz/schedule/schedule.h"
#include "fuzz/schedule/wait.h"

#define MS UINT64_C(1000000)

static void test_the_scale_grows(void **state) {
  (void)state;
  assert_int_equal(tg_schedule_wait_ns(0), 0);
  assert_int_equal(tg_schedule_wait_ns(1), 1000);
  assert_int_equal(tg_schedule_wait_ns(254), 200000 * MS);
  assert_true(tg_schedule_wait_ns(255) == TG_SCHEDULE_REST);
  for (int i = 1; i <= 255; i++) assert_true(tg_schedule_wait_ns((uint8_t)i) > tg_schedule_wait_ns((uint8_t)(i - 1)));
}

static void test_the_runs_are_the_whole_scale(void **state) {
  (void)state;
  size_t num_runs, values = 0;
  const struct tg_schedule_wait_run *runs = tg_schedule_wait_runs(&num_runs);
  for (size_t i = 0; i < num_runs; i++) values += runs[i].count;
  assert_int_equal(values, TG_SCHEDULE_WAIT_MAX);
}

static void test_promised_values_are_exact(void **state) {
  (void)state;
  static const uint64_t promised[] = {1, 36, 40, 44, 100, 200, 205, 1000, 10000};
  for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++) {
    uint8_t wait = tg_schedule_wait_nearest(promised[i] * MS);
    assert_int_equal(tg_schedule_wait_ns(wait), promised[i] * MS);
    assert_int_equal(tg_schedule_wait_floor(promised[i] * MS), wait);
    assert_int_equal(tg_schedule_wait_floor(promised[i] * MS - 1), wait - 1);
  }
}

static void test_nearest(void **state) {
  (void)state;
  for (int i = 0; i < 255; i++) assert_int_equal(tg_schedule_wait_nearest(tg_schedule_wait_ns((uint8_t)i)), i);
  assert_int_equal(tg_schedule_wait_nearest(40 * MS + MS / 4), tg_schedule_wait_nearest(40 * MS));
  assert_int_equal(tg_schedule_wait_nearest(40 * MS + MS / 4 + 1), tg_schedule_wait_nearest(40 * MS) + 1);
  assert_int_equal(tg_schedule_wait_nearest(500), 0);
  assert_int_equal(tg_schedule_wait_nearest(501), 1);
  assert_int_equal(tg_schedule_wait_nearest(UINT64_MAX), TG_SCHEDULE_WAIT_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_scale_grows),
      cmocka_unit_test(test_the_runs_are_the_whole_scale),
      cmocka_unit_test(test_promised_values_are_exact),
      cmocka_unit_test(test_nearest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "harness/accept/deadline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint32_t kLengths[TG_DEADLINE_KINDS] = {10, 20, 30, 40, 50};

static void test_expire_in_order_within_and_across_kinds(void **state) {
  (void)state;
  struct tg_deadline_lists lists;
  struct tg_deadline a = {0};
  struct tg_deadline b = {0};
  struct tg_deadline c = {0};
  tg_deadline_lists_init(&lists, kLengths);
  assert_true(tg_deadline_next(&lists) == TG_DEADLINE_NEVER);
  tg_deadline_set(&lists, &a, TG_DEADLINE_REQUEST, 1000000);
  tg_deadline_set(&lists, &b, TG_DEADLINE_REQUEST, 2000000);
  tg_deadline_set(&lists, &c, TG_DEADLINE_HANDSHAKE, 2000000);
  assert_true(tg_deadline_next(&lists) == 12000000);
  assert_null(tg_deadline_take_expired(&lists, 11999999));
  assert_ptr_equal(tg_deadline_take_expired(&lists, 12000000), &c);
  assert_null(tg_deadline_take_expired(&lists, 20999999));
  assert_ptr_equal(tg_deadline_take_expired(&lists, 22000000), &a);
  assert_ptr_equal(tg_deadline_take_expired(&lists, 22000000), &b);
  assert_null(tg_deadline_take_expired(&lists, UINT64_MAX));
  assert_true(tg_deadline_next(&lists) == TG_DEADLINE_NEVER);
}

static void test_setting_again_moves_to_the_end(void **state) {
  (void)state;
  struct tg_deadline_lists lists;
  struct tg_deadline a = {0};
  struct tg_deadline b = {0};
  tg_deadline_lists_init(&lists, kLengths);
  tg_deadline_set(&lists, &a, TG_DEADLINE_IDLE, 0);
  tg_deadline_set(&lists, &b, TG_DEADLINE_IDLE, 1);
  tg_deadline_set(&lists, &a, TG_DEADLINE_IDLE, 2);
  assert_true(tg_deadline_next(&lists) == 30000001);
  assert_ptr_equal(tg_deadline_take_expired(&lists, 30000002), &b);
  assert_ptr_equal(tg_deadline_take_expired(&lists, 30000002), &a);
}

static void test_changing_kind_and_cancelling(void **state) {
  (void)state;
  struct tg_deadline_lists lists;
  struct tg_deadline a = {0};
  tg_deadline_lists_init(&lists, kLengths);
  assert_false(tg_deadline_is(&a, TG_DEADLINE_HANDSHAKE));
  tg_deadline_cancel(&a);
  tg_deadline_set(&lists, &a, TG_DEADLINE_HANDSHAKE, 0);
  assert_true(tg_deadline_is(&a, TG_DEADLINE_HANDSHAKE));
  tg_deadline_set(&lists, &a, TG_DEADLINE_DRAIN, 0);
  assert_false(tg_deadline_is(&a, TG_DEADLINE_HANDSHAKE));
  assert_true(tg_deadline_is(&a, TG_DEADLINE_DRAIN));
  assert_true(tg_deadline_next(&lists) == 50000000);
  tg_deadline_cancel(&a);
  assert_false(tg_deadline_is(&a, TG_DEADLINE_DRAIN));
  assert_null(tg_deadline_take_expired(&lists, UINT64_MAX));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expire_in_order_within_and_across_kinds),
      cmocka_unit_test(test_setting_again_moves_to_the_end),
      cmocka_unit_test(test_changing_kind_and_cancelling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// The encoding is total, canonical, and loses nothing that is in range.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/schedule/rng.h"
#include "fuzz/schedule/schedule.h"
#include "fuzz/schedule/testing_schedule.h"

static void round_trip(const struct tg_schedule *schedule) {
  uint8_t bytes[TG_SCHEDULE_BYTES_MAX];
  size_t len = tg_schedule_encode(schedule, bytes);
  assert_true(len <= sizeof(bytes));
  assert_int_equal(len, 8 + 5 * schedule->num_steps);
  struct tg_schedule decoded;
  tg_schedule_decode(bytes, len, &decoded);
  tg_testing_assert_equal(schedule, &decoded);
}

static void test_in_range_round_trips(void **state) {
  (void)state;
  struct tg_rng rng = {1};
  for (int i = 0; i < 3000; i++) {
    struct tg_schedule schedule;
    tg_testing_random_schedule(&rng, tg_rng_below(&rng, TG_SCHEDULE_STEPS_MAX + 1), &schedule);
    round_trip(&schedule);
  }
}

static void test_any_bytes_decode_and_encoding_is_canonical(void **state) {
  (void)state;
  struct tg_rng rng = {2};
  for (int i = 0; i < 3000; i++) {
    uint8_t bytes[TG_SCHEDULE_BYTES_MAX + 100], canonical[TG_SCHEDULE_BYTES_MAX], again[TG_SCHEDULE_BYTES_MAX];
    size_t len = tg_rng_below(&rng, sizeof(bytes) + 1);
    for (size_t j = 0; j < len; j++) bytes[j] = (uint8_t)tg_rng_next(&rng);
    struct tg_schedule schedule, decoded;
    tg_schedule_decode(bytes, len, &schedule);
    assert_true(schedule.num_steps <= TG_SCHEDULE_STEPS_MAX);
    assert_in_range(schedule.settings.shards, 1, 3);
    for (size_t j = 0; j < schedule.num_steps; j++) {
      assert_true(schedule.steps[j].action < TG_SCHEDULE_ACTIONS_COUNT);
      assert_true(schedule.steps[j].client < TG_SCHEDULE_CLIENTS_MAX);
    }
    size_t canonical_len = tg_schedule_encode(&schedule, canonical);
    tg_schedule_decode(canonical, canonical_len, &decoded);
    tg_testing_assert_equal(&schedule, &decoded);
    assert_int_equal(tg_schedule_encode(&decoded, again), canonical_len);
    assert_memory_equal(canonical, again, canonical_len);
  }
}

static void test_what_is_missing_is_zero(void **state) {
  (void)state;
  struct tg_schedule zero = {.settings = {.shards = 1}}, decoded;
  tg_schedule_decode(NULL, 0, &decoded);
  tg_testing_assert_equal(&zero, &decoded);

  // A step of which only the action is there.
  const uint8_t bytes[] = {TG_SCHEDULE_VERSION, 0, 0, 0, 0, 0, 0, 0, TG_SCHEDULE_CONNECT};
  zero.num_steps = 1;
  zero.steps[0].action = TG_SCHEDULE_CONNECT;
  tg_schedule_decode(bytes, sizeof(bytes), &decoded);
  tg_testing_assert_equal(&zero, &decoded);
}

static void test_every_version_reads_as_the_current_one(void **state) {
  (void)state;
  struct tg_rng rng = {3};
  struct tg_schedule schedule, decoded;
  tg_testing_random_schedule(&rng, 20, &schedule);
  uint8_t bytes[TG_SCHEDULE_BYTES_MAX];
  size_t len = tg_schedule_encode(&schedule, bytes);
  assert_int_equal(bytes[0], TG_SCHEDULE_VERSION);
  for (int version = 0; version < 256; version++) {
    bytes[0] = (uint8_t)version;
    tg_schedule_decode(bytes, len, &decoded);
    tg_testing_assert_equal(&schedule, &decoded);
  }
}

static void test_what_is_out_of_range_is_folded(void **state) {
  (void)state;
  struct tg_schedule schedule = {
      .settings = {.shards = 200, .key = 77, .delay = 9},
      .num_steps = 4,
      .steps = {{.action = 255, .client = 255, .value = 65535, .wait = 255},
                {.action = TG_SCHEDULE_INJECT, .client = 3, .value = 31},
                {.action = TG_SCHEDULE_RAW, .value = 0},
                {.action = TG_SCHEDULE_RECORD, .value = 0x12f}},
  };
  uint8_t bytes[TG_SCHEDULE_BYTES_MAX];
  struct tg_schedule decoded;
  tg_schedule_decode(bytes, tg_schedule_encode(&schedule, bytes), &decoded);
  assert_in_range(decoded.settings.shards, 1, 3);
  assert_true(decoded.settings.key < TG_SCHEDULE_KEYS);
  assert_int_equal(decoded.settings.delay, 4);
  assert_int_equal(decoded.steps[0].action, 255 % TG_SCHEDULE_ACTIONS_COUNT);
  assert_int_equal(decoded.steps[1].client, 0);
  assert_int_equal(decoded.steps[1].value, 31 % TG_SCHEDULE_FAILURES_COUNT);
  assert_int_equal(decoded.steps[2].value, 4096);
  assert_int_equal(decoded.steps[3].value, 0x127);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_in_range_round_trips),
      cmocka_unit_test(test_any_bytes_decode_and_encoding_is_canonical),
      cmocka_unit_test(test_what_is_missing_is_zero),
      cmocka_unit_test(test_every_version_reads_as_the_current_one),
      cmocka_unit_test(test_what_is_out_of_range_is_folded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

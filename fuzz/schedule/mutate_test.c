// Mutants are deterministic, fit, stay close to what they were made of, and reach everything a schedule can say.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/schedule/mutate.h"
#include "fuzz/schedule/rng.h"
#include "fuzz/schedule/schedule.h"
#include "fuzz/schedule/testing_schedule.h"
#include "fuzz/schedule/wait.h"

#define GUARD 0xa5

static unsigned byte_calls;

static size_t no_bytes(uint8_t *data, size_t size, size_t max_size) {
  (void)data;
  (void)max_size;
  byte_calls++;
  return size;
}

static size_t random_encoding(struct tg_rng *rng, size_t num_steps, uint8_t *out) {
  struct tg_schedule schedule;
  tg_testing_random_schedule(rng, num_steps, &schedule);
  return tg_schedule_encode(&schedule, out);
}

static void test_same_seed_same_mutant(void **state) {
  (void)state;
  struct tg_rng rng = {1};
  unsigned differ = 0;
  for (unsigned seed = 0; seed < 2000; seed++) {
    uint8_t a[TG_SCHEDULE_BYTES_MAX], b[TG_SCHEDULE_BYTES_MAX], original[TG_SCHEDULE_BYTES_MAX];
    const size_t size = random_encoding(&rng, 12, original);
    memcpy(a, original, size);
    memcpy(b, original, size);
    const size_t a_size = tg_schedule_mutate(a, size, sizeof(a), seed, NULL);
    assert_int_equal(tg_schedule_mutate(b, size, sizeof(b), seed, NULL), a_size);
    assert_memory_equal(a, b, a_size);
    differ += a_size != size || memcmp(a, original, size) != 0;
  }
  assert_true(differ >= 1990);
}

static void test_mutants_fit(void **state) {
  (void)state;
  struct tg_rng rng = {2};
  for (unsigned seed = 0; seed < 20000; seed++) {
    uint8_t a[TG_SCHEDULE_BYTES_MAX + 64], b[TG_SCHEDULE_BYTES_MAX], out[TG_SCHEDULE_BYTES_MAX + 64];
    memset(a, GUARD, sizeof(a));
    memset(out, GUARD, sizeof(out));
    const size_t max_size = tg_rng_one_in(&rng, 2) ? tg_rng_below(&rng, 40) : tg_rng_below(&rng, sizeof(a));
    size_t size = random_encoding(&rng, tg_rng_below(&rng, TG_SCHEDULE_STEPS_MAX + 1), a);
    const size_t b_size = random_encoding(&rng, tg_rng_below(&rng, TG_SCHEDULE_STEPS_MAX + 1), b);
    const size_t crossed = tg_schedule_cross_over(a, size, b, b_size, out, max_size, seed);
    assert_true(crossed <= max_size && (crossed > 0 || max_size == 0));
    for (size_t i = max_size; i < sizeof(out); i++) {
      assert_int_equal(out[i], GUARD);
    }
    size = size < max_size ? size : max_size;
    memset(a + size, GUARD, sizeof(a) - size);
    const size_t mutated = tg_schedule_mutate(a, size, max_size, seed, NULL);
    assert_true(mutated <= max_size && (mutated > 0 || max_size == 0));
    for (size_t i = max_size; i < sizeof(a); i++) {
      assert_int_equal(a[i], GUARD);
    }
  }
}

// The steps that a longest common subsequence leaves out, on both sides.
static size_t changed_steps(const struct tg_schedule *a, const struct tg_schedule *b) {
  static size_t common[TG_SCHEDULE_STEPS_MAX + 1][TG_SCHEDULE_STEPS_MAX + 1];
  for (size_t i = 1; i <= a->num_steps; i++) {
    for (size_t j = 1; j <= b->num_steps; j++) {
      const size_t left = common[i][j - 1], up = common[i - 1][j];
      common[i][j] = tg_testing_step_equal(&a->steps[i - 1], &b->steps[j - 1]) ? common[i - 1][j - 1] + 1
                     : left > up                                               ? left
                                                                               : up;
    }
  }
  return a->num_steps + b->num_steps - 2 * common[a->num_steps][b->num_steps];
}

static void test_mutants_are_near(void **state) {
  (void)state;
  struct tg_rng rng = {3};
  enum { MUTANTS = 2000, STEPS = 24 };
  size_t changed = 0, settings_alone = 0;
  byte_calls = 0;
  for (unsigned seed = 0; seed < MUTANTS; seed++) {
    uint8_t bytes[TG_SCHEDULE_BYTES_MAX];
    struct tg_schedule before, after;
    size_t size = random_encoding(&rng, STEPS, bytes);
    tg_schedule_decode(bytes, size, &before);
    size = tg_schedule_mutate(bytes, size, sizeof(bytes), seed, no_bytes);
    tg_schedule_decode(bytes, size, &after);
    uint8_t canonical[TG_SCHEDULE_BYTES_MAX];
    assert_int_equal(tg_schedule_encode(&after, canonical), size);
    assert_memory_equal(canonical, bytes, size);
    const size_t steps = changed_steps(&before, &after);
    changed += steps;
    settings_alone += steps == 0;
  }
  // A changed field counts twice here: a step gone and a step come.
  print_message("%.2f steps of %d changed on average; %u of %d mutants made of bytes\n", (double)changed / MUTANTS,
                STEPS, byte_calls, MUTANTS);
  assert_in_range(changed, 1 * MUTANTS, 6 * MUTANTS);
  assert_in_range(byte_calls, MUTANTS / 32, MUTANTS / 8);
  assert_true(settings_alone > byte_calls && settings_alone < MUTANTS / 4);
}

// What has been seen in some mutant.
struct reach {
  bool action[TG_SCHEDULE_ACTIONS_COUNT];
  bool connect_bit[TG_CONNECT_BITS];
  bool request[TG_SCHEDULE_REQUESTS_COUNT];
  bool record[TG_SCHEDULE_RECORDS_COUNT];
  bool failure[TG_SCHEDULE_FAILURES_COUNT];
  bool client[TG_SCHEDULE_CLIENTS_MAX];
  bool refusal[TG_SCHEDULE_REFUSALS_COUNT];
  bool near_delayed_ack;  // a wait of exactly 40 ms
  bool setting[4][5];     // key, deadlines, delay, send_buffer
};

static void see(struct reach *reach, const struct tg_schedule *schedule) {
  reach->setting[0][schedule->settings.key] = true;
  reach->setting[1][schedule->settings.deadlines] = true;
  reach->setting[2][schedule->settings.delay] = true;
  reach->setting[3][schedule->settings.send_buffer] = true;
  reach->refusal[schedule->settings.refused] = true;
  for (size_t i = 0; i < schedule->num_steps; i++) {
    const struct tg_schedule_step *step = &schedule->steps[i];
    reach->action[step->action] = true;
    reach->client[step->client] = true;
    reach->near_delayed_ack |= tg_schedule_wait_ns(step->wait) == UINT64_C(40000000);
    if (step->action == TG_SCHEDULE_CONNECT) {
      for (int bit = 0; bit < TG_CONNECT_BITS; bit++) {
        reach->connect_bit[bit] |= step->value >> bit & 1;
      }
    } else if (step->action == TG_SCHEDULE_REQUEST) {
      reach->request[step->value & 15] = true;
    } else if (step->action == TG_SCHEDULE_RECORD) {
      reach->record[step->value & 15] = true;
    } else if (step->action == TG_SCHEDULE_INJECT) {
      reach->failure[step->value & 31] = true;
    }
  }
}

static void assert_all(const char *what, const bool *seen, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!seen[i]) {
      fail_msg("%s %zu was never made", what, i);
    }
  }
}

static void test_a_chain_of_mutants_reaches_everything(void **state) {
  (void)state;
  enum { CHAIN = 8000 };
  // Rare, so that one chain need not reach all.
  bool refusal[TG_SCHEDULE_REFUSALS_COUNT] = {false};
  for (unsigned start = 0; start < 10; start++) {
    struct reach reach = {.near_delayed_ack = false};
    uint8_t bytes[TG_SCHEDULE_BYTES_MAX] = {0};
    size_t size = 1;
    for (unsigned i = 0; i < CHAIN; i++) {
      size = tg_schedule_mutate(bytes, size, 8 + 5 * 40, start * CHAIN + i, no_bytes);
      struct tg_schedule schedule;
      tg_schedule_decode(bytes, size, &schedule);
      see(&reach, &schedule);
    }
    assert_all("action", reach.action, TG_SCHEDULE_ACTIONS_COUNT);
    assert_all("connect bit", reach.connect_bit, TG_CONNECT_BITS);
    assert_all("request", reach.request, TG_SCHEDULE_REQUESTS_COUNT);
    assert_all("record", reach.record, TG_SCHEDULE_RECORDS_COUNT);
    assert_all("failure", reach.failure, TG_SCHEDULE_FAILURES_COUNT);
    assert_all("client", reach.client, TG_SCHEDULE_CLIENTS_MAX);
    for (size_t i = 0; i < TG_SCHEDULE_REFUSALS_COUNT; i++) {
      refusal[i] |= reach.refusal[i];
    }
    assert_true(reach.near_delayed_ack);
    assert_all("key", reach.setting[0], TG_SCHEDULE_KEYS);
    assert_all("deadlines", reach.setting[1], 4);
    assert_all("delay", reach.setting[2], 5);
    assert_all("send_buffer", reach.setting[3], 4);
  }
  assert_all("refusal", refusal, TG_SCHEDULE_REFUSALS_COUNT);
}

// Every step of a cross-over comes from one of its parents, a client's number aside.
static void test_cross_over_takes_from_both(void **state) {
  (void)state;
  struct tg_rng rng = {5};
  size_t from_a = 0, from_b = 0;
  for (unsigned seed = 0; seed < 2000; seed++) {
    uint8_t a_bytes[TG_SCHEDULE_BYTES_MAX], b_bytes[TG_SCHEDULE_BYTES_MAX], out[TG_SCHEDULE_BYTES_MAX];
    struct tg_schedule a, b, child;
    const size_t a_size = random_encoding(&rng, 10, a_bytes), b_size = random_encoding(&rng, 10, b_bytes);
    tg_schedule_decode(a_bytes, a_size, &a);
    tg_schedule_decode(b_bytes, b_size, &b);
    const size_t size = tg_schedule_cross_over(a_bytes, a_size, b_bytes, b_size, out, sizeof(out), seed);
    tg_schedule_decode(out, size, &child);
    for (size_t i = 0; i < child.num_steps; i++) {
      bool in_a = false, in_b = false;
      for (size_t j = 0; j < 10; j++) {
        in_a |= tg_testing_step_equal(&child.steps[i], &a.steps[j]);
        struct tg_schedule_step moved = b.steps[j];
        moved.client = child.steps[i].client;
        in_b |= tg_testing_step_equal(&child.steps[i], &moved);
      }
      assert_true(in_a || in_b);
      from_a += in_a;
      from_b += in_b;
    }
  }
  assert_true(from_a > 2000 && from_b > 2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_seed_same_mutant),      cmocka_unit_test(test_mutants_fit),
      cmocka_unit_test(test_mutants_are_near),           cmocka_unit_test(test_a_chain_of_mutants_reaches_everything),
      cmocka_unit_test(test_cross_over_takes_from_both),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

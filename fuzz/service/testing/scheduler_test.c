// Time goes to where edges are found, and nothing starves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/service/health.h"
#include "fuzz/service/scheduler.h"

#define SLICE_S 60.0
#define TARGETS 6

static struct tg_fuzzd_state state;
static struct tg_fuzzd_choice choice;

static int begin(void **unused) {
  (void)unused;
  memset(&state, 0, sizeof(state));
  memset(&choice, 0, sizeof(choice));
  choice.engines[TG_FUZZD_LIBFUZZER] = choice.engines[TG_FUZZD_AFL] = true;
  for (int i = 0; i < TARGETS; i++) {
    char name[16];
    (void)snprintf(name, sizeof(name), "target%d", i);
    assert_non_null(tg_fuzzd_state_target(&state, name));
    choice.targets[i] = true;
  }
  return 0;
}

// Picks and accounts one slice; `yield` says what new edges an arm covers in it.
static void run(uint64_t (*yield)(size_t target, enum tg_fuzzd_engine engine), size_t *target,
                enum tg_fuzzd_engine *engine) {
  assert_true(tg_fuzzd_pick(&state, &choice, 1000, target, engine));
  tg_fuzzd_charge(&state, *target, *engine, SLICE_S);
  const struct tg_fuzzd_slice_result result = {
      .ran = true, .cpu_s = SLICE_S, .executions = 1000, .edges = 100, .new_edges = yield(*target, *engine)};
  tg_fuzzd_account(&state, &choice, *target, *engine, SLICE_S, &result, 1000);
}

static uint64_t nothing(size_t target, enum tg_fuzzd_engine engine) {
  (void)target;
  (void)engine;
  return 0;
}

static uint64_t third_alone(size_t target, enum tg_fuzzd_engine engine) {
  return target == 3 && engine == TG_FUZZD_AFL ? 50 : 0;
}

static double cpu_of(size_t target, enum tg_fuzzd_engine engine) {
  return state.targets[target].arms[engine].cpu_s;
}

static void test_every_arm_runs_before_any_runs_twice(void **unused) {
  (void)unused;
  size_t target;
  enum tg_fuzzd_engine engine;
  for (int i = 0; i < TARGETS * TG_FUZZD_ENGINES; i++) {
    run(third_alone, &target, &engine);
    assert_int_equal(state.targets[target].arms[engine].slices, 1);
  }
}

static void test_without_yield_time_is_shared_alike(void **unused) {
  (void)unused;
  size_t target;
  enum tg_fuzzd_engine engine;
  for (int i = 0; i < 10 * TARGETS * TG_FUZZD_ENGINES; i++) {
    run(nothing, &target, &engine);
  }
  for (size_t i = 0; i < TARGETS; i++) {
    assert_true(cpu_of(i, TG_FUZZD_LIBFUZZER) >= 9 * SLICE_S && cpu_of(i, TG_FUZZD_LIBFUZZER) <= 11 * SLICE_S);
    assert_true(cpu_of(i, TG_FUZZD_AFL) >= 9 * SLICE_S && cpu_of(i, TG_FUZZD_AFL) <= 11 * SLICE_S);
  }
}

static void test_time_goes_to_who_finds(void **unused) {
  (void)unused;
  size_t target;
  enum tg_fuzzd_engine engine;
  for (int i = 0; i < 1000; i++) {
    run(third_alone, &target, &engine);
  }
  // 70 % by yield, and its part of the 30 % that all have alike.
  double part = cpu_of(3, TG_FUZZD_AFL) / (1000 * SLICE_S);
  assert_true(part > 0.68 && part < 0.76);
}

static void test_nothing_starves(void **unused) {
  (void)unused;
  size_t target;
  enum tg_fuzzd_engine engine;
  const int arms = TARGETS * TG_FUZZD_ENGINES;
  int last[TARGETS][TG_FUZZD_ENGINES] = {{0}};
  for (int i = 1; i < 1000; i++) {
    run(third_alone, &target, &engine);
    // An arm without yield is owed TG_FUZZD_FLOOR / arms of every slice.
    assert_true(i - last[target][engine] <= arms / TG_FUZZD_FLOOR + arms);
    last[target][engine] = i;
  }
  for (size_t t = 0; t < TARGETS; t++) {
    for (int e = 0; e < TG_FUZZD_ENGINES; e++) {
      assert_true(1000 - last[t][e] <= arms / TG_FUZZD_FLOOR + arms);
    }
  }
}

static void test_old_yield_is_forgotten(void **unused) {
  (void)unused;
  size_t target;
  enum tg_fuzzd_engine engine;
  for (int i = 0; i < 100; i++) {
    run(third_alone, &target, &engine);
  }
  assert_true(tg_fuzzd_share(&state, &choice, 3, TG_FUZZD_AFL) > 0.7);
  // Now another finds something, a little.
  state.targets[0].arms[TG_FUZZD_LIBFUZZER].recent_edges = 5;
  for (int i = 0; i < 200; i++) {
    run(nothing, &target, &engine);
    state.targets[0].arms[TG_FUZZD_LIBFUZZER].recent_edges = 5;
  }
  assert_true(tg_fuzzd_share(&state, &choice, 3, TG_FUZZD_AFL) < 0.1);
}

static void test_who_is_always_killed_is_not_always_next(void **unused) {
  (void)unused;
  size_t target;
  enum tg_fuzzd_engine engine;
  int turns[TARGETS][TG_FUZZD_ENGINES] = {{0}};
  for (int i = 0; i < 3 * TARGETS * TG_FUZZD_ENGINES; i++) {
    // No slice is ever accounted.
    assert_true(tg_fuzzd_pick(&state, &choice, 1000, &target, &engine));
    tg_fuzzd_charge(&state, target, engine, SLICE_S);
    turns[target][engine]++;
  }
  for (size_t t = 0; t < TARGETS; t++) {
    assert_int_equal(turns[t][TG_FUZZD_LIBFUZZER], 3);
    assert_int_equal(turns[t][TG_FUZZD_AFL], 3);
  }
}

static void test_shares_add_up(void **unused) {
  (void)unused;
  size_t target;
  enum tg_fuzzd_engine engine;
  choice.targets[1] = false;
  for (int i = 0; i < 50; i++) {
    run(third_alone, &target, &engine);
    assert_int_not_equal(target, 1);
  }
  double all = 0;
  for (size_t i = 0; i < TARGETS; i++) {
    all += tg_fuzzd_share(&state, &choice, i, TG_FUZZD_LIBFUZZER) + tg_fuzzd_share(&state, &choice, i, TG_FUZZD_AFL);
  }
  assert_true(all > 0.999 && all < 1.001);
}

static void test_the_busy_and_the_resting_are_left_out(void **unused) {
  (void)unused;
  size_t target;
  enum tg_fuzzd_engine engine;
  for (size_t i = 1; i < TARGETS; i++) {
    choice.busy[i] = true;
  }
  choice.engines[TG_FUZZD_LIBFUZZER] = false;
  assert_true(tg_fuzzd_pick(&state, &choice, 1000, &target, &engine));
  assert_int_equal(target, 0);
  assert_int_equal(engine, TG_FUZZD_AFL);
  const struct tg_fuzzd_slice_result failure = {.ran = false, .error = "no program"};
  tg_fuzzd_account(&state, &choice, 0, TG_FUZZD_AFL, 0, &failure, 1000);
  assert_false(tg_fuzzd_pick(&state, &choice, 1000 + TG_FUZZD_REST_S - 1, &target, &engine));
  assert_true(tg_fuzzd_pick(&state, &choice, 1000 + TG_FUZZD_REST_S + 1, &target, &engine));
  for (int i = 0; i < 20; i++) {
    tg_fuzzd_account(&state, &choice, 0, TG_FUZZD_AFL, 0, &failure, 1000);
  }
  assert_false(tg_fuzzd_pick(&state, &choice, 1000 + TG_FUZZD_REST_MAX_S - 1, &target, &engine));
  assert_true(tg_fuzzd_pick(&state, &choice, 1000 + TG_FUZZD_REST_MAX_S + 1, &target, &engine));
}

static enum tg_health judge(void) {
  char text[512];
  return tg_health_judge(&state.targets[0], choice.engines, text, sizeof(text));
}

static void test_health(void **unused) {
  (void)unused;
  assert_int_equal(judge(), TG_HEALTH_WAITS);
  const struct tg_fuzzd_slice_result idle = {.ran = true, .cpu_s = TG_HEALTH_IDLE_CPU_S / 4, .executions = 1};
  for (int i = 0; i < 3; i++) {
    tg_fuzzd_account(&state, &choice, 0, i % 2 == 0 ? TG_FUZZD_AFL : TG_FUZZD_LIBFUZZER, 0, &idle, 1000);
    assert_int_equal(judge(), TG_HEALTH_GOOD);
  }
  tg_fuzzd_account(&state, &choice, 0, TG_FUZZD_AFL, 0, &idle, 1000);
  assert_int_equal(judge(), TG_HEALTH_IDLE);
  // An edge that one engine covers is news for the target.
  const struct tg_fuzzd_slice_result found = {.ran = true, .cpu_s = 1, .executions = 1, .new_edges = 1};
  tg_fuzzd_account(&state, &choice, 0, TG_FUZZD_LIBFUZZER, 0, &found, 1000);
  assert_int_equal(judge(), TG_HEALTH_GOOD);
  const struct tg_fuzzd_slice_result crash = {
      .ran = true, .cpu_s = 1, .executions = 1, .new_edges = 1, .finding = true, .early = true};
  for (int i = 0; i < TG_HEALTH_SLICES; i++) {
    assert_int_equal(judge(), TG_HEALTH_GOOD);
    tg_fuzzd_account(&state, &choice, 0, TG_FUZZD_LIBFUZZER, 0, &crash, 1000);
  }
  assert_int_equal(judge(), TG_HEALTH_LOOPS);
  const struct tg_fuzzd_slice_result failure = {.ran = false, .error = "no program"};
  for (int i = 0; i < TG_HEALTH_SLICES; i++) {
    assert_int_equal(judge(), TG_HEALTH_LOOPS);
    tg_fuzzd_account(&state, &choice, 0, TG_FUZZD_AFL, 0, &failure, 1000);
  }
  assert_int_equal(judge(), TG_HEALTH_STOPPED);
  tg_fuzzd_account(&state, &choice, 0, TG_FUZZD_AFL, 0, &found, 1000);
  tg_fuzzd_account(&state, &choice, 0, TG_FUZZD_LIBFUZZER, 0, &found, 1000);
  assert_int_equal(judge(), TG_HEALTH_GOOD);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_every_arm_runs_before_any_runs_twice, begin),
      cmocka_unit_test_setup(test_without_yield_time_is_shared_alike, begin),
      cmocka_unit_test_setup(test_time_goes_to_who_finds, begin),
      cmocka_unit_test_setup(test_nothing_starves, begin),
      cmocka_unit_test_setup(test_old_yield_is_forgotten, begin),
      cmocka_unit_test_setup(test_who_is_always_killed_is_not_always_next, begin),
      cmocka_unit_test_setup(test_shares_add_up, begin),
      cmocka_unit_test_setup(test_the_busy_and_the_resting_are_left_out, begin),
      cmocka_unit_test_setup(test_health, begin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

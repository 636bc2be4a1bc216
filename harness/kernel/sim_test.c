#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the above.
#include <cmocka.h>

#include "harness/kernel/sim.h"
#include "harness/kernel/trace.h"

static struct tg_sim sim;
static uint64_t seen[1 << 13];
static size_t seen_len;

static void note(void *context, uint64_t value) {
  (void)context;
  seen[seen_len++] = value;
}

static void note_time(void *context, uint64_t value) {
  (void)value;
  const struct tg_sim *of = context;
  seen[seen_len++] = of->now_ns;
}

static void note_and_post(void *context, uint64_t value) {
  seen[seen_len++] = value;
  if (value > 0) {
    tg_sim_post(&sim, TG_SIM_NETWORK, sim.now_ns, note_and_post, context, value - 1);
  }
}

static int setup(void **state) {
  (void)state;
  tg_sim_init(&sim, 1000);
  seen_len = 0;
  return 0;
}

static void events_run_in_order_of_time_then_of_posting(void **state) {
  (void)state;
  tg_sim_post(&sim, TG_SIM_NETWORK, 3000, note, NULL, 4);
  tg_sim_post(&sim, TG_SIM_NETWORK, 2000, note, NULL, 1);
  tg_sim_post(&sim, TG_SIM_NETWORK, 2000, note, NULL, 2);
  tg_sim_post(&sim, TG_SIM_NETWORK, 2500, note, NULL, 3);
  assert_int_equal(tg_sim_next_ns(&sim), 2000);
  tg_sim_pass_to(&sim, 2999);
  assert_int_equal(seen_len, 3);
  assert_int_equal(sim.now_ns, 2999);
  tg_sim_pass_to(&sim, 3000);
  assert_int_equal(seen_len, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(seen[i], i + 1);
  }
  assert_true(tg_sim_next_ns(&sim) == TG_SIM_NEVER);
}

static void each_network_event_runs_at_its_own_time(void **state) {
  (void)state;
  tg_sim_post(&sim, TG_SIM_NETWORK, 1500, note_time, &sim, 0);
  tg_sim_post(&sim, TG_SIM_NETWORK, 1700, note_time, &sim, 0);
  tg_sim_pass_to(&sim, 9000);
  assert_int_equal(seen[0], 1500);
  assert_int_equal(seen[1], 1700);
}

static void events_posted_for_now_run_in_the_same_go(void **state) {
  (void)state;
  tg_sim_post(&sim, TG_SIM_NETWORK, 1000, note_and_post, NULL, 3);
  tg_sim_run_due(&sim, TG_SIM_NETWORK);
  assert_int_equal(seen_len, 4);
  assert_int_equal(seen[3], 0);
}

static void driver_events_wait_for_their_turn(void **state) {
  (void)state;
  tg_sim_post(&sim, TG_SIM_DRIVER, 1100, note, NULL, 1);
  tg_sim_post(&sim, TG_SIM_NETWORK, 1200, note, NULL, 2);
  assert_int_equal(tg_sim_next_ns(&sim), 1100);
  tg_sim_pass_to(&sim, 2000);
  tg_sim_run_due(&sim, TG_SIM_NETWORK);
  assert_int_equal(seen_len, 1);
  assert_int_equal(seen[0], 2);
  tg_sim_run_due(&sim, TG_SIM_DRIVER);
  assert_int_equal(seen_len, 2);
}

static void a_full_queue_comes_out_sorted(void **state) {
  (void)state;
  uint64_t random = 1;
  for (size_t i = 0; i < TG_SIM_EVENTS_MAX; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    tg_sim_post(&sim, TG_SIM_NETWORK, 1000 + (random >> 52), note_time, &sim, 0);
  }
  tg_sim_pass_to(&sim, 100000);
  assert_int_equal(seen_len, TG_SIM_EVENTS_MAX);
  for (size_t i = 1; i < seen_len; i++) {
    assert_true(seen[i - 1] <= seen[i]);
  }
}

static void the_trace_keeps_the_last_lines(void **state) {
  (void)state;
  static struct tg_trace trace;
  tg_trace_init(&trace, &sim, NULL);
  for (unsigned i = 0; i < TG_TRACE_LINES + 2; i++) {
    sim.now_ns += 1500;
    tg_trace_line(&trace, "line %u", i);
  }
  char *text = NULL;
  size_t len = 0;
  FILE *memory = open_memstream(&text, &len);
  assert_non_null(memory);
  tg_trace_tail(&trace, memory);
  fclose(memory);
  assert_memory_equal(text, "+0.000004 line 2\n", strlen("+0.000004 line 2\n"));
  assert_non_null(strstr(text, "line 65\n"));
  free(text);
}

static void the_hash_tells_traces_apart(void **state) {
  (void)state;
  static struct tg_trace a;
  static struct tg_trace b;
  tg_trace_init(&a, &sim, NULL);
  tg_trace_init(&b, &sim, NULL);
  tg_trace_line(&a, "one");
  tg_trace_line(&b, "one");
  assert_true(a.hash == b.hash);
  sim.now_ns += 1000;
  tg_trace_line(&a, "two");
  sim.now_ns += 1000;
  tg_trace_line(&b, "two");
  assert_true(a.hash != b.hash);
}

static void a_silent_trace_and_none_take_lines(void **state) {
  (void)state;
  static struct tg_trace trace;
  tg_trace_init(&trace, &sim, NULL);
  trace.silent = true;
  tg_trace_line(&trace, "nothing");
  tg_trace_line(NULL, "nothing");
  assert_int_equal(trace.lines, 0);
}

static void a_long_line_is_cut(void **state) {
  (void)state;
  static struct tg_trace trace;
  tg_trace_init(&trace, &sim, NULL);
  tg_trace_line(&trace, "%0500d", 7);
  assert_int_equal(strlen(trace.ring[0]), TG_TRACE_LINE_LEN - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(events_run_in_order_of_time_then_of_posting, setup),
      cmocka_unit_test_setup(each_network_event_runs_at_its_own_time, setup),
      cmocka_unit_test_setup(events_posted_for_now_run_in_the_same_go, setup),
      cmocka_unit_test_setup(driver_events_wait_for_their_turn, setup),
      cmocka_unit_test_setup(a_full_queue_comes_out_sorted, setup),
      cmocka_unit_test_setup(the_trace_keeps_the_last_lines, setup),
      cmocka_unit_test_setup(the_hash_tells_traces_apart, setup),
      cmocka_unit_test_setup(a_silent_trace_and_none_take_lines, setup),
      cmocka_unit_test_setup(a_long_line_is_cut, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

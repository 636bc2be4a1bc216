// The adapter's loop: whose turn it is, and how time passes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/epoll.h>
#include <unistd.h>

#include "harness/kernel/adapter.h"
#include "harness/kernel/testing_kernel.h"

#define MS TG_SIM_NS_PER_MS

// Each thread waits on an epoll of its own for as long as it is told, and notes when it was turned.
struct waiter {
  int epoll_fd;
  int timeout_ms;
  bool idle;  // makes no call at all
  uint32_t turns;
  uint32_t ends_after;  // turns; 0: never
  uint64_t last_ns;
};

struct server {
  uint32_t num_threads;
  struct waiter waiters[2];
  uint32_t checks;
};

static uint32_t threads(void *opaque) {
  const struct server *server = opaque;
  return server->num_threads;
}

static bool turn(void *opaque, uint32_t thread) {
  struct server *server = opaque;
  struct waiter *waiter = &server->waiters[thread];
  waiter->turns++;
  if (!waiter->idle) {
    struct epoll_event event;
    if (waiter->epoll_fd == 0) {
      waiter->epoll_fd = epoll_create1(0);
    }
    assert_int_equal(epoll_wait(waiter->epoll_fd, &event, 1, waiter->timeout_ms), 0);
  }
  waiter->last_ns = tg_kernel_sim(testing_kernel)->now_ns;
  return waiter->turns != waiter->ends_after;
}

static void check(void *opaque, void *context) {
  struct server *server = opaque;
  assert_ptr_equal(context, &server->checks);
  assert_null(tg_kernel_current());
  server->checks++;
}

static const struct tg_adapter adapter = {.threads = threads, .turn = turn, .check = check};

static bool run_for(struct server *server, uint64_t ns) {
  return tg_adapter_run(testing_kernel, &adapter, server, &server->checks, tg_kernel_sim(testing_kernel)->now_ns + ns);
}

static void threads_run_when_their_time_has_come(void **state) {
  (void)state;
  struct server server = {.num_threads = 2, .waiters = {{.timeout_ms = 10}, {.timeout_ms = 25}}};
  // The next time-outs are behind the end.
  assert_false(run_for(&server, 100 * MS));
  assert_int_equal(server.waiters[0].turns, 10);
  assert_int_equal(server.waiters[1].turns, 4);
  assert_int_equal(server.checks, 14);
}

static void time_is_not_passed_for_nothing(void **state) {
  (void)state;
  const struct tg_sim *sim = tg_kernel_sim(testing_kernel);
  struct server server = {.num_threads = 1, .waiters = {{.timeout_ms = -1}}};
  uint64_t start_ns = sim->now_ns;
  assert_false(run_for(&server, 1000 * MS));
  assert_true(sim->now_ns < start_ns + MS);
  // A time-out behind the end is nothing either.
  struct server later = {.num_threads = 1, .waiters = {{.timeout_ms = 5000}}};
  assert_false(run_for(&later, 1000 * MS));
  assert_true(sim->now_ns < start_ns + MS);
}

static void note_time(void *context, uint64_t value) {
  (void)value;
  *(uint64_t *)context = tg_kernel_sim(testing_kernel)->now_ns;
}

static void driver_events_run_at_their_time(void **state) {
  (void)state;
  struct tg_sim *sim = tg_kernel_sim(testing_kernel);
  struct server server = {.num_threads = 1, .waiters = {{.timeout_ms = -1}}};
  uint64_t start_ns = sim->now_ns;
  uint64_t first_ns = 0;
  uint64_t second_ns = 0;
  tg_sim_post(sim, TG_SIM_DRIVER, start_ns + 7 * MS, note_time, &first_ns, 0);
  tg_sim_post(sim, TG_SIM_DRIVER, start_ns + 700 * MS, note_time, &second_ns, 0);
  // What is left is an event, so time goes on to the end.
  assert_true(run_for(&server, 100 * MS));
  assert_int_equal(first_ns, start_ns + 7 * MS);
  assert_int_equal(second_ns, 0);
  assert_int_equal(sim->now_ns, start_ns + 100 * MS);
  assert_false(run_for(&server, 1000 * MS));
  assert_int_equal(second_ns, start_ns + 700 * MS);
}

static void a_thread_that_has_ended_is_left_alone(void **state) {
  (void)state;
  struct server server = {.num_threads = 2, .waiters = {{.timeout_ms = 10, .ends_after = 3}, {.timeout_ms = 10}}};
  assert_false(run_for(&server, 100 * MS));
  assert_false(run_for(&server, 100 * MS));
  assert_int_equal(server.waiters[0].turns, 3);
  assert_in_range(server.waiters[1].turns, 18, 20);
  // Another server's threads are others.
  struct server other = {.num_threads = 1, .waiters = {{.timeout_ms = 10}}};
  assert_false(run_for(&other, 100 * MS));
  assert_int_equal(other.waiters[0].turns, 10);
}

static void a_turn_without_a_call_is_spinning(void **state) {
  (void)state;
  struct server server = {.num_threads = 1, .waiters = {{.idle = true}}};
  assert_false(run_for(&server, 100 * MS));
  testing_expect_breach("P10");
  assert_int_equal(server.waiters[0].turns, 1);
}

static void a_loop_that_never_waits_is_spinning(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  options.spin_calls = 500;
  testing_kernel_restart(&options);
  struct server server = {.num_threads = 1, .waiters = {{.timeout_ms = 0}}};
  assert_false(run_for(&server, 100000 * MS));
  testing_expect_breach("P10");
  assert_in_range(server.waiters[0].turns, 499, 501);
}

static void a_run_without_end_is_ended(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  options.calls_max = 500;
  testing_kernel_restart(&options);
  // Time passes with every turn, so it does not spin.
  struct server server = {.num_threads = 1, .waiters = {{.timeout_ms = 1}}};
  assert_false(run_for(&server, 100000 * MS));
  testing_expect_breach("P10");
  assert_in_range(server.waiters[0].turns, 499, 501);
  testing_kernel_restart(&options);
  struct server shorter = {.num_threads = 1, .waiters = {{.timeout_ms = 1}}};
  assert_false(run_for(&shorter, 400 * MS));
  assert_in_range(shorter.waiters[0].turns, 398, 401);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, testing_kernel_set_up, testing_kernel_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(threads_run_when_their_time_has_come), TEST(time_is_not_passed_for_nothing),
      TEST(driver_events_run_at_their_time),      TEST(a_thread_that_has_ended_is_left_alone),
      TEST(a_turn_without_a_call_is_spinning),    TEST(a_loop_that_never_waits_is_spinning),
      TEST(a_run_without_end_is_ended),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// eventfd, timerfd, clocks, random numbers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "harness/kernel/testing_kernel.h"

static int put(int fd, uint64_t number) {
  return (int)TESTING_INSIDE(write(fd, &number, sizeof(number)));
}

// Returns the number that was read, or 0 for EAGAIN.
static uint64_t get(int fd) {
  uint64_t number = 0;
  ssize_t got = TESTING_INSIDE(read(fd, &number, sizeof(number)));
  if (got < 0) {
    assert_int_equal(errno, EAGAIN);
    return 0;
  }
  assert_int_equal(got, sizeof(number));
  assert_true(number > 0);
  return number;
}

static void an_eventfd_adds_up(void **state) {
  (void)state;
  int fd = TESTING_INSIDE(eventfd(2, EFD_NONBLOCK));
  assert_int_equal(put(fd, 3), 8);
  assert_int_equal(get(fd), 5);
  assert_int_equal(get(fd), 0);
  assert_int_equal(put(fd, UINT64_MAX), -1);
  assert_int_equal(errno, EINVAL);
  assert_int_equal(put(fd, UINT64_MAX - 1), 8);
  assert_int_equal(put(fd, 1), -1);
  assert_int_equal(errno, EAGAIN);
  char small;
  assert_int_equal(TESTING_INSIDE(read(fd, &small, 1)), -1);
  assert_int_equal(errno, EINVAL);
}

static void a_semaphore_gives_one_at_a_time(void **state) {
  (void)state;
  int fd = TESTING_INSIDE(eventfd(2, EFD_NONBLOCK | EFD_SEMAPHORE));
  assert_int_equal(get(fd), 1);
  assert_int_equal(get(fd), 1);
  assert_int_equal(get(fd), 0);
}

static void a_timer_expires_once(void **state) {
  (void)state;
  int fd = TESTING_INSIDE(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
  const struct itimerspec value = {.it_value = {.tv_nsec = 5000000}};
  assert_int_equal(TESTING_INSIDE(timerfd_settime(fd, 0, &value, NULL)), 0);
  assert_int_equal(get(fd), 0);
  struct itimerspec left;
  assert_int_equal(TESTING_INSIDE(timerfd_gettime(fd, &left)), 0);
  assert_in_range(left.it_value.tv_nsec, 4900000, 5000000);
  testing_pass(5 * TG_SIM_NS_PER_MS);
  assert_int_equal(get(fd), 1);
  testing_pass(50 * TG_SIM_NS_PER_MS);
  assert_int_equal(get(fd), 0);
}

static void a_timer_may_be_moved_as_often_as_one_likes(void **state) {
  (void)state;
  int fd = TESTING_INSIDE(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
  const struct itimerspec late = {.it_value = {.tv_sec = 60}};
  const struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
  for (uint32_t i = 0; i < 2 * TG_SIM_EVENTS_MAX; i++) {
    assert_int_equal(TESTING_INSIDE(timerfd_settime(fd, 0, &late, NULL)), 0);
    if (i % 2 == 0) {
      assert_int_equal(TESTING_INSIDE(timerfd_settime(fd, 0, &soon, NULL)), 0);
      testing_pass(TG_SIM_NS_PER_MS);
      assert_int_equal(get(fd), 1);
    }
  }
  testing_pass(59999 * TG_SIM_NS_PER_MS);
  assert_int_equal(get(fd), 0);
  testing_pass(2 * TG_SIM_NS_PER_MS);
  assert_int_equal(get(fd), 1);
}

static void an_interval_counts_what_was_missed(void **state) {
  (void)state;
  int fd = TESTING_INSIDE(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
  const struct itimerspec value = {.it_value = {.tv_nsec = 5000000}, .it_interval = {.tv_nsec = 10000000}};
  assert_int_equal(TESTING_INSIDE(timerfd_settime(fd, 0, &value, NULL)), 0);
  testing_pass(36 * TG_SIM_NS_PER_MS);
  assert_int_equal(get(fd), 4);
  assert_int_equal(get(fd), 0);
  testing_pass(9 * TG_SIM_NS_PER_MS);
  assert_int_equal(get(fd), 1);
  const struct itimerspec off = {0};
  assert_int_equal(TESTING_INSIDE(timerfd_settime(fd, 0, &off, NULL)), 0);
  testing_pass(50 * TG_SIM_NS_PER_MS);
  assert_int_equal(get(fd), 0);
}

static void a_timer_can_be_set_to_a_time_of_day(void **state) {
  (void)state;
  int fd = TESTING_INSIDE(timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK));
  struct itimerspec value = {.it_value = {.tv_sec = TESTING_INSIDE(time(NULL)) + 3}};
  assert_int_equal(TESTING_INSIDE(timerfd_settime(fd, TFD_TIMER_ABSTIME, &value, NULL)), 0);
  testing_pass(2900 * TG_SIM_NS_PER_MS);
  assert_int_equal(get(fd), 0);
  testing_pass(100 * TG_SIM_NS_PER_MS);
  assert_int_equal(get(fd), 1);
}

static void a_timer_wakes_epoll(void **state) {
  (void)state;
  int epoll_fd = TESTING_INSIDE(epoll_create1(0));
  int fd = TESTING_INSIDE(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
  struct epoll_event event = {.events = EPOLLIN};
  assert_int_equal(TESTING_INSIDE(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event)), 0);
  const struct itimerspec value = {.it_value = {.tv_nsec = 5000000}};
  assert_int_equal(TESTING_INSIDE(timerfd_settime(fd, 0, &value, NULL)), 0);
  assert_int_equal(TESTING_INSIDE(epoll_wait(epoll_fd, &event, 1, -1)), 0);
  assert_false(tg_kernel_runnable(testing_kernel, 0));
  testing_pass(5 * TG_SIM_NS_PER_MS);
  assert_true(tg_kernel_runnable(testing_kernel, 0));
  assert_int_equal(TESTING_INSIDE(epoll_wait(epoll_fd, &event, 1, -1)), 1);
}

static uint64_t read_clock(clockid_t clock) {
  struct timespec now;
  assert_int_equal(TESTING_INSIDE(clock_gettime(clock, &now)), 0);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void clocks_show_virtual_time(void **state) {
  (void)state;
  const struct tg_sim *sim = tg_kernel_sim(testing_kernel);
  assert_int_equal(read_clock(CLOCK_MONOTONIC), sim->now_ns);
  assert_int_equal(read_clock(CLOCK_BOOTTIME), sim->now_ns);
  uint64_t wall_ns = read_clock(CLOCK_REALTIME);
  testing_pass(1500 * TG_SIM_NS_PER_MS);
  // And a microsecond for the call.
  assert_int_equal(read_clock(CLOCK_REALTIME), wall_ns + UINT64_C(1500001000));
  assert_int_equal(read_clock(CLOCK_MONOTONIC_COARSE) % 4000000, 0);
  assert_in_range(read_clock(CLOCK_MONOTONIC_COARSE), sim->now_ns - 4000000, sim->now_ns);
  assert_int_equal(TESTING_INSIDE(time(NULL)), 1700000001);
  struct timeval day;
  assert_int_equal(TESTING_INSIDE(gettimeofday(&day, NULL)), 0);
  assert_int_equal(day.tv_sec, 1700000001);
  struct timespec now;
  assert_int_equal(TESTING_INSIDE(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)), -1);
  testing_expect_breach("unmodelled");
}

static void outside_the_clock_is_real(void **state) {
  (void)state;
  // Virtual time is a thousand seconds after the start of the machine, real time is not known to be.
  struct timespec before;
  struct timespec after;
  assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &before), 0);
  testing_pass(UINT64_C(1000000) * TG_SIM_NS_PER_MS);
  assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &after), 0);
  assert_true(after.tv_sec - before.tv_sec < 500);
}

static void random_numbers_are_the_seeds(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  unsigned char first[37];
  unsigned char second[37];
  unsigned char third[37];
  assert_int_equal(TESTING_INSIDE(getrandom(first, sizeof(first), 0)), sizeof(first));
  testing_kernel_restart(&options);
  assert_int_equal(TESTING_INSIDE(syscall(SYS_getrandom, second, sizeof(second), 0)), sizeof(second));
  assert_memory_equal(first, second, sizeof(first));
  assert_int_equal(TESTING_INSIDE(getentropy(third, sizeof(third))), 0);
  assert_memory_not_equal(second, third, sizeof(second));
  options.random_seed = 2;
  testing_kernel_restart(&options);
  assert_int_equal(TESTING_INSIDE(getrandom(third, sizeof(third), 0)), sizeof(third));
  assert_memory_not_equal(first, third, sizeof(first));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, testing_kernel_set_up, testing_kernel_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(an_eventfd_adds_up),
      TEST(a_semaphore_gives_one_at_a_time),
      TEST(a_timer_expires_once),
      TEST(a_timer_may_be_moved_as_often_as_one_likes),
      TEST(an_interval_counts_what_was_missed),
      TEST(a_timer_can_be_set_to_a_time_of_day),
      TEST(a_timer_wakes_epoll),
      TEST(clocks_show_virtual_time),
      TEST(outside_the_clock_is_real),
      TEST(random_numbers_are_the_seeds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// epoll: which events, in which order, level- and edge-triggered, and when a thread waits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/kernel/testing_kernel.h"

static int epoll_fd;
static char bulk[1 << 20];

static int set_up(void **state) {
  int result = testing_kernel_set_up(state);
  epoll_fd = TESTING_INSIDE(epoll_create1(EPOLL_CLOEXEC));
  return result;
}

static int control(int operation, int fd, uint32_t events) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  return TESTING_INSIDE(epoll_ctl(epoll_fd, operation, fd, &event));
}

static void watch(int fd, uint32_t events) {
  assert_int_equal(control(EPOLL_CTL_ADD, fd, events), 0);
}

// Returns how many events there are, without waiting.
static int look(struct epoll_event *events, int max) {
  return TESTING_INSIDE(epoll_wait(epoll_fd, events, max, 0));
}

// Returns the events of the one descriptor that is ready, 0 if none is.
static uint32_t events_of(int fd) {
  struct epoll_event event;
  int num = look(&event, 1);
  if (num == 0) {
    return 0;
  }
  assert_int_equal(num, 1);
  assert_int_equal(event.data.fd, fd);
  return event.events;
}

static int new_event(void) {
  return TESTING_INSIDE(eventfd(0, EFD_NONBLOCK));
}

static void ring(int fd) {
  const uint64_t one = 1;
  assert_int_equal(TESTING_INSIDE(write(fd, &one, sizeof(one))), sizeof(one));
}

static void a_listener_is_readable_with_a_connection(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 8);
  watch(listener, EPOLLIN | EPOLLEXCLUSIVE);
  assert_int_equal(events_of(listener), 0);
  testing_connect(TESTING_PORT);
  assert_int_equal(events_of(listener), EPOLLIN);
  assert_int_equal(events_of(listener), EPOLLIN);
  assert_true(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)) > 0);
  assert_int_equal(events_of(listener), 0);
}

static void level_triggered_reports_while_there_is_something(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  watch(fd, EPOLLIN | EPOLLRDHUP);
  assert_int_equal(events_of(fd), 0);
  testing_say(client, "abc");
  assert_int_equal(events_of(fd), EPOLLIN);
  char in[2];
  assert_int_equal(TESTING_INSIDE(recv(fd, in, sizeof(in), 0)), 2);
  assert_int_equal(events_of(fd), EPOLLIN);
  assert_int_equal(TESTING_INSIDE(recv(fd, in, sizeof(in), 0)), 1);
  assert_int_equal(events_of(fd), 0);
}

static void edge_triggered_reports_arrivals(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  watch(fd, EPOLLIN | EPOLLET);
  testing_say(client, "abc");
  assert_int_equal(events_of(fd), EPOLLIN);
  assert_int_equal(events_of(fd), 0);
  char in[2];
  assert_int_equal(TESTING_INSIDE(recv(fd, in, sizeof(in), 0)), 2);
  assert_int_equal(events_of(fd), 0);
  testing_say(client, "d");
  assert_int_equal(events_of(fd), EPOLLIN);
}

static void edge_triggered_reports_what_is_there_when_added_or_modified(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  testing_say(client, "abc");
  watch(fd, EPOLLIN | EPOLLET);
  assert_int_equal(events_of(fd), EPOLLIN);
  assert_int_equal(events_of(fd), 0);
  assert_int_equal(control(EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLET), 0);
  assert_int_equal(events_of(fd), EPOLLIN);
}

static void edge_triggered_writable_comes_with_room(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  watch(fd, EPOLLOUT | EPOLLET);
  assert_int_equal(events_of(fd), EPOLLOUT);
  while (TESTING_INSIDE(send(fd, bulk, sizeof(bulk), MSG_NOSIGNAL)) > 0) {
    testing_pass(TG_SIM_NS_PER_MS);
  }
  assert_int_equal(errno, EAGAIN);
  assert_int_equal(events_of(fd), 0);
  for (int i = 0; i < 100; i++) {
    while (tg_tcp_recv(client, bulk, sizeof(bulk), false) > 0) {
    }
    testing_pass(TG_SIM_NS_PER_MS);
  }
  assert_int_equal(events_of(fd), EPOLLOUT);
  assert_int_equal(events_of(fd), 0);
}

static void a_oneshot_reports_once(void **state) {
  (void)state;
  int fd = new_event();
  watch(fd, EPOLLIN | EPOLLONESHOT);
  ring(fd);
  assert_int_equal(events_of(fd), EPOLLIN);
  assert_int_equal(events_of(fd), 0);
  assert_int_equal(tg_kernel_watched(testing_kernel, fd), 0);
  ring(fd);
  assert_int_equal(events_of(fd), 0);
  assert_int_equal(control(EPOLL_CTL_MOD, fd, EPOLLIN), 0);
  assert_int_equal(tg_kernel_watched(testing_kernel, fd), EPOLLIN | EPOLLERR | EPOLLHUP);
  assert_int_equal(events_of(fd), EPOLLIN);
}

static void the_peers_end_is_rdhup(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  watch(fd, EPOLLRDHUP);
  testing_say(client, "abc");
  assert_int_equal(events_of(fd), 0);
  tg_tcp_shutdown_write(client);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_int_equal(events_of(fd), EPOLLRDHUP);
  assert_int_equal(control(EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP), 0);
  assert_int_equal(events_of(fd), EPOLLIN | EPOLLOUT | EPOLLRDHUP);
}

static void both_ends_are_hup(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  watch(fd, 0);
  assert_int_equal(TESTING_INSIDE(shutdown(fd, SHUT_WR)), 0);
  assert_int_equal(events_of(fd), 0);
  tg_tcp_shutdown_write(client);
  testing_pass(TG_SIM_NS_PER_MS);
  // Whether asked for or not.
  assert_int_equal(events_of(fd), EPOLLHUP);
}

static void a_reset_is_err_until_it_is_taken(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
  tg_tcp_reset(client);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_int_equal(events_of(fd), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP | EPOLLERR);
  char byte;
  assert_int_equal(TESTING_INSIDE(recv(fd, &byte, 1, 0)), -1);
  assert_int_equal(events_of(fd), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP);
}

static void ready_is_reported_first_come_first_served(void **state) {
  (void)state;
  int fds[3];
  for (size_t i = 0; i < 3; i++) {
    fds[i] = new_event();
    watch(fds[i], EPOLLIN);
  }
  ring(fds[2]);
  ring(fds[0]);
  ring(fds[1]);
  struct epoll_event events[3];
  // Two of three; those that were reported go behind the third.
  assert_int_equal(look(events, 2), 2);
  assert_int_equal(events[0].data.fd, fds[2]);
  assert_int_equal(events[1].data.fd, fds[0]);
  assert_int_equal(look(events, 3), 3);
  assert_int_equal(events[0].data.fd, fds[1]);
  assert_int_equal(events[1].data.fd, fds[2]);
  assert_int_equal(events[2].data.fd, fds[0]);
}

static void a_closed_descriptor_is_forgotten(void **state) {
  (void)state;
  int fd = new_event();
  watch(fd, EPOLLIN);
  ring(fd);
  assert_int_equal(TESTING_INSIDE(close(fd)), 0);
  struct epoll_event event;
  assert_int_equal(look(&event, 1), 0);
  int again = new_event();
  assert_int_equal(again, fd);
  ring(again);
  assert_int_equal(look(&event, 1), 0);
  assert_int_equal(tg_kernel_watched(testing_kernel, again), 0);
}

static void control_refuses_what_linux_refuses(void **state) {
  (void)state;
  int fd = new_event();
  assert_int_equal(control(EPOLL_CTL_MOD, fd, EPOLLIN), -1);
  assert_int_equal(errno, ENOENT);
  assert_int_equal(control(EPOLL_CTL_DEL, fd, 0), -1);
  assert_int_equal(errno, ENOENT);
  watch(fd, EPOLLIN);
  assert_int_equal(control(EPOLL_CTL_ADD, fd, EPOLLIN), -1);
  assert_int_equal(errno, EEXIST);
  assert_int_equal(control(EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLEXCLUSIVE), -1);
  assert_int_equal(errno, EINVAL);
  assert_int_equal(control(EPOLL_CTL_DEL, fd, 0), 0);
  assert_int_equal(control(EPOLL_CTL_ADD, epoll_fd, EPOLLIN), -1);
  assert_int_equal(errno, EINVAL);
  struct epoll_event event;
  assert_int_equal(look(&event, 0), -1);
  assert_int_equal(errno, EINVAL);
  assert_int_equal(TESTING_INSIDE(epoll_wait(fd, &event, 1, 0)), -1);
  assert_int_equal(errno, EINVAL);
  int other = TESTING_INSIDE(epoll_create1(0));
  assert_int_equal(control(EPOLL_CTL_ADD, other, EPOLLIN), -1);
  testing_expect_breach("unmodelled");
}

static void a_thread_waits_until_its_time(void **state) {
  (void)state;
  struct epoll_event event;
  const struct tg_sim *sim = tg_kernel_sim(testing_kernel);
  assert_true(tg_kernel_runnable(testing_kernel, 0));
  assert_int_equal(look(&event, 1), 0);
  assert_true(tg_kernel_runnable(testing_kernel, 0));
  assert_int_equal(TESTING_INSIDE(epoll_wait(epoll_fd, &event, 1, 10)), 0);
  assert_false(tg_kernel_runnable(testing_kernel, 0));
  assert_true(tg_kernel_runnable(testing_kernel, 1));
  assert_int_equal(tg_kernel_wakes_at(testing_kernel, 0), sim->now_ns + 10 * TG_SIM_NS_PER_MS);
  testing_pass(10 * TG_SIM_NS_PER_MS - 1);
  assert_false(tg_kernel_runnable(testing_kernel, 0));
  testing_pass(1);
  assert_true(tg_kernel_runnable(testing_kernel, 0));
}

static void a_thread_waits_until_an_event(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  watch(fd, EPOLLIN);
  struct epoll_event event;
  assert_int_equal(TESTING_INSIDE(epoll_wait(epoll_fd, &event, 1, -1)), 0);
  assert_true(tg_kernel_wakes_at(testing_kernel, 0) == TG_SIM_NEVER);
  assert_false(tg_kernel_runnable(testing_kernel, 0));
  testing_say(client, "x");
  assert_true(tg_kernel_runnable(testing_kernel, 0));
  const uint64_t wakeups = tg_kernel_wakeups(testing_kernel);
  assert_int_equal(events_of(fd), EPOLLIN);
  assert_int_equal(tg_kernel_wakeups(testing_kernel), wakeups + 1);
  // It did not wait.
  assert_int_equal(events_of(fd), EPOLLIN);
  assert_int_equal(tg_kernel_wakeups(testing_kernel), wakeups + 1);
}

// Two threads, each with an epoll, watch one listener and wait.
static void two_threads_wait(uint32_t flags) {
  int listener = testing_listen(TESTING_PORT, 8);
  for (uint32_t thread = 0; thread < 2; thread++) {
    struct epoll_event event = {.events = EPOLLIN | flags};
    tg_kernel_enter(testing_kernel, thread);
    int fd = epoll_create1(0);
    assert_int_equal(epoll_ctl(fd, EPOLL_CTL_ADD, listener, &event), 0);
    assert_int_equal(epoll_wait(fd, &event, 1, -1), 0);
    tg_kernel_leave(testing_kernel);
    assert_false(tg_kernel_runnable(testing_kernel, thread));
  }
}

static void an_exclusive_watcher_is_woken_alone(void **state) {
  (void)state;
  two_threads_wait(EPOLLEXCLUSIVE);
  testing_connect(TESTING_PORT);
  assert_true(tg_kernel_runnable(testing_kernel, 0));
  assert_false(tg_kernel_runnable(testing_kernel, 1));
  // The first has not run yet, so the next is another's.
  testing_connect(TESTING_PORT);
  assert_true(tg_kernel_runnable(testing_kernel, 1));
}

static void watchers_are_all_woken(void **state) {
  (void)state;
  two_threads_wait(0);
  testing_connect(TESTING_PORT);
  assert_true(tg_kernel_runnable(testing_kernel, 0));
  assert_true(tg_kernel_runnable(testing_kernel, 1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, testing_kernel_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_listener_is_readable_with_a_connection),
      TEST(level_triggered_reports_while_there_is_something),
      TEST(edge_triggered_reports_arrivals),
      TEST(edge_triggered_reports_what_is_there_when_added_or_modified),
      TEST(edge_triggered_writable_comes_with_room),
      TEST(a_oneshot_reports_once),
      TEST(the_peers_end_is_rdhup),
      TEST(both_ends_are_hup),
      TEST(a_reset_is_err_until_it_is_taken),
      TEST(ready_is_reported_first_come_first_served),
      TEST(a_closed_descriptor_is_forgotten),
      TEST(control_refuses_what_linux_refuses),
      TEST(a_thread_waits_until_its_time),
      TEST(a_thread_waits_until_an_event),
      TEST(an_exclusive_watcher_is_woken_alone),
      TEST(watchers_are_all_woken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Calls that are made to fail, and what ends a run: spinning, calls that are not modelled.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "harness/kernel/testing_kernel.h"

static void inject(enum tg_call call, uint32_t skip, uint32_t times, int error) {
  const struct tg_injection injection = {.call = call, .skip = skip, .times = times, .error = error};
  assert_true(tg_kernel_inject(testing_kernel, &injection));
}

static void skip_and_times_say_which(void **state) {
  (void)state;
  int fd = TESTING_INSIDE(eventfd(0, EFD_NONBLOCK));
  inject(TG_CALL_EVENT_WRITE, 1, 2, ENOSPC);
  const uint64_t one = 1;
  for (int i = 0; i < 5; i++) {
    errno = 0;
    ssize_t put = TESTING_INSIDE(write(fd, &one, sizeof(one)));
    bool hit = i == 1 || i == 2;
    assert_int_equal(put, hit ? -1 : 8);
    assert_int_equal(errno, hit ? ENOSPC : 0);
    assert_int_equal(tg_kernel_was_hit(testing_kernel, TG_CALL_EVENT_WRITE), i >= 1);
  }
  assert_int_equal(tg_kernel_calls(testing_kernel, TG_CALL_EVENT_WRITE), 5);
}

static void times_0_is_all_that_follow(void **state) {
  (void)state;
  int fd;
  testing_pair(&fd);
  inject(TG_CALL_SETSOCKOPT, 0, 0, ENOPROTOOPT);
  const int on = 1;
  for (int i = 0; i < 20; i++) {
    assert_int_equal(TESTING_INSIDE(setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on))), -1);
    assert_int_equal(errno, ENOPROTOOPT);
  }
  tg_kernel_clear_injections(testing_kernel);
  assert_int_equal(TESTING_INSIDE(setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on))), 0);
}

static void reads_and_writes_fall_short(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  testing_say(client, "abcdef");
  const struct tg_injection short_read = {.call = TG_CALL_RECV, .times = 1, .limit = 2};
  const struct tg_injection short_send = {.call = TG_CALL_SEND, .times = 1, .limit = 3};
  assert_true(tg_kernel_inject(testing_kernel, &short_read));
  assert_true(tg_kernel_inject(testing_kernel, &short_send));
  char in[16];
  assert_int_equal(TESTING_INSIDE(recv(fd, in, sizeof(in), 0)), 2);
  assert_int_equal(TESTING_INSIDE(recv(fd, in, sizeof(in), 0)), 4);
  assert_int_equal(TESTING_INSIDE(send(fd, "abcdef", 6, MSG_NOSIGNAL)), 3);
  assert_int_equal(TESTING_INSIDE(send(fd, "def", 3, MSG_NOSIGNAL)), 3);
}

static void an_injected_failure_does_nothing_else(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 8);
  testing_connect(TESTING_PORT);
  inject(TG_CALL_ACCEPT, 0, 1, ECONNABORTED);
  assert_int_equal(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)), -1);
  assert_int_equal(errno, ECONNABORTED);
  assert_true(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)) > 0);
}

static void a_close_that_fails_has_closed(void **state) {
  (void)state;
  int fd = TESTING_INSIDE(eventfd(0, EFD_NONBLOCK));
  inject(TG_CALL_CLOSE, 0, 1, EINTR);
  assert_int_equal(TESTING_INSIDE(close(fd)), -1);
  assert_int_equal(errno, EINTR);
  assert_int_equal(tg_kernel_open_fds(testing_kernel), 0);
}

static void an_injected_epipe_raises_sigpipe(void **state) {
  (void)state;
  int fd;
  testing_pair(&fd);
  inject(TG_CALL_SEND, 0, 0, EPIPE);
  assert_int_equal(TESTING_INSIDE(send(fd, "x", 1, MSG_NOSIGNAL)), -1);
  assert_int_equal(errno, EPIPE);
  assert_int_equal(TESTING_INSIDE(send(fd, "x", 1, 0)), -1);
  testing_expect_breach("SIGPIPE");
}

static void an_interrupted_wait_does_not_wait(void **state) {
  (void)state;
  int fd = TESTING_INSIDE(epoll_create1(0));
  inject(TG_CALL_EPOLL_WAIT, 0, 1, EINTR);
  struct epoll_event event;
  assert_int_equal(TESTING_INSIDE(epoll_wait(fd, &event, 1, -1)), -1);
  assert_int_equal(errno, EINTR);
  assert_true(tg_kernel_runnable(testing_kernel, 0));
}

static void there_is_a_limit_to_injections(void **state) {
  (void)state;
  for (uint32_t i = 0; i < TG_INJECTIONS_MAX; i++) {
    inject(TG_CALL_RECV, i, 1, EAGAIN);
  }
  const struct tg_injection one_more = {.call = TG_CALL_RECV, .error = EAGAIN};
  assert_false(tg_kernel_inject(testing_kernel, &one_more));
}

static void every_call_has_a_name(void **state) {
  (void)state;
  for (int call = 0; call < TG_CALL_COUNT; call++) {
    assert_true(strlen(tg_call_name((enum tg_call)call)) > 0);
  }
  assert_string_equal(tg_call_name(TG_CALL_ACCEPT), "accept4");
}

static void calls_that_move_nothing_are_spinning(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  options.spin_calls = 1000;
  testing_kernel_restart(&options);
  int fd = TESTING_INSIDE(eventfd(1, EFD_NONBLOCK));
  int epoll_fd = TESTING_INSIDE(epoll_create1(0));
  struct epoll_event event = {.events = EPOLLIN};
  assert_int_equal(TESTING_INSIDE(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event)), 0);
  for (int i = 0; i < 997; i++) {
    assert_int_equal(TESTING_INSIDE(epoll_wait(epoll_fd, &event, 1, -1)), 1);
  }
  assert_int_equal(TESTING_INSIDE(epoll_wait(epoll_fd, &event, 1, -1)), 1);
  testing_expect_breach("P10");
}

static void waiting_is_not_spinning(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  options.spin_calls = 10;
  testing_kernel_restart(&options);
  int epoll_fd = TESTING_INSIDE(epoll_create1(0));
  struct epoll_event event;
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(TESTING_INSIDE(epoll_wait(epoll_fd, &event, 1, 1)), 0);
    testing_pass(TG_SIM_NS_PER_MS);
  }
}

static jmp_buf out_of_the_run;

static void leave_by_jump(void *context, const char *property, const char *text) {
  (void)context;
  assert_string_equal(property, "unmodelled");
  assert_non_null(strstr(text, "()"));
  longjmp(out_of_the_run, 1);
}

static void sleep_inside(void) {
  (void)usleep(1);
}

static void poll_inside(void) {
  struct pollfd none = {.fd = -1};
  (void)poll(&none, 1, 0);
}

static void read_a_file_inside(void) {
  (void)access("/", 0);
}

static void connect_inside(void) {
  struct sockaddr address = {.sa_family = AF_INET};
  (void)connect(1000, &address, sizeof(address));
}

static void call_unknown(void) {
  (void)syscall(1000000L);
}

static void a_call_that_is_not_modelled_ends_the_run(void **state) {
  (void)state;
  void (*const kCalls[])(void) = {sleep_inside, poll_inside, read_a_file_inside, connect_inside, call_unknown};
  tg_kernel_set_breach(testing_kernel, leave_by_jump, NULL);
  for (size_t i = 0; i < sizeof(kCalls) / sizeof(kCalls[0]); i++) {
    volatile bool came_back = true;
    tg_kernel_enter(testing_kernel, 0);
    if (setjmp(out_of_the_run) == 0) {
      kCalls[i]();
      came_back = false;
    }
    tg_kernel_leave(testing_kernel);
    assert_true(came_back);
    assert_null(tg_kernel_current());
  }
  // Outside they are the real ones.
  assert_int_equal(usleep(1), 0);
  assert_int_equal(access("/", 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, testing_kernel_set_up, testing_kernel_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(skip_and_times_say_which),
      TEST(times_0_is_all_that_follow),
      TEST(reads_and_writes_fall_short),
      TEST(an_injected_failure_does_nothing_else),
      TEST(a_close_that_fails_has_closed),
      TEST(an_injected_epipe_raises_sigpipe),
      TEST(an_interrupted_wait_does_not_wait),
      TEST(there_is_a_limit_to_injections),
      TEST(every_call_has_a_name),
      TEST(calls_that_move_nothing_are_spinning),
      TEST(waiting_is_not_spinning),
      TEST(a_call_that_is_not_modelled_ends_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// The calls of the simulated kernel do what the real ones do: epoll, eventfd, timerfd, and random numbers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "harness/kernel/testing_kernel.h"
#include "harness/kernel/testing_linux.h"

#define NOTE_EVENTS(max, fds, num) testing_note_events(__LINE__, epoll_fd, max, fds, num)
#define NOTE_EVENT(fd)             testing_note_events(__LINE__, epoll_fd, 8, &(fd), 1)

static char small;

static void epoll_alone(void) {
  int epoll_fd = epoll_create1(0);
  int fds[3];
  const uint64_t one = 1;
  for (size_t i = 0; i < 3; i++) {
    fds[i] = eventfd(0, EFD_NONBLOCK);
    NOTE(testing_control(epoll_fd, EPOLL_CTL_ADD, fds[i], EPOLLIN));
  }
  NOTE(testing_control(epoll_fd, EPOLL_CTL_ADD, fds[0], EPOLLIN));
  NOTE(testing_control(epoll_fd, EPOLL_CTL_ADD, epoll_fd, EPOLLIN));
  NOTE(testing_control(fds[0], EPOLL_CTL_ADD, fds[1], EPOLLIN));
  NOTE(testing_control(epoll_fd, 9, fds[0], EPOLLIN));
  NOTE(testing_control(epoll_fd, EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLEXCLUSIVE));
  NOTE(epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fds[0], NULL));
  NOTE(epoll_create1(12345));
  struct epoll_event event;
  NOTE(epoll_wait(epoll_fd, &event, 0, 0));
  NOTE(epoll_wait(epoll_fd, &event, -1, 0));
  NOTE(epoll_wait(fds[0], &event, 1, 0));
  NOTE(read(epoll_fd, &small, 1));
  NOTE(write(epoll_fd, &small, 1));
  NOTE_EVENTS(8, fds, 3);
  NOTE(write(fds[2], &one, sizeof(one)));
  NOTE(write(fds[0], &one, sizeof(one)));
  NOTE(write(fds[1], &one, sizeof(one)));
  NOTE_EVENTS(2, fds, 3);
  NOTE_EVENTS(2, fds, 3);
  NOTE_EVENTS(8, fds, 3);
  NOTE(testing_control(epoll_fd, EPOLL_CTL_MOD, fds[1], EPOLLIN | EPOLLET));
  NOTE_EVENTS(8, fds, 3);
  NOTE_EVENTS(8, fds, 3);
  NOTE(write(fds[1], &one, sizeof(one)));
  NOTE_EVENTS(8, fds, 3);
  NOTE(testing_control(epoll_fd, EPOLL_CTL_MOD, fds[2], EPOLLIN | EPOLLOUT | EPOLLONESHOT));
  NOTE_EVENTS(8, fds, 3);
  NOTE_EVENTS(8, fds, 3);
  NOTE(testing_control(epoll_fd, EPOLL_CTL_MOD, fds[2], EPOLLIN));
  NOTE_EVENTS(8, fds, 3);
  NOTE(testing_control(epoll_fd, EPOLL_CTL_DEL, fds[0], 0));
  NOTE(testing_control(epoll_fd, EPOLL_CTL_DEL, fds[0], 0));
  NOTE(testing_control(epoll_fd, EPOLL_CTL_MOD, fds[0], EPOLLIN));
  NOTE(testing_control(epoll_fd, EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT));
  NOTE(testing_control(epoll_fd, EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLEXCLUSIVE));
  NOTE(testing_control(epoll_fd, EPOLL_CTL_MOD, fds[0], EPOLLIN));
  NOTE_EVENTS(8, fds, 3);
  int fd = testing_new_socket();
  NOTE(testing_control(epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP));
  NOTE(close(fds[0]));
  NOTE(close(fds[1]));
  NOTE(close(fds[2]));
  NOTE_EVENT(fd);
  NOTE(close(fd));
  NOTE_EVENT(fd);
  NOTE(close(epoll_fd));
}

static void events_and_timers(void) {
  uint64_t number = 0;
  int fd = eventfd(3, EFD_NONBLOCK);
  NOTE(read(fd, &number, sizeof(number)));
  NOTE(number);
  NOTE(read(fd, &number, sizeof(number)));
  NOTE(read(fd, &small, 1));
  NOTE(write(fd, &small, 1));
  number = UINT64_MAX;
  NOTE(write(fd, &number, sizeof(number)));
  number--;
  NOTE(write(fd, &number, sizeof(number)));
  number = 1;
  NOTE(write(fd, &number, sizeof(number)));
  NOTE(close(fd));
  NOTE(eventfd(0, 12345));
  NOTE(timerfd_create(17, 0));
  NOTE(timerfd_create(CLOCK_MONOTONIC, 12345));
  fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  int event = eventfd(0, EFD_NONBLOCK);
  struct itimerspec value = {.it_value = {.tv_nsec = 1000000000}};
  NOTE(timerfd_settime(fd, 0, &value, NULL));
  value.it_value.tv_nsec = 0;
  value.it_value.tv_sec = 1000;
  NOTE(timerfd_settime(event, 0, &value, NULL));
  NOTE(timerfd_gettime(event, &value));
  NOTE(timerfd_settime(fd, 0, &value, NULL));
  NOTE(read(fd, &number, sizeof(number)));
  NOTE(read(fd, &small, 1));
  NOTE(write(fd, &number, sizeof(number)));
  NOTE(timerfd_gettime(fd, &value));
  NOTE(value.it_value.tv_sec);
  NOTE(value.it_interval.tv_sec);
  value = (struct itimerspec){.it_value = {.tv_sec = 1}};
  NOTE(timerfd_settime(fd, TFD_TIMER_ABSTIME, &value, NULL));
  // It is past, but time must pass for the real one to notice.
  for (int i = 0; i < 1000000 && read(fd, &number, sizeof(number)) != 8; i++) {
  }
  NOTE(number);
  NOTE(timerfd_gettime(fd, &value));
  NOTE(value.it_value.tv_sec);
  NOTE(close(fd));
  NOTE(close(event));
  char bytes[300];
  NOTE(getrandom(bytes, 12, 0));
  NOTE(getrandom(bytes, 12, 0x100));
  NOTE(getentropy(bytes, 256));
  NOTE(getentropy(bytes, 257));
}

static void epoll_does_what_linux_does(void **state) {
  (void)state;
  testing_compare(epoll_alone);
}

static void events_and_timers_do_what_linux_does(void **state) {
  (void)state;
  testing_compare(events_and_timers);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, testing_kernel_set_up, testing_kernel_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(epoll_does_what_linux_does), TEST(events_and_timers_do_what_linux_does)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

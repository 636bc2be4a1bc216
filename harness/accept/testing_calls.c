#include "harness/accept/testing_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

struct testing_calls testing_calls = {.allocations_left = -1};

void testing_calls_reset(void) {
  memset(&testing_calls, 0, sizeof(testing_calls));
  testing_calls.allocations_left = -1;
}

static bool is_ours(int fd) {
  return fd >= 0 && fd < TESTING_CALLS_MAX_FDS && testing_calls.accepted[fd];
}

int __real_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags) {
  testing_calls.accept4++;
  if (testing_calls.accept4_failures > 0) {
    testing_calls.accept4_failures--;
    errno = testing_calls.accept4_error;
    return -1;
  }
  int accepted = __real_accept4(fd, address, len, flags);
  if (accepted >= 0 && accepted < TESTING_CALLS_MAX_FDS) {
    testing_calls.accepted[accepted] = true;
  }
  return accepted;
}

static bool io_fails(void) {
  if (testing_calls.io_every == 0 || ++testing_calls.io_calls % testing_calls.io_every != 0) {
    return false;
  }
  errno = testing_calls.io_error;
  return true;
}

ssize_t __real_recv(int fd, void *out, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *out, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *out, size_t len, int flags) {
  if (!is_ours(fd)) {
    return __real_recv(fd, out, len, flags);
  }
  testing_calls.recv++;
  ssize_t got = io_fails() ? -1 : __real_recv(fd, out, len, flags);
  testing_calls.empty_recv += got < 0;
  return got;
}

ssize_t __real_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags) {
  if (!is_ours(fd)) {
    return __real_send(fd, data, len, flags);
  }
  testing_calls.send++;
  assert_int_equal(flags & MSG_NOSIGNAL, MSG_NOSIGNAL);
  return io_fails() ? -1 : __real_send(fd, data, len, flags);
}

int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len) {
  if (!is_ours(fd)) {
    return __real_setsockopt(fd, level, name, value, len);
  }
  testing_calls.setsockopt++;
  assert_int_equal(level, IPPROTO_TCP);
  assert_int_equal(name, TCP_QUICKACK);
  assert_int_equal(*(const int *)value % 2, 1);
  if (testing_calls.setsockopt_error != 0) {
    errno = testing_calls.setsockopt_error;
    return -1;
  }
  return __real_setsockopt(fd, level, name, value, len);
}

int __real_epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event) {
  if (is_ours(fd)) {
    testing_calls.epoll_ctl++;
    if (testing_calls.epoll_ctl_error != 0) {
      errno = testing_calls.epoll_ctl_error;
      return -1;
    }
  }
  return __real_epoll_ctl(epoll_fd, operation, fd, event);
}

int __real_shutdown(int fd, int how);
int __wrap_shutdown(int fd, int how);
int __wrap_shutdown(int fd, int how) {
  testing_calls.shutdown += is_ours(fd);
  return __real_shutdown(fd, how);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
  if (is_ours(fd)) {
    testing_calls.close++;
    testing_calls.accepted[fd] = false;
  }
  return __real_close(fd);
}

static bool allocation_fails(void) {
  if (testing_calls.allocations_left < 0) {
    return false;
  }
  if (testing_calls.allocations_left == 0) {
    return true;
  }
  testing_calls.allocations_left--;
  return false;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) {
  return allocation_fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
  return allocation_fails() ? NULL : __real_calloc(count, size);
}

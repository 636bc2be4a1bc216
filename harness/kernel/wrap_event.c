// epoll, eventfd, timerfd, the clocks and random numbers.
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "harness/kernel/sys.h"
#include "harness/kernel/trap.h"
#include "harness/kernel/wrap.h"

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

TG_WRAP(int, epoll_create, (int size), (size), size <= 0 ? -EINVAL : tg_sys_epoll_create(kernel, 0))
TG_WRAP(int, epoll_create1, (int flags), (flags), tg_sys_epoll_create(kernel, flags))
TG_WRAP(int, epoll_ctl, (int epoll_fd, int operation, int fd, struct epoll_event *event),
        (epoll_fd, operation, fd, event), tg_sys_epoll_ctl(kernel, epoll_fd, operation, fd, event))
TG_WRAP(int, epoll_wait, (int epoll_fd, struct epoll_event *events, int max_events, int timeout_ms),
        (epoll_fd, events, max_events, timeout_ms),
        tg_sys_epoll_wait(kernel, epoll_fd, events, max_events, timeout_ms < 0 ? -1 : timeout_ms * NS_PER_MS))
// No signal arrives in a run, so the mask changes nothing.
TG_WRAP(int, epoll_pwait,
        (int epoll_fd, struct epoll_event *events, int max_events, int timeout_ms, const sigset_t *mask),
        (epoll_fd, events, max_events, timeout_ms, mask),
        tg_sys_epoll_wait(kernel, epoll_fd, events, max_events, timeout_ms < 0 ? -1 : timeout_ms * NS_PER_MS))

static int64_t timeout_ns(const struct timespec *timeout) {
  if (timeout == NULL || timeout->tv_sec >= INT64_MAX / NS_PER_S) {
    return -1;
  }
  return timeout->tv_sec * NS_PER_S + timeout->tv_nsec;
}

TG_WRAP(int, epoll_pwait2,
        (int epoll_fd, struct epoll_event *events, int max_events, const struct timespec *timeout,
         const sigset_t *mask),
        (epoll_fd, events, max_events, timeout, mask),
        tg_sys_epoll_wait(kernel, epoll_fd, events, max_events, timeout_ns(timeout)))

TG_WRAP(int, eventfd, (unsigned initial, int flags), (initial, flags), tg_sys_eventfd(kernel, initial, flags))

// The C library's own pair: read and write of a number.
static long read_value(struct tg_kernel *kernel, int fd, eventfd_t *value) {
  long result = tg_sys_read(kernel, fd, value, sizeof(*value));
  return result > 0 ? 0 : result;
}

static long write_value(struct tg_kernel *kernel, int fd, eventfd_t value) {
  long result = tg_sys_write(kernel, fd, &value, sizeof(value));
  return result > 0 ? 0 : result;
}

TG_WRAP(int, eventfd_read, (int fd, eventfd_t *value), (fd, value), read_value(kernel, fd, value))
TG_WRAP(int, eventfd_write, (int fd, eventfd_t value), (fd, value), write_value(kernel, fd, value))

TG_WRAP(int, timerfd_create, (int clock, int flags), (clock, flags), tg_sys_timerfd_create(kernel, clock, flags))
TG_WRAP(int, timerfd_settime, (int fd, int flags, const struct itimerspec *new_value, struct itimerspec *old_value),
        (fd, flags, new_value, old_value), tg_sys_timerfd_settime(kernel, fd, flags, new_value, old_value))
TG_WRAP(int, timerfd_gettime, (int fd, struct itimerspec *value), (fd, value),
        tg_sys_timerfd_gettime(kernel, fd, value))

TG_WRAP(int, clock_gettime, (clockid_t clock, struct timespec *out), (clock, out),
        tg_sys_clock_gettime(kernel, clock, out))

static long time_of_day(struct tg_kernel *kernel, struct timeval *out) {
  struct timespec now;
  long result = tg_sys_clock_gettime(kernel, CLOCK_REALTIME, &now);
  if (result == 0 && out != NULL) {
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  }
  return result;
}

static long seconds(struct tg_kernel *kernel, time_t *out) {
  struct timespec now;
  long result = tg_sys_clock_gettime(kernel, CLOCK_REALTIME_COARSE, &now);
  if (result != 0) {
    return result;
  }
  if (out != NULL) {
    *out = now.tv_sec;
  }
  return now.tv_sec;
}

TG_WRAP(int, gettimeofday, (struct timeval * out, void *zone), (out, zone), time_of_day(kernel, out))
TG_WRAP(time_t, time, (time_t * out), (out), seconds(kernel, out))

TG_WRAP(ssize_t, getrandom, (void *out, size_t len, unsigned flags), (out, len, flags),
        tg_sys_getrandom(kernel, out, len, flags))

static long entropy(struct tg_kernel *kernel, void *out, size_t len) {
  if (len > 256) {
    return -EIO;
  }
  long result = tg_sys_getrandom(kernel, out, len, 0);
  return result < 0 ? result : 0;
}

TG_WRAP(int, getentropy, (void *out, size_t len), (out, len), entropy(kernel, out, len))

// BoringSSL calls getrandom so.
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
TG_PLAIN long __wrap_syscall(long number, ...) {
  va_list args;
  va_start(args, number);
  long values[6];
  for (size_t i = 0; i < 6; i++) {
    values[i] = va_arg(args, long);
  }
  va_end(args);
  struct tg_kernel *kernel = tg_trap();
  if (kernel == NULL) {
    return __real_syscall(number, values[0], values[1], values[2], values[3], values[4], values[5]);
  }
  if (number != SYS_getrandom) {
    tg_refuse(kernel, "syscall");
  }
  return tg_trap_return(kernel, tg_sys_getrandom(kernel, (void *)values[0], (size_t)values[1], (unsigned)values[2]));
}

// timerfd, after fs/timerfd.c: an interval timer that has expired starts again when it is read.
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "harness/kernel/state.h"
#include "harness/kernel/sys.h"

#define NS_PER_S UINT64_C(1000000000)

long tg_sys_timerfd_create(struct tg_kernel *kernel, int clock, int flags) {
  long result = -tg_call_begin(kernel, TG_CALL_TIMERFD, NULL);
  bool known = clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME;
  if (result == 0 && ((flags & ~(TFD_CLOEXEC | TFD_NONBLOCK)) != 0 || !known)) {
    result = -EINVAL;
  }
  if (result == 0) {
    struct tg_file *file =
        tg_file_open(kernel, TG_FILE_TIMERFD, (flags & TFD_NONBLOCK) != 0, (flags & TFD_CLOEXEC) != 0);
    result = -EMFILE;
    if (file != NULL) {
      file->timerfd = (struct tg_timerfd){.clock = clock, .first_ns = TG_SIM_NEVER, .number = ++kernel->timers_made};
      result = file->fd;
    }
  }
  return tg_call_end(kernel, result, "timerfd_create(%d, %#x)", clock, (unsigned)flags);
}

static void expire(void *context, uint64_t number);

// Sees to it that an event comes when the timer expires: one that comes earlier will do, it posts the next.
static void post(struct tg_kernel *kernel, struct tg_timerfd *timer) {
  bool covered = timer->num_posted > 0 && timer->posted_ns[timer->num_posted - 1] <= timer->first_ns;
  if (timer->first_ns == TG_SIM_NEVER || timer->expired || covered) {
    return;
  }
  tg_sim_post(&kernel->sim, TG_SIM_NETWORK, timer->first_ns, expire, kernel, timer->number);
  if (timer->num_posted < TG_TIMER_EVENTS) {
    timer->posted_ns[timer->num_posted++] = timer->first_ns;
  }
}

// timerfd_tmrproc.
static void expire(void *context, uint64_t number) {
  struct tg_kernel *kernel = context;
  for (uint32_t i = 0; i < kernel->files_used; i++) {
    struct tg_file *file = &kernel->files[i];
    if (file->kind != TG_FILE_TIMERFD || file->timerfd.number != number) {
      continue;
    }
    struct tg_timerfd *timer = &file->timerfd;
    while (timer->num_posted > 0 && timer->posted_ns[timer->num_posted - 1] <= kernel->sim.now_ns) {
      timer->num_posted--;
    }
    if (timer->first_ns <= kernel->sim.now_ns && !timer->expired) {
      timer->expired = true;
      tg_file_wake(kernel, file, EPOLLIN);
    }
    post(kernel, timer);
    return;
  }
}

static void arm(struct tg_kernel *kernel, struct tg_timerfd *timer, uint64_t first_ns) {
  timer->first_ns = first_ns;
  post(kernel, timer);
}

uint64_t tg_timerfd_take(struct tg_kernel *kernel, struct tg_timerfd *timer) {
  if (!timer->expired) {
    return 0;
  }
  timer->expired = false;
  if (timer->interval_ns == 0) {
    timer->first_ns = TG_SIM_NEVER;
    return 1;
  }
  // hrtimer_forward_now.
  uint64_t times = (kernel->sim.now_ns - timer->first_ns) / timer->interval_ns + 1;
  arm(kernel, timer, timer->first_ns + times * timer->interval_ns);
  return times;
}

static bool valid(const struct timespec *time) {
  return time->tv_sec >= 0 && time->tv_nsec >= 0 && (uint64_t)time->tv_nsec < NS_PER_S;
}

static uint64_t to_ns(const struct timespec *time) {
  // timespec64_to_ktime: what does not fit is as late as can be.
  if ((uint64_t)time->tv_sec >= INT64_MAX / NS_PER_S) {
    return INT64_MAX;
  }
  return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

static struct timespec to_timespec(uint64_t ns) {
  return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

static void read_value(const struct tg_kernel *kernel, const struct tg_timerfd *timer, struct itimerspec *out) {
  uint64_t now_ns = kernel->sim.now_ns;
  uint64_t first_ns = timer->first_ns;
  if (first_ns != TG_SIM_NEVER && first_ns <= now_ns && timer->interval_ns > 0) {
    first_ns += ((now_ns - first_ns) / timer->interval_ns + 1) * timer->interval_ns;
  }
  bool armed = first_ns != TG_SIM_NEVER && first_ns > now_ns;
  out->it_value = to_timespec(armed ? first_ns - now_ns : 0);
  out->it_interval = to_timespec(timer->interval_ns);
}

static struct tg_file *timer_at(struct tg_kernel *kernel, int fd, const char *call, long *out_error) {
  struct tg_file *file = tg_file_get(kernel, fd, call);
  *out_error = file == NULL ? -EBADF : file->kind != TG_FILE_TIMERFD ? -EINVAL : 0;
  return *out_error == 0 ? file : NULL;
}

static long set_time(struct tg_kernel *kernel, int fd, int flags, const struct itimerspec *wanted,
                     struct itimerspec *old) {
  if (wanted == NULL) {
    return -EFAULT;
  }
  if (!valid(&wanted->it_value) || !valid(&wanted->it_interval)) {
    return -EINVAL;
  }
  if ((flags & ~TFD_TIMER_ABSTIME) != 0) {
    tg_breach(kernel, "unmodelled", "timerfd_settime(%d, flags %#x)", fd, (unsigned)flags);
    return -EINVAL;
  }
  long error;
  struct tg_file *file = timer_at(kernel, fd, "timerfd_settime", &error);
  if (file == NULL) {
    return error;
  }
  struct tg_timerfd *timer = &file->timerfd;
  if (old != NULL) {
    read_value(kernel, timer, old);
  }
  uint64_t now_ns = kernel->sim.now_ns;
  uint64_t value_ns = to_ns(&wanted->it_value);
  timer->expired = false;
  timer->interval_ns = to_ns(&wanted->it_interval);
  if (value_ns == 0) {
    arm(kernel, timer, TG_SIM_NEVER);
    return 0;
  }
  uint64_t first_ns = now_ns + value_ns;
  if ((flags & TFD_TIMER_ABSTIME) != 0) {
    uint64_t clock_ns = timer->clock == CLOCK_REALTIME ? tg_clock_wall_ns(kernel) : now_ns;
    first_ns = value_ns > clock_ns ? now_ns + (value_ns - clock_ns) : now_ns;
  }
  arm(kernel, timer, first_ns);
  return 0;
}

long tg_sys_timerfd_settime(struct tg_kernel *kernel, int fd, int flags, const struct itimerspec *new_value,
                            struct itimerspec *old_value) {
  int injected = tg_call_begin(kernel, TG_CALL_TIMERFD, NULL);
  long result = injected != 0 ? -injected : set_time(kernel, fd, flags, new_value, old_value);
  return tg_call_end(kernel, result, "timerfd_settime(%d)", fd);
}

long tg_sys_timerfd_gettime(struct tg_kernel *kernel, int fd, struct itimerspec *value) {
  long result = -tg_call_begin(kernel, TG_CALL_TIMERFD, NULL);
  const struct tg_file *file = result != 0 ? NULL : timer_at(kernel, fd, "timerfd_gettime", &result);
  if (file != NULL) {
    if (value == NULL) {
      result = -EFAULT;
    } else {
      read_value(kernel, &file->timerfd, value);
    }
  }
  return tg_call_end(kernel, result, "timerfd_gettime(%d)", fd);
}

// The clocks: all of them are the simulator's.
#include <errno.h>
#include <time.h>

#include "harness/kernel/state.h"
#include "harness/kernel/sys.h"

#define NS_PER_S UINT64_C(1000000000)
// The coarse clocks move with the tick; HZ=250, as on the kernel that was measured (docs/kernel-model.md).
#define TICK_NS UINT64_C(4000000)

uint64_t tg_clock_wall_ns(const struct tg_kernel *kernel) {
  return (uint64_t)kernel->options.wall_s * NS_PER_S + (kernel->sim.now_ns - kernel->options.start_ns);
}

static bool read_clock(const struct tg_kernel *kernel, clockid_t clock, uint64_t *out_ns) {
  switch (clock) {
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
      *out_ns = kernel->sim.now_ns;
      return true;
    case CLOCK_MONOTONIC_COARSE:
      *out_ns = kernel->sim.now_ns / TICK_NS * TICK_NS;
      return true;
    case CLOCK_REALTIME:
      *out_ns = tg_clock_wall_ns(kernel);
      return true;
    case CLOCK_REALTIME_COARSE:
      *out_ns = tg_clock_wall_ns(kernel) / TICK_NS * TICK_NS;
      return true;
    default:
      return false;
  }
}

static long get_time(struct tg_kernel *kernel, clockid_t clock, struct timespec *out) {
  uint64_t ns;
  if (!read_clock(kernel, clock, &ns)) {
    tg_breach(kernel, "unmodelled", "clock_gettime of clock %d", (int)clock);
    return -EINVAL;
  }
  if (out == NULL) {
    return -EFAULT;
  }
  *out = (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
  return 0;
}

static const char *say_clock(clockid_t clock) {
  switch (clock) {
    case CLOCK_MONOTONIC:
      return "MONOTONIC";
    case CLOCK_REALTIME:
      return "REALTIME";
    case CLOCK_REALTIME_COARSE:
      return "REALTIME_COARSE";
    case CLOCK_MONOTONIC_COARSE:
      return "MONOTONIC_COARSE";
    default:
      return "another";
  }
}

long tg_sys_clock_gettime(struct tg_kernel *kernel, clockid_t clock, struct timespec *out) {
  int injected = tg_call_begin(kernel, TG_CALL_CLOCK, NULL);
  long result = injected != 0 ? -injected : get_time(kernel, clock, out);
  return tg_call_end(kernel, result, "clock_gettime(%s)", say_clock(clock));
}

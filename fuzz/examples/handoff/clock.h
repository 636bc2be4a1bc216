// The clock that deadlines are kept by.
#ifndef TLSGATE_FUZZ_EXAMPLES_HANDOFF_CLOCK_H
#define TLSGATE_FUZZ_EXAMPLES_HANDOFF_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)

static inline uint64_t clock_now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

// clock_left_ms returns the time to `until_ns` as epoll_wait takes it: rounded up, so that it does not wake too early.
static inline int clock_left_ms(uint64_t until_ns, uint64_t now_ns) {
  if (until_ns <= now_ns) {
    return 0;
  }
  const uint64_t left_ms = (until_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;
  return left_ms < INT32_MAX ? (int)left_ms : INT32_MAX;
}

#endif

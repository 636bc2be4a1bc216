// The one clock of the accept path.
#ifndef TLSGATE_HARNESS_ACCEPT_CLOCK_H
#define TLSGATE_HARNESS_ACCEPT_CLOCK_H

#include <assert.h>
#include <stdint.h>
#include <time.h>

#define TG_NS_PER_S  UINT64_C(1000000000)
#define TG_NS_PER_MS UINT64_C(1000000)

// tg_clock_now_ns returns CLOCK_MONOTONIC in nanoseconds.
static inline uint64_t tg_clock_now_ns(void) {
  struct timespec now;
  int failed = clock_gettime(CLOCK_MONOTONIC, &now);
  assert(failed == 0);
  (void)failed;
  return (uint64_t)now.tv_sec * TG_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif

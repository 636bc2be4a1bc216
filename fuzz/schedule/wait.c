#include "fuzz/schedule/wait.h"

#include "fuzz/schedule/schedule.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

// 26 values from `unit` to just under ten times as much. `unit` is at least a microsecond, so that no value is rounded.
#define DECADE(unit)                                                                     \
  {(unit), (unit) / 10, 10}, {2 * (unit), (unit) / 4, 8}, {4 * (unit), (unit) / 2, 4}, { \
    6 * (unit), (unit), 4                                                                \
  }

static const struct tg_schedule_wait_run wait_runs[] = {
    DECADE(US),
    DECADE(10 * US),
    DECADE(100 * US),
    DECADE(MS),
    // A decade that is dense around the delayed ACK.
    {10 * MS, MS, 10},
    {20 * MS, 2500 * US, 4},
    {30 * MS, 500 * US, 40},
    {50 * MS, 5 * MS, 2},
    {60 * MS, 10 * MS, 4},
    // One with a value more, just over the least retransmission timeout.
    {100 * MS, 10 * MS, 10},
    {200 * MS, 5 * MS, 2},
    {225 * MS, 25 * MS, 7},
    {400 * MS, 50 * MS, 4},
    {600 * MS, 100 * MS, 4},
    DECADE(S),
    DECADE(10 * S),
    {100 * S, 10 * S, 11},
};

const struct tg_schedule_wait_run *tg_schedule_wait_runs(size_t *count) {
  *count = sizeof(wait_runs) / sizeof(wait_runs[0]);
  return wait_runs;
}

uint64_t tg_schedule_wait_ns(uint8_t wait) {
  if (wait == TG_SCHEDULE_WAIT_NONE) return 0;
  if (wait == TG_SCHEDULE_WAIT_REST) return TG_SCHEDULE_REST;
  const struct tg_schedule_wait_run *run = wait_runs;
  uint8_t left = wait - TG_SCHEDULE_WAIT_MIN;
  while (left >= run->count) {
    left -= run->count;
    run++;
  }
  return run->from + left * run->step;
}

uint8_t tg_schedule_wait_floor(uint64_t ns) {
  uint8_t wait = TG_SCHEDULE_WAIT_NONE;
  while (wait < TG_SCHEDULE_WAIT_MAX && tg_schedule_wait_ns(wait + 1) <= ns) wait++;
  return wait;
}

uint8_t tg_schedule_wait_nearest(uint64_t ns) {
  uint8_t below = tg_schedule_wait_floor(ns);
  if (below == TG_SCHEDULE_WAIT_MAX) return below;
  return ns - tg_schedule_wait_ns(below) <= tg_schedule_wait_ns(below + 1) - ns ? below : below + 1;
}

// The scale of waits: one byte for anything from nothing to 200 s. docs/schedules.md has the table.
//
// The values are round, so that a person writes them as they are: 26 a decade, every half millisecond from 30 ms to
// 50 ms (Linux holds a delayed ACK for 40 ms: TCP_DELACK_MIN, TCP_ATO_MIN), and one just over 200 ms (TCP_RTO_MIN).
#ifndef TLSGATE_FUZZ_SCHEDULE_WAIT_H
#define TLSGATE_FUZZ_SCHEDULE_WAIT_H

#include <stddef.h>
#include <stdint.h>

#define TG_SCHEDULE_WAIT_NONE 0u
#define TG_SCHEDULE_WAIT_MIN  1u    // 1 us
#define TG_SCHEDULE_WAIT_MAX  254u  // 200 s
#define TG_SCHEDULE_WAIT_REST 255u

// A run of values that lie equally far apart: from, from + step, ..., `count` of them.
struct tg_schedule_wait_run {
  uint64_t from;  // ns
  uint64_t step;  // ns
  uint8_t count;
};

// tg_schedule_wait_runs returns the runs that make up the scale from TG_SCHEDULE_WAIT_MIN to TG_SCHEDULE_WAIT_MAX, in
// order, and how many there are.
const struct tg_schedule_wait_run *tg_schedule_wait_runs(size_t *count);

// tg_schedule_wait_floor returns the greatest value of the scale that is not over `ns`; never TG_SCHEDULE_WAIT_REST.
// The value after it, if it is not the last, is the least one over `ns`.
uint8_t tg_schedule_wait_floor(uint64_t ns);

// tg_schedule_wait_nearest returns the value of the scale nearest to `ns`, the lesser of two equally near; never
// TG_SCHEDULE_WAIT_REST.
uint8_t tg_schedule_wait_nearest(uint64_t ns);

#endif

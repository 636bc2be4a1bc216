// The same bytes from the same clients, cut and timed in another way.
#ifndef TLSGATE_FUZZ_WORLD_CANONICAL_H
#define TLSGATE_FUZZ_WORLD_CANONICAL_H

#include <stdbool.h>

#include "fuzz/schedule/schedule.h"

// tg_schedule_retime writes to `out` a schedule in which nothing is cut and every step is done before the next begins,
// or, `at_once`, in which no time passes between steps. Returns false if the schedule has steps whose effect is a
// matter of time by their nature (failures, resets, winding down, ...), so that there is nothing to compare.
bool tg_schedule_retime(const struct tg_schedule *schedule, bool at_once, struct tg_schedule *out);

#endif

// What the three targets that are driven by schedules have in common.
#ifndef TLSGATE_FUZZ_SCHEDULE_TARGET_H
#define TLSGATE_FUZZ_SCHEDULE_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "fuzz/world/world.h"

// tg_schedule_target_run decodes and runs a schedule, and runs it again with other cuts and timing where the outcome
// must be the same (P7).
void tg_schedule_target_run(const uint8_t *data, size_t size, const struct tg_world_options *options);

#endif

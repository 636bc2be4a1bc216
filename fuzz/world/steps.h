// The steps of a schedule, done.
#ifndef TLSGATE_FUZZ_WORLD_STEPS_H
#define TLSGATE_FUZZ_WORLD_STEPS_H

#include "fuzz/schedule/schedule.h"
#include "fuzz/world/world_state.h"

// tg_world_settings_tcp returns what the settings say of links and buffers.
struct tg_tcp_options tg_world_settings_tcp(const struct tg_schedule_settings *settings);
uint64_t tg_world_settings_call_ns(const struct tg_schedule_settings *settings);

// tg_world_step does one step, without its wait.
void tg_world_step(struct tg_world *world, const struct tg_schedule_step *step);

// tg_world_limit_fds lets 8 + `more` descriptors be open; 0: plenty.
void tg_world_limit_fds(struct tg_world *world, uint32_t more);

#endif

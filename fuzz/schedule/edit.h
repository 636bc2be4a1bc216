// Lists of steps that never outgrow their room.
#ifndef TLSGATE_FUZZ_SCHEDULE_EDIT_H
#define TLSGATE_FUZZ_SCHEDULE_EDIT_H

#include <stddef.h>
#include <stdint.h>

#include "fuzz/schedule/schedule.h"

// tg_edit_room returns how many steps an encoding of `max_size` bytes has room for, at most TG_SCHEDULE_STEPS_MAX.
size_t tg_edit_room(size_t max_size);

// tg_edit_insert puts `count` steps before step `at`, or as many of them as there is room for; `steps` is not in
// `schedule`.
void tg_edit_insert(struct tg_schedule *schedule, size_t room, size_t at, const struct tg_schedule_step *steps,
                    size_t count);

void tg_edit_delete(struct tg_schedule *schedule, size_t at, size_t count);

// tg_edit_pick_client copies the steps of one client to `out`, as steps of client `as`, and returns how many.
size_t tg_edit_pick_client(const struct tg_schedule *schedule, uint8_t client, uint8_t as,
                           struct tg_schedule_step *out);

// tg_edit_weave inserts `count` steps in their order, spread over the schedule from step `from` on.
void tg_edit_weave(struct tg_schedule *schedule, size_t room, size_t from, const struct tg_schedule_step *steps,
                   size_t count);

// tg_edit_write encodes into at most `max_size` bytes. Where not even the settings fit, their beginning is written: a
// prefix of a schedule is one too.
size_t tg_edit_write(const struct tg_schedule *schedule, uint8_t *out, size_t max_size);

#endif

// What is in range in a schedule, stated once: decoding, mutation and the text language all fold or check with it.
#ifndef TLSGATE_FUZZ_SCHEDULE_FOLD_H
#define TLSGATE_FUZZ_SCHEDULE_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/schedule/schedule.h"

// tg_schedule_names_client: false for the actions that concern the link, the kernel or the server (wait, delay, inject,
// clear, max_fds, wind_down); their client is always 0.
bool tg_schedule_names_client(uint8_t action);

// tg_schedule_fold_value returns `value` folded into what `action` takes; a value in range stays as it is.
uint16_t tg_schedule_fold_value(uint8_t action, uint16_t value);

// These fold every field that is out of range; what is in range stays as it is.
void tg_schedule_fold_settings(struct tg_schedule_settings *settings);
void tg_schedule_fold_step(struct tg_schedule_step *step);

#endif

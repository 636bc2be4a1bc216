// Random pieces of schedules, drawn where bugs are expected: around the delayed ACK, at edges of sizes, with few bits.
#ifndef TLSGATE_FUZZ_SCHEDULE_DRAW_H
#define TLSGATE_FUZZ_SCHEDULE_DRAW_H

#include "fuzz/schedule/rng.h"
#include "fuzz/schedule/schedule.h"

// tg_draw_wait draws a wait: often nothing, rest, or 36 to 44 ms; sometimes any.
uint8_t tg_draw_wait(struct tg_rng *rng);

// tg_draw_client draws a client, mostly one that the schedule has steps of.
uint8_t tg_draw_client(struct tg_rng *rng, const struct tg_schedule *schedule);

// tg_draw_action draws an action: a connection, a request or an injection more often than others.
uint8_t tg_draw_action(struct tg_rng *rng);

// tg_draw_value draws a value in the range of `action`.
uint16_t tg_draw_value(struct tg_rng *rng, uint8_t action);

// tg_draw_value_near changes a part of a value in the range of `action`: a connect bit, a request's kind or its size,
// an injection's failure, skip or times, or moves a number a little.
uint16_t tg_draw_value_near(struct tg_rng *rng, uint8_t action, uint16_t value);

// tg_draw_step draws a whole step, of any action.
struct tg_schedule_step tg_draw_step(struct tg_rng *rng, const struct tg_schedule *schedule);

// tg_draw_visit draws what one client does from connecting to leaving, as at most TG_DRAW_VISIT_MAX steps, and returns
// how many.
#define TG_DRAW_VISIT_MAX 6u
size_t tg_draw_visit(struct tg_rng *rng, const struct tg_schedule *schedule, struct tg_schedule_step *out);

// tg_draw_setting draws one of the settings anew.
void tg_draw_setting(struct tg_rng *rng, struct tg_schedule_settings *settings);

#endif

// What the tests of this folder share.
#ifndef TLSGATE_FUZZ_SCHEDULE_TESTING_SCHEDULE_H
#define TLSGATE_FUZZ_SCHEDULE_TESTING_SCHEDULE_H

#include <stdbool.h>

#include "fuzz/schedule/rng.h"
#include "fuzz/schedule/schedule.h"

// tg_testing_random_schedule makes a schedule of `num_steps` steps in which every field is in range, edges often.
void tg_testing_random_schedule(struct tg_rng *rng, size_t num_steps, struct tg_schedule *out);

// tg_testing_assert_equal fails the running test, naming the field, unless the two are equal in every field.
void tg_testing_assert_equal(const struct tg_schedule *a, const struct tg_schedule *b);

bool tg_testing_step_equal(const struct tg_schedule_step *a, const struct tg_schedule_step *b);

#endif

// One step in words.
#ifndef TLSGATE_FUZZ_SCHEDULE_EXPLAIN_STEP_H
#define TLSGATE_FUZZ_SCHEDULE_EXPLAIN_STEP_H

#include <stdio.h>

#include "fuzz/schedule/schedule.h"

// tg_explain_step writes what a step in range does, but not what passes after it.
void tg_explain_step(const struct tg_schedule_step *step, FILE *to);

#endif

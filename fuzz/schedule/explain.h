// A schedule in words, for whoever looks at a finding.
#ifndef TLSGATE_FUZZ_SCHEDULE_EXPLAIN_H
#define TLSGATE_FUZZ_SCHEDULE_EXPLAIN_H

#include <stdio.h>

#include "fuzz/schedule/schedule.h"

// tg_schedule_explain writes a schedule in words: its settings, then its steps, numbered, each with the virtual time at
// which it starts at the earliest.
void tg_schedule_explain(const struct tg_schedule *schedule, FILE *to);

#endif

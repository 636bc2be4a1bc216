// The settings of a run in words.
#ifndef TLSGATE_FUZZ_SCHEDULE_EXPLAIN_SETTINGS_H
#define TLSGATE_FUZZ_SCHEDULE_EXPLAIN_SETTINGS_H

#include <stdio.h>

#include "fuzz/schedule/schedule.h"

// tg_explain_settings writes four lines: server, network, buffers, kernel.
void tg_explain_settings(const struct tg_schedule_settings *settings, FILE *to);

#endif

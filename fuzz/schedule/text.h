// Schedules as text that a person writes and reads; docs/schedules.md describes the language.
#ifndef TLSGATE_FUZZ_SCHEDULE_TEXT_H
#define TLSGATE_FUZZ_SCHEDULE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "fuzz/schedule/schedule.h"
#include "harness/base/error.h"

// tg_schedule_assemble reads `len` bytes of text. Returns false with `err` filled in, which begins with "line N: " and
// says what to write instead, at the first line that is not understood.
bool tg_schedule_assemble(const char *text, size_t len, struct tg_schedule *out, struct tg_error *err);

// tg_schedule_disassemble writes the text that assembles to the same schedule, which must be in range.
void tg_schedule_disassemble(const struct tg_schedule *schedule, FILE *to);

#endif

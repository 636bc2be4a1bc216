// Durations as a person writes and reads them: 1.1us, 40ms, 2s.
#ifndef TLSGATE_FUZZ_SCHEDULE_DURATION_H
#define TLSGATE_FUZZ_SCHEDULE_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"

#define TG_DURATION_TEXT_MAX 32

// tg_duration_parse reads all of `text`: a decimal number and ns, us, ms or s, or 0 alone; up to an hour, whole
// nanoseconds. Returns false for anything else.
bool tg_duration_parse(const char *text, uint64_t *ns);

// tg_duration_format writes the shortest such text, with `gap` between number and unit, and returns `out`.
const char *tg_duration_format(uint64_t ns, const char *gap, char out[TG_DURATION_TEXT_MAX]);

// tg_wait_parse reads a duration of the scale, or `rest`. Returns false with `err` filled in, naming the values on
// either side, if it is not of the scale.
bool tg_wait_parse(const char *text, uint8_t *wait, struct tg_error *err);

// tg_wait_format writes what tg_wait_parse reads, and returns `out`.
const char *tg_wait_format(uint8_t wait, char out[TG_DURATION_TEXT_MAX]);

#endif

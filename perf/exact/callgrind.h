// Profiles of callgrind, as valgrind 3.19 writes them with --combine-dumps=yes --compress-strings=no --compress-pos=no
// --dump-line=no --dump-instr=yes (valgrind's manual, "Callgrind Format Specification").
#ifndef TLSGATE_PERF_EXACT_CALLGRIND_H
#define TLSGATE_PERF_EXACT_CALLGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/base/error.h"
#include "harness/kernel/call.h"
#include "perf/exact/code_map.h"

// Instructions executed in one part of a profile.
struct tg_callgrind_sums {
  int64_t by_owner[TG_CODE_OWNERS];  // of the program, TG_CODE_OTHER with all other objects
};

// tg_callgrind_read adds up those parts of a profile that ended when the function `trigger` was called (--dump-before),
// in order. `program` is how the file name of the program ends. Returns false with `err` filled in when it is no such
// profile, when a part does not add up to its own total, or when there are not just `num` parts.
bool tg_callgrind_read(FILE *profile, const char *program, const struct tg_code_map *map, const char *trigger,
                       struct tg_callgrind_sums *out, size_t num, struct tg_error *err);

// One part of a profile, and what ended it.
struct tg_callgrind_part {
  char trigger[96];  // the function before whose call it was cut, without its parameters
  struct tg_callgrind_sums sums;
  int64_t calls[TG_CALL_COUNT];  // of the simulated kernel's system calls (__wrap_NAME)
};

// tg_callgrind_parts reads every part that a trigger ended, in order, into `out`, which has room for `size`; *num is
// how many there are. Returns false with `err` filled in as tg_callgrind_read.
bool tg_callgrind_parts(FILE *profile, const char *program, const struct tg_code_map *map,
                        struct tg_callgrind_part *out, size_t size, size_t *num, struct tg_error *err);

#endif

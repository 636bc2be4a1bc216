// Profiles of callgrind, as valgrind 3.19 writes them with --combine-dumps=yes --compress-strings=no --compress-pos=no
// --dump-line=no --dump-instr=yes (valgrind's manual, "Callgrind Format Specification").
#ifndef TLSGATE_PERF_EXACT_CALLGRIND_H
#define TLSGATE_PERF_EXACT_CALLGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/base/error.h"
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

#endif

// Whether a program was compiled as its combination asks: what the service's bad_build_check counts.
#ifndef TLSGATE_FUZZ_OSS_FUZZ_CHECK_INSTRUMENTATION_H
#define TLSGATE_FUZZ_OSS_FUZZ_CHECK_INSTRUMENTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/oss-fuzz/check/combination.h"
#include "fuzz/oss-fuzz/check/elf_file.h"

// Thresholds of infra/base-images/base-runner/bad_build_check in google/oss-fuzz. A runtime that is linked calls some
// of the others' functions: 165 calls of UBSan's stand in every program with ASan's.
#define TG_EDGES_MIN           100u
#define TG_ASAN_CALLS_MIN      1000u
#define TG_MSAN_CALLS_MIN      1000u
#define TG_UBSAN_CALLS_MIN     168u
#define TG_MSAN_CALLS_FOREIGN  3u
#define TG_UBSAN_CALLS_FOREIGN 200u

// What stands in a program.
struct tg_instrumentation {
  uint64_t edges;        // counters of the engine; counters of Clang's coverage under "coverage"
  uint64_t asan_calls;   // call instructions into __asan_..., as objdump shows them
  uint64_t msan_calls;   // likewise
  uint64_t ubsan_calls;  // likewise
};

// tg_instrumentation_count fills `out` in. Returns false with `err` filled in when objdump cannot be run.
bool tg_instrumentation_count(const char *program, const struct tg_elf *elf, const struct tg_combination *combination,
                              struct tg_instrumentation *out, struct tg_error *err);

// tg_instrumentation_check says whether the counts are those of the combination; if not, `err` says which is not.
bool tg_instrumentation_check(const struct tg_instrumentation *counts, const struct tg_combination *combination,
                              struct tg_error *err);

#endif

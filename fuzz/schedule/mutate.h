// Mutation and cross-over that keep schedules structured: steps, clients and settings change, not loose bytes.
//
// The same bytes and seed give the same mutant, so long as `bytes` does too. Input may be any bytes; what is returned
// is the encoding of a schedule but for the rare mutants that were made of bytes on purpose, which decode as any bytes
// do.
#ifndef TLSGATE_FUZZ_SCHEDULE_MUTATE_H
#define TLSGATE_FUZZ_SCHEDULE_MUTATE_H

#include <stddef.h>
#include <stdint.h>

// A mutator of bytes in place: takes `size` bytes in a buffer of `max_size`, returns the new size (LLVMFuzzerMutate).
typedef size_t tg_byte_mutator(uint8_t *data, size_t size, size_t max_size);

// tg_schedule_mutate changes a schedule in place, by one to four edits, and returns its new size: at most `max_size`,
// and not 0 unless `max_size` is. One mutant in 16 is made by `bytes`; NULL: by a small mutator of its own.
size_t tg_schedule_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed, tg_byte_mutator *bytes);

// tg_schedule_cross_over writes a schedule made of two to `out` and returns its size, at most `max_size`, and not 0
// unless `max_size` is.
size_t tg_schedule_cross_over(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                              size_t max_size, unsigned seed);

#endif

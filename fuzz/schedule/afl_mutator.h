// AFL++'s hooks for a custom mutator, as afl_mutator.so exports them (AFL_CUSTOM_MUTATOR_LIBRARY).
#ifndef TLSGATE_FUZZ_SCHEDULE_AFL_MUTATOR_H
#define TLSGATE_FUZZ_SCHEDULE_AFL_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

// afl_custom_init returns the mutator's state, NULL without memory; `afl` is not looked at.
void *afl_custom_init(void *afl, unsigned seed);

// afl_custom_fuzz points `out` at a mutant of `data`, or of it and `add` (which may be NULL), that is valid until the
// next call with the same state, and returns its size, at most `max_size`.
size_t afl_custom_fuzz(void *state, uint8_t *data, size_t size, uint8_t **out, uint8_t *add, size_t add_size,
                       size_t max_size);

void afl_custom_deinit(void *state);

#endif

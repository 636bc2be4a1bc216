// libFuzzer's hooks: linked into a target, they make it mutate schedules (mutate.h).
#include <stddef.h>
#include <stdint.h>

#include "fuzz/schedule/mutate.h"

// Weak, so that the same objects link where there is no libFuzzer.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  return tg_schedule_mutate(data, size, max_size, seed, LLVMFuzzerMutate);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max_size, unsigned seed) {
  return tg_schedule_cross_over(a, a_size, b, b_size, out, max_size, seed);
}

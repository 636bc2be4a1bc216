// A small deterministic generator (SplitMix64; Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators",
// OOPSLA 2014): the same seed gives the same numbers everywhere.
#ifndef TLSGATE_FUZZ_SCHEDULE_RNG_H
#define TLSGATE_FUZZ_SCHEDULE_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct tg_rng {
  uint64_t state;
};

static inline uint64_t tg_rng_next(struct tg_rng *rng) {
  uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

// tg_rng_below returns a number under `bound`, which is not 0. The bias is under bound / 2^32, which no use here sees.
static inline uint32_t tg_rng_below(struct tg_rng *rng, uint32_t bound) {
  return (uint32_t)((tg_rng_next(rng) >> 32) * bound >> 32);
}

// tg_rng_one_in is true once in `times`.
static inline bool tg_rng_one_in(struct tg_rng *rng, uint32_t times) {
  return tg_rng_below(rng, times) == 0;
}

#endif

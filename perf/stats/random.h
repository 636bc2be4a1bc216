// Random numbers from a seed: what is drawn can be drawn again.
#ifndef TLSGATE_PERF_STATS_RANDOM_H
#define TLSGATE_PERF_STATS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

// A deterministic generator: SplitMix64 (Steele, Lea and Flood 2014). Any seed will do.
struct tg_random {
  uint64_t state;
};

// tg_random_uniform returns a number in (0, 1).
double tg_random_uniform(struct tg_random *random);

// tg_random_below returns a whole number from 0 to n - 1, each as likely; n >= 1.
size_t tg_random_below(struct tg_random *random, size_t n);

// tg_random_normal returns a standard normal number (Box and Muller 1958).
double tg_random_normal(struct tg_random *random);

#endif

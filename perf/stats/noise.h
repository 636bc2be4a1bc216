// Synthetic samples, for tests: what a shared machine does to a measurement, from a seed.
#ifndef TLSGATE_PERF_STATS_NOISE_H
#define TLSGATE_PERF_STATS_NOISE_H

#include <stdbool.h>
#include <stdint.h>

// How many suites a test counts over, and its seed. A sanitizer's build is to find other mistakes than wrong rates.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TG_NOISE_SUITES 200
#endif
#endif
#ifndef TG_NOISE_SUITES
#define TG_NOISE_SUITES 10000
#endif
#define TG_NOISE_SEED 1945  // the year of Wald's paper

// A deterministic generator: SplitMix64 (Steele, Lea and Flood 2014). Any seed will do.
struct tg_random {
  uint64_t state;
};

// tg_random_uniform returns a number in (0, 1).
double tg_random_uniform(struct tg_random *random);

// tg_random_normal returns a standard normal number (Box and Muller 1958).
double tg_random_normal(struct tg_random *random);

// A stationary first-order autoregression with standard deviation 1.
struct tg_noise {
  double correlation;  // lag 1
  double last;
  bool started;
};

// tg_noise_next returns the next value of `noise`, which starts as {.correlation = r}.
double tg_noise_next(struct tg_noise *noise, struct tg_random *random);

#endif

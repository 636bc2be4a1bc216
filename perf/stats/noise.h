// Synthetic samples, for tests: what a shared machine does to a measurement, from a seed.
#ifndef TLSGATE_PERF_STATS_NOISE_H
#define TLSGATE_PERF_STATS_NOISE_H

#include <stdbool.h>

#include "perf/stats/random.h"

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

// A stationary first-order autoregression with standard deviation 1.
struct tg_noise {
  double correlation;  // lag 1
  double last;
  bool started;
};

// tg_noise_next returns the next value of `noise`, which starts as {.correlation = r}.
double tg_noise_next(struct tg_noise *noise, struct tg_random *random);

#endif

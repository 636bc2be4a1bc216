// What a run measured: for each metric, one sample a round.
#ifndef TLSGATE_PERF_VERDICT_SAMPLES_H
#define TLSGATE_PERF_VERDICT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"

// The most rounds of a run.
#define TG_ROUNDS_MAX 1000

struct tg_sample {
  size_t round;       // 0 is the first; a warm-up is not a sample
  double value;       // finite and above 0, or hits / trials
  uint64_t hits;      // of a count; else 0
  uint64_t trials;    // of a count; else 0
  bool client_bound;  // the load client was saturated, so that the server may be faster than the value says
};

struct tg_series {
  const char *metric;
  struct tg_sample *samples;  // in the order of their rounds, at most one a round
  size_t num;
};

// Samples of a run. Metrics need not be in the manifest: those that are not are kept for the report.
struct tg_samples {
  struct tg_series *series;
  size_t num;
};

// tg_samples_create returns an empty set, to be released with tg_samples_free.
struct tg_samples *tg_samples_create(void);

// tg_samples_free releases it. NULL is ignored.
void tg_samples_free(struct tg_samples *samples);

// tg_samples_add adds the value of a metric in a round. Returns false with `err` filled in, and adds nothing, when
// the value is not a finite number above 0, when `round` is beyond TG_ROUNDS_MAX or not later than the metric's last
// one, or when the metric has counts: what cannot be measured is an error of the run, never a sample.
bool tg_samples_add(struct tg_samples *samples, const char *metric, size_t round, double value, bool client_bound,
                    struct tg_error *err);

// tg_samples_add_count adds `hits` in `trials` (1 or more) of a round, for a gate on a fraction. Errors likewise.
bool tg_samples_add_count(struct tg_samples *samples, const char *metric, size_t round, uint64_t hits, uint64_t trials,
                          struct tg_error *err);

// tg_samples_find returns the series of a metric, or NULL if it has no sample.
const struct tg_series *tg_samples_find(const struct tg_samples *samples, const char *metric);

// tg_samples_rounds returns the number of rounds begun: the greatest round of any sample, plus 1.
size_t tg_samples_rounds(const struct tg_samples *samples);

#endif

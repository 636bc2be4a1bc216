#include "perf/verdict/samples.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tg_samples *tg_samples_create(void) {
  struct tg_samples *samples = calloc(1, sizeof(*samples));
  assert(samples != NULL);
  return samples;
}

void tg_samples_free(struct tg_samples *samples) {
  if (samples == NULL) return;
  for (size_t i = 0; i < samples->num; i++) {
    free((char *)samples->series[i].metric);
    free(samples->series[i].samples);
  }
  free(samples->series);
  free(samples);
}

static struct tg_series *find(const struct tg_samples *samples, const char *metric) {
  for (size_t i = 0; i < samples->num; i++) {
    if (strcmp(samples->series[i].metric, metric) == 0) return &samples->series[i];
  }
  return NULL;
}

const struct tg_series *tg_samples_find(const struct tg_samples *samples, const char *metric) {
  return find(samples, metric);
}

// A run holds some tens of kilobytes of samples; a machine that cannot give that cannot be measured either.
static void *grown(void *array, size_t num, size_t size) {
  void *larger = realloc(array, num * size);
  assert(larger != NULL);
  return larger;
}

static bool append(struct tg_samples *samples, const char *metric, const struct tg_sample *sample,
                   struct tg_error *err) {
  if (sample->round >= TG_ROUNDS_MAX) {
    tg_error_set(err, "metric %s: round %zu is beyond the limit of %d", metric, sample->round, TG_ROUNDS_MAX);
    return false;
  }
  struct tg_series *series = find(samples, metric);
  if (series != NULL) {
    const struct tg_sample *last = &series->samples[series->num - 1];
    if (sample->round <= last->round) {
      tg_error_set(err,
                   "metric %s: a sample of round %zu after one of round %zu; a round has one sample, and "
                   "rounds come in order",
                   metric, sample->round, last->round);
      return false;
    }
    if ((sample->trials > 0) != (last->trials > 0)) {
      tg_error_set(err, "metric %s: counts and values cannot be mixed", metric);
      return false;
    }
  } else {
    char *name = strdup(metric);
    assert(name != NULL);
    samples->series = grown(samples->series, samples->num + 1, sizeof(*samples->series));
    series = &samples->series[samples->num++];
    *series = (struct tg_series){.metric = name};
  }
  series->samples = grown(series->samples, series->num + 1, sizeof(*series->samples));
  series->samples[series->num++] = *sample;
  return true;
}

bool tg_samples_add(struct tg_samples *samples, const char *metric, size_t round, double value, bool client_bound,
                    struct tg_error *err) {
  if (!isfinite(value) || value <= 0) {
    tg_error_set(err, "metric %s: %g in round %zu is not a measurement; find out what the workload did", metric, value,
                 round);
    return false;
  }
  const struct tg_sample sample = {.round = round, .value = value, .client_bound = client_bound};
  return append(samples, metric, &sample, err);
}

bool tg_samples_add_count(struct tg_samples *samples, const char *metric, size_t round, uint64_t hits, uint64_t trials,
                          struct tg_error *err) {
  if (trials == 0 || hits > trials) {
    tg_error_set(err, "metric %s: %llu of %llu in round %zu is not a count; find out what the workload did", metric,
                 (unsigned long long)hits, (unsigned long long)trials, round);
    return false;
  }
  const struct tg_sample sample = {
      .round = round, .value = (double)hits / (double)trials, .hits = hits, .trials = trials};
  return append(samples, metric, &sample, err);
}

size_t tg_samples_rounds(const struct tg_samples *samples) {
  size_t rounds = 0;
  for (size_t i = 0; i < samples->num; i++) {
    const struct tg_series *series = &samples->series[i];
    const size_t last = series->samples[series->num - 1].round + 1;
    if (last > rounds) rounds = last;
  }
  return rounds;
}

#include "perf/certify/samples_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "perf/manifest/strict_json.h"
#include "perf/run/output.h"

// A value of a count is hits / trials, and is not looked at.
static bool take(struct tg_samples *samples, const char *metric, struct tg_json_place *place, struct tg_error *err) {
  long long round;
  double value;
  bool client_bound = false;
  long long hits = 0;
  long long trials = 0;
  if (!tg_json_integer(place, "round", 0, TG_ROUNDS_MAX, &round) || !tg_json_number(place, "value", &value) ||
      !tg_json_optional_bool(place, "client_bound", &client_bound)) {
    return false;
  }
  bool counted = tg_json_has(place, "hits") || tg_json_has(place, "trials");
  if (counted && (!tg_json_integer(place, "hits", 0, LLONG_MAX, &hits) ||
                  !tg_json_integer(place, "trials", 1, LLONG_MAX, &trials))) {
    return false;
  }
  if (!tg_json_close(place)) {
    return false;
  }
  if (counted) {
    if (hits > trials) {
      return tg_json_fail(place, "hits", "must be at most trials");
    }
    return tg_samples_add_count(samples, metric, (size_t)round, (uint64_t)hits, (uint64_t)trials, err);
  }
  return tg_samples_add(samples, metric, (size_t)round, value, client_bound, err);
}

static bool decode(struct tg_samples *samples, struct tg_json_place *root, const char *run, struct tg_error *err) {
  struct tg_json_place metrics;
  struct tg_json_place tools;
  const char *id;
  const char *metric;
  json_t *values;
  if (!tg_json_schema(root, TG_SAMPLES_SCHEMA) || !tg_json_text(root, "run", &id) ||
      !tg_json_object(root, "metrics", &metrics) || !tg_json_object(root, "tools", &tools) || !tg_json_close(root)) {
    return false;
  }
  if (strcmp(id, run) != 0) {
    return tg_json_fail(root, "run", "is %.40s, but the report is that of run %.40s", id, run);
  }
  json_object_foreach(metrics.object, metric, values) {
    // Opened for each metric: a place remembers the keys that it was asked for, and these are data.
    struct tg_json_place one;
    if (!tg_json_object(root, "metrics", &one) || !json_is_array(values)) {
      return tg_json_fail(&metrics, metric, "must be an array of samples");
    }
    for (size_t i = 0; i < json_array_size(values); i++) {
      struct tg_json_place place;
      if (!tg_json_element(&one, metric, i, &place) || !take(samples, metric, &place, err)) {
        return false;
      }
    }
  }
  return true;
}

struct tg_samples *tg_samples_load(const char *file, const char *run, struct tg_error *err) {
  json_t *json = tg_json_load(file, err);
  struct tg_samples *samples = tg_samples_create();
  struct tg_json_place root;
  if (json == NULL || !tg_json_open(&root, file, json, err) || !decode(samples, &root, run, err)) {
    tg_samples_free(samples);
    samples = NULL;
  }
  json_decref(json);
  return samples;
}

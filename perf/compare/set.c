#include "perf/compare/set.h"

#include <stdio.h>
#include <string.h>

#include "perf/report/run_log.h"

const char *const tg_compare_side_names[TG_COMPARE_SIDES] = {"base", "candidate"};

// The facts of the machine that a record keeps. The host's name is not among them: the file is published.
static const char *const machine_facts[] = {"cpu_model", "cpus",  "os",        "kernel", "architecture",
                                            "compiler",  "flags", "boringssl", "date"};

void tg_compare_set_init(struct tg_compare_set *set) {
  for (int side = 0; side < TG_COMPARE_SIDES; side++) {
    set->sides[side] = tg_samples_create();
  }
}

void tg_compare_set_free(struct tg_compare_set *set) {
  for (int side = 0; side < TG_COMPARE_SIDES; side++) {
    tg_samples_free(set->sides[side]);
    set->sides[side] = NULL;
  }
}

size_t tg_compare_set_rounds(const struct tg_compare_set *set, const char *metric) {
  const struct tg_series *base = tg_samples_find(set->sides[TG_BASE], metric);
  const struct tg_series *candidate = tg_samples_find(set->sides[TG_CANDIDATE], metric);
  if (base == NULL || candidate == NULL) {
    return 0;
  }
  return (base->num < candidate->num ? base->num : candidate->num) / 2;
}

static json_t *side_json(const struct tg_samples *samples) {
  json_t *metrics = json_object();
  for (size_t i = 0; i < samples->num; i++) {
    const struct tg_series *series = &samples->series[i];
    json_t *values = json_array();
    json_t *client_bound = json_array();
    for (size_t j = 0; j < series->num; j++) {
      (void)json_array_append_new(values, json_real(series->samples[j].value));
      (void)json_array_append_new(client_bound, json_boolean(series->samples[j].client_bound));
    }
    (void)json_object_set_new(metrics, series->metric,
                              json_pack("{s:o, s:o}", "values", values, "client_bound", client_bound));
  }
  return metrics;
}

json_t *tg_compare_set_json(const struct tg_compare_set *set) {
  return json_pack("{s:o, s:o}", tg_compare_side_names[TG_BASE], side_json(set->sides[TG_BASE]),
                   tg_compare_side_names[TG_CANDIDATE], side_json(set->sides[TG_CANDIDATE]));
}

json_t *tg_compare_record_json(const struct tg_compare_set *set, const json_t *provenance) {
  json_t *machine = json_object();
  for (size_t i = 0; i < sizeof(machine_facts) / sizeof(machine_facts[0]); i++) {
    json_t *fact = json_object_get(provenance, machine_facts[i]);
    (void)json_object_set(machine, machine_facts[i], fact != NULL ? fact : json_null());
  }
  char date[32];
  tg_time_text(date);
  (void)json_object_set_new(machine, "date", json_string(date));
  return json_pack("{s:i, s:o, s:o}", "schema", TG_COMPARE_RECORD_SCHEMA, "machine", machine, "samples",
                   tg_compare_set_json(set));
}

static bool read_series(struct tg_samples *samples, const char *metric, struct tg_json_place *place) {
  json_t *values = NULL;
  json_t *client_bound = NULL;
  if (!tg_json_array(place, "values", &values) || !tg_json_array(place, "client_bound", &client_bound) ||
      !tg_json_close(place)) {
    return false;
  }
  if (json_array_size(values) != json_array_size(client_bound)) {
    return tg_json_fail(place, "client_bound", "must have as many entries as values");
  }
  for (size_t run = 0; run < json_array_size(values); run++) {
    const json_t *value = json_array_get(values, run);
    const json_t *bound = json_array_get(client_bound, run);
    struct tg_error why;
    if (!json_is_number(value) || !json_is_boolean(bound)) {
      return tg_json_fail(place, NULL, "run %zu must be a number in values and true or false in client_bound", run);
    }
    if (!tg_samples_add(samples, metric, run, json_number_value(value), json_is_true(bound), &why)) {
      return tg_json_fail(place, "values", "%s", why.text);
    }
  }
  return true;
}

static bool read_side(struct tg_samples *samples, struct tg_json_place *samples_place, const char *side) {
  struct tg_json_place place;
  if (!tg_json_object(samples_place, side, &place)) {
    return false;
  }
  const char *metric = NULL;
  json_t *value = NULL;
  json_object_foreach(place.object, metric, value) {
    struct tg_json_place series;
    if (!tg_json_object(&place, metric, &series) || !read_series(samples, metric, &series)) {
      return false;
    }
  }
  return true;
}

bool tg_compare_record_load(struct tg_compare_set *out, const char *file, struct tg_error *err) {
  json_t *root = tg_json_load(file, err);
  if (root == NULL) {
    return false;
  }
  tg_compare_set_init(out);
  struct tg_json_place place;
  struct tg_json_place machine;
  struct tg_json_place samples;
  bool ok = tg_json_open(&place, file, root, err) && tg_json_schema(&place, TG_COMPARE_RECORD_SCHEMA) &&
            tg_json_object(&place, "machine", &machine) && tg_json_object(&place, "samples", &samples) &&
            tg_json_close(&place);
  for (size_t i = 0; ok && i < sizeof(machine_facts) / sizeof(machine_facts[0]); i++) {
    ok = tg_json_has(&machine, machine_facts[i]) || tg_json_fail(&machine, machine_facts[i], "is missing");
  }
  ok = ok && tg_json_close(&machine) && read_side(out->sides[TG_BASE], &samples, tg_compare_side_names[TG_BASE]) &&
       read_side(out->sides[TG_CANDIDATE], &samples, tg_compare_side_names[TG_CANDIDATE]) && tg_json_close(&samples);
  json_decref(root);
  if (!ok) {
    tg_compare_set_free(out);
  }
  return ok;
}

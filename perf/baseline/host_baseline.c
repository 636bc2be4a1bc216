#include "perf/baseline/host_baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perf/baseline/allowance.h"
#include "perf/baseline/fields.h"
#include "perf/report/json_fields.h"

enum { LABEL_LEN_MAX = 64 };

// An allowance is read to this fraction, so that what is wide is wide in every file that says the same.
#define ALLOWANCE_UNITS 1e6

bool tg_label_check(const char *label, struct tg_error *err) {
  const size_t good = strspn(label, "abcdefghijklmnopqrstuvwxyz0123456789._-");
  const bool starts_well = label[0] != '\0' && strchr("._-", label[0]) == NULL;
  if (label[good] == '\0' && good <= LABEL_LEN_MAX && starts_well) {
    return true;
  }
  tg_error_set(err, "\"%.80s\" is not a host's label: [a-z0-9][a-z0-9._-]*, at most %d characters", label,
               LABEL_LEN_MAX);
  return false;
}

static bool decode_label(struct tg_host_baseline *out, struct tg_json_place *root) {
  struct tg_error why;
  return tg_json_text(root, "label", &out->label) &&
         (tg_label_check(out->label, &why) || tg_json_fail(root, "label", "%s", why.text));
}

// An older baseline says neither how many runs it comes from nor which.
static bool decode_runs(struct tg_host_baseline *out, struct tg_json_place *root) {
  long long runs = 1;
  json_t *ids = NULL;
  if (tg_json_has(root, "runs") && !tg_json_integer(root, "runs", 1, TG_RECORDED_RUNS_MAX, &runs)) {
    return false;
  }
  out->runs = (size_t)runs;
  if (!tg_json_has(root, "run_ids")) {
    return true;
  }
  if (!tg_json_array(root, "run_ids", &ids)) {
    return false;
  }
  if (json_array_size(ids) != out->runs) {
    return tg_json_fail(root, "run_ids", "has %zu ids where \"runs\" says %zu; record the baseline anew",
                        json_array_size(ids), out->runs);
  }
  for (size_t i = 0; i < out->runs; i++) {
    const char *id = json_string_value(json_array_get(ids, i));
    if (id == NULL || strlen(id) != TG_RUN_ID_LEN || id[strspn(id, "0123456789abcdef")] != '\0') {
      return tg_json_fail(root, "run_ids", "element %zu is not the id of a run", i);
    }
    for (size_t j = 0; j < i; j++) {
      if (strcmp(out->run_ids[j], id) == 0) {
        return tg_json_fail(root, "run_ids", "has one run twice, %s; record the baseline anew", id);
      }
    }
    out->run_ids[i] = id;
  }
  out->num_run_ids = out->runs;
  return true;
}

static bool decode_row(struct tg_baseline_row *out, const char *name, struct tg_json_place *place) {
  *out = (struct tg_baseline_row){.name = name, .allowance = TG_ALLOWANCE_DEFAULT};
  if (tg_json_is_null(place, "median")) {
    out->disabled = true;
  } else if (!tg_json_positive(place, "median", &out->median)) {
    return false;
  }
  if (tg_json_has(place, "allowance")) {
    if (!tg_json_number(place, "allowance", &out->allowance)) {
      return false;
    }
    if (out->allowance < 0 || out->allowance > TG_ALLOWANCE_MAX) {
      return tg_json_fail(place, "allowance", "must be between 0 and %g (0.05 is 5 %%), is %g", TG_ALLOWANCE_MAX,
                          out->allowance);
    }
    out->allowance = round(out->allowance * ALLOWANCE_UNITS) / ALLOWANCE_UNITS;
  }
  // Whoever reads that a bound is disabled reads why.
  if (!(out->disabled ? tg_json_text(place, "note", &out->note) : tg_json_optional_text(place, "note", &out->note))) {
    return false;
  }
  return tg_json_close(place);
}

static bool decode_rows(struct tg_host_baseline *out, struct tg_json_place *root) {
  struct tg_json_place rows;
  if (!tg_json_object(root, "rows", &rows)) {
    return false;
  }
  const size_t num = json_object_size(rows.object);
  if (num == 0 || num > TG_GATES_MAX) {
    return tg_json_fail(root, "rows", "must be 1 to %d rows, are %zu", TG_GATES_MAX, num);
  }
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(rows.object, key, value) {
    // Keys are data here, so that the limit of known keys is not theirs.
    struct tg_json_place at = rows;
    struct tg_json_place row;
    at.num_known = 0;
    if (!tg_metric_key(&rows, key) || !tg_json_object(&at, key, &row) ||
        !decode_row(&out->rows[out->num_rows], key, &row)) {
      return false;
    }
    out->num_rows++;
  }
  return true;
}

static bool is_wide(const struct tg_baseline_row *row) {
  return row->allowance > TG_ALLOWANCE_WIDE + 1e-9;
}

static json_t *wide_rows(const struct tg_host_baseline *baseline) {
  json_t *wide = json_array();
  for (size_t i = 0; i < baseline->num_rows; i++) {
    if (is_wide(&baseline->rows[i])) {
      (void)json_array_append_new(wide, json_string(baseline->rows[i].name));
    }
  }
  return wide;
}

// The list is there for readers. One that is not that of the rows was edited, or the rows were.
static bool check_wide_list(const struct tg_host_baseline *baseline, struct tg_json_place *root) {
  json_t *list = NULL;
  if (!tg_json_has(root, "wide_allowances")) {
    return true;
  }
  if (!tg_json_array(root, "wide_allowances", &list)) {
    return false;
  }
  json_t *expected = wide_rows(baseline);
  const bool same = json_equal(list, expected) != 0;
  json_decref(expected);
  return same ||
         tg_json_fail(root, "wide_allowances",
                      "is not the list of the rows that are allowed more than %g; the file is generated: record "
                      "it anew instead of editing it",
                      TG_ALLOWANCE_WIDE);
}

static bool decode(struct tg_host_baseline *out, const char *file, struct tg_error *err) {
  struct tg_json_place root;
  struct tg_json_place provenance;
  if (!tg_json_open(&root, file, out->root, err) ||
      !tg_generated_schema(&root, TG_HOST_BASELINE_SCHEMA, "record the baseline anew: ./tlsgate record") ||
      !tg_json_text(&root, "about", &out->about) || !decode_label(out, &root) ||
      !tg_field_time(&root, "recorded", &out->recorded) || !tg_profile_field(&root, &out->profile) ||
      !tg_json_object(&root, "provenance", &provenance) || !tg_environment_decode(&out->environment, &provenance)) {
    return false;
  }
  const char *missing = tg_environment_missing(&out->environment);
  if (missing != NULL) {
    return tg_json_fail(&root, "provenance", "%s is null; nothing was recorded without it: record the baseline anew",
                        missing);
  }
  return decode_runs(out, &root) && tg_trust_limits_decode(&out->trust, &out->trust_overrides, &root) &&
         tg_json_optional_text(&root, "notes", &out->notes) && decode_rows(out, &root) && check_wide_list(out, &root) &&
         tg_json_close(&root);
}

// Takes over `json`, which is NULL if it could not be parsed.
static struct tg_host_baseline *from_json(const char *file, json_t *json, struct tg_error *err) {
  if (json == NULL) {
    return NULL;
  }
  struct tg_host_baseline *baseline = calloc(1, sizeof(*baseline));
  if (baseline == NULL) {
    tg_error_set(err, "%s: out of memory", file);
    json_decref(json);
    return NULL;
  }
  baseline->root = json;
  if (decode(baseline, file, err)) {
    return baseline;
  }
  tg_host_baseline_free(baseline);
  return NULL;
}

struct tg_host_baseline *tg_host_baseline_load(const char *file, struct tg_error *err) {
  return from_json(file, tg_json_load(file, err), err);
}

struct tg_host_baseline *tg_host_baseline_parse(const char *file, const char *text, size_t len, struct tg_error *err) {
  return from_json(file, tg_json_parse(file, text, len, err), err);
}

void tg_host_baseline_free(struct tg_host_baseline *baseline) {
  if (baseline != NULL) {
    json_decref(baseline->root);
    free(baseline);
  }
}

static json_t *encode_row(const struct tg_baseline_row *row) {
  json_t *object = json_object();
  (void)json_object_set_new(object, "median", row->disabled ? json_null() : json_real(row->median));
  (void)json_object_set_new(object, "allowance", json_real(row->allowance));
  if (row->note != NULL) {
    (void)json_object_set_new(object, "note", json_string(row->note));
  }
  return object;
}

json_t *tg_host_baseline_encode(const struct tg_host_baseline *baseline) {
  json_t *rows = json_object();
  for (size_t i = 0; i < baseline->num_rows; i++) {
    (void)json_object_set_new(rows, baseline->rows[i].name, encode_row(&baseline->rows[i]));
  }
  json_t *root =
      json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:o}", "schema", TG_HOST_BASELINE_SCHEMA, "about", baseline->about,
                "label", baseline->label, "recorded", baseline->recorded, "profile", tg_profile_name(baseline->profile),
                "runs", (json_int_t)baseline->runs, "provenance", tg_environment_encode(&baseline->environment));
  if (baseline->num_run_ids > 0) {
    json_t *ids = json_array();
    for (size_t i = 0; i < baseline->num_run_ids; i++) {
      (void)json_array_append_new(ids, json_string(baseline->run_ids[i]));
    }
    (void)json_object_set_new(root, "run_ids", ids);
  }
  if (baseline->trust_overrides != NULL) {
    (void)json_object_set_new(root, "trust", tg_field_from_borrowed(baseline->trust_overrides));
  }
  if (baseline->notes != NULL) {
    (void)json_object_set_new(root, "notes", json_string(baseline->notes));
  }
  (void)json_object_set_new(root, "rows", rows);
  (void)json_object_set_new(root, "wide_allowances", wide_rows(baseline));
  return root;
}

const struct tg_baseline_row *tg_host_baseline_row(const struct tg_host_baseline *baseline, const char *name) {
  for (size_t i = 0; i < baseline->num_rows; i++) {
    if (strcmp(baseline->rows[i].name, name) == 0) {
      return &baseline->rows[i];
    }
  }
  return NULL;
}

bool tg_baseline_covers(const struct tg_gate *gate) {
  return gate->judged_by != TG_JUDGED_FRACTION && gate->judged_by != TG_JUDGED_EVERY_ROUND;
}

static bool same(const char *a, const char *b) {
  return a != NULL && b != NULL && strcmp(a, b) == 0;
}

const char *tg_machine_difference(const struct tg_environment *a, const struct tg_environment *b) {
  return !same(a->host, b->host)                   ? "host"
         : !same(a->architecture, b->architecture) ? "architecture"
         : !same(a->cpu_model, b->cpu_model)       ? "cpu_model"
         : a->cpus != b->cpus                      ? "cpus"
                                                   : NULL;
}

#include "perf/baseline/cpu_history.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/baseline/fields.h"
#include "perf/report/json_fields.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const kLabels[] = {"fail", "undecided", "unenforced", "unreadable", "error"};

void tg_cpu_history_file(char *out, size_t size, const char *cpu_model) {
  char name[128];
  size_t len = 0;
  for (const char *c = cpu_model; *c != '\0' && len + 1 < sizeof(name); c++) {
    if (isalnum((unsigned char)*c)) {
      name[len++] = (char)tolower((unsigned char)*c);
    } else if (len > 0 && name[len - 1] != '-') {
      name[len++] = '-';
    }
  }
  while (len > 0 && name[len - 1] == '-') {
    len--;
  }
  name[len] = '\0';
  (void)snprintf(out, size, "%s.json", len > 0 ? name : "unnamed");
}

static bool decode_values(struct tg_history_value **out, size_t *num, struct tg_json_place *place) {
  const size_t size = json_object_size(place->object);
  if (size > TG_GATES_MAX) {
    return tg_json_fail(place, NULL, "must be at most %d metrics, are %zu", TG_GATES_MAX, size);
  }
  *out = calloc(size + 1, sizeof(**out));
  if (*out == NULL) {
    return tg_json_fail(place, NULL, "out of memory");
  }
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(place->object, key, value) {
    struct tg_history_value *into = &(*out)[*num];
    if (!tg_metric_key(place, key) || !tg_json_value_number(place, key, value, &into->value)) {
      return false;
    }
    if (into->value <= 0) {
      return tg_json_fail(place, key, "must be above 0, is %g", into->value);
    }
    into->name = key;
    (*num)++;
  }
  return true;
}

static bool decode_row(struct tg_history_row *out, bool apart, struct tg_json_place *place) {
  struct tg_json_place metrics;
  int label = 0;
  if (!tg_field_hex(place, "id", TG_RUN_ID_LEN, &out->id) || !tg_field_time(place, "date", &out->date) ||
      !tg_json_text(place, "revision", &out->revision)) {
    return false;
  }
  if (apart) {
    if (!tg_json_choice(place, "label", kLabels, COUNT(kLabels), &label)) {
      return false;
    }
    out->label = kLabels[label];
  }
  if (!tg_json_object(place, "metrics", &metrics) || !decode_values(&out->values, &out->num_values, &metrics)) {
    return false;
  }
  const bool error = apart && strcmp(out->label, "error") == 0;
  if (error != (out->num_values == 0)) {
    return tg_json_fail(place, "metrics", error ? "an error has no measurement" : "must not be empty");
  }
  return tg_json_close(place);
}

static bool is_there(const struct tg_history_row *rows, size_t num, const char *id) {
  for (size_t i = 0; i < num; i++) {
    if (strcmp(rows[i].id, id) == 0) {
      return true;
    }
  }
  return false;
}

static bool decode_rows(struct tg_cpu_history *out, const char *key, struct tg_json_place *root) {
  const bool apart = strcmp(key, "apart") == 0;
  struct tg_history_row *rows = apart ? out->apart : out->rows;
  size_t *num = apart ? &out->num_apart : &out->num_rows;
  json_t *array = NULL;
  if (!tg_json_array(root, key, &array)) {
    return false;
  }
  if (json_array_size(array) > TG_HISTORY_MAX) {
    return tg_json_fail(root, key, "must be at most %d rows, are %zu", TG_HISTORY_MAX, json_array_size(array));
  }
  for (size_t i = 0; i < json_array_size(array); i++) {
    struct tg_json_place place;
    struct tg_history_row row = {.id = NULL};
    bool ok = tg_json_element(root, key, i, &place) && decode_row(&row, apart, &place);
    if (ok && (is_there(out->rows, out->num_rows, row.id) || is_there(out->apart, out->num_apart, row.id))) {
      ok = tg_json_fail(&place, "id", "the run %s is there already; a run counts once", row.id);
    }
    if (!ok) {
      free(row.values);
      return false;
    }
    rows[(*num)++] = row;
  }
  return true;
}

static bool check_factor(struct tg_json_place *place, const char *key, double factor) {
  return (factor >= TG_HISTORY_FACTOR_MIN && factor <= TG_HISTORY_FACTOR_MAX) ||
         tg_json_fail(place, key, "must be between %g and %g (1.5 is 1.5 times worse), is %g", TG_HISTORY_FACTOR_MIN,
                      TG_HISTORY_FACTOR_MAX, factor);
}

static bool decode_factors(struct tg_cpu_history *out, struct tg_json_place *root) {
  struct tg_json_place factors;
  out->factor = TG_HISTORY_FACTOR;
  if (tg_json_has(root, "factor") &&
      (!tg_json_number(root, "factor", &out->factor) || !check_factor(root, "factor", out->factor))) {
    return false;
  }
  if (!tg_json_has(root, "factors")) {
    return true;
  }
  bool ok = tg_json_object(root, "factors", &factors) && decode_values(&out->factors, &out->num_factors, &factors);
  for (size_t i = 0; ok && i < out->num_factors; i++) {
    ok = check_factor(&factors, out->factors[i].name, out->factors[i].value);
  }
  return ok;
}

static bool decode(struct tg_cpu_history *out, const char *file, struct tg_error *err) {
  struct tg_json_place root;
  return tg_json_open(&root, file, out->root, err) &&
         tg_generated_schema(&root, TG_CPU_HISTORY_SCHEMA,
                             "move it away and let ./tlsgate history update begin a new one") &&
         tg_json_text(&root, "about", &out->about) && tg_json_text(&root, "cpu_model", &out->cpu_model) &&
         tg_profile_field(&root, &out->profile) && decode_factors(out, &root) &&
         tg_json_optional_text(&root, "notes", &out->notes) && decode_rows(out, "rows", &root) &&
         decode_rows(out, "apart", &root) && tg_json_close(&root);
}

// Takes over `json`, which is NULL if it could not be parsed.
static struct tg_cpu_history *from_json(const char *file, json_t *json, struct tg_error *err) {
  if (json == NULL) {
    return NULL;
  }
  struct tg_cpu_history *history = calloc(1, sizeof(*history));
  if (history == NULL) {
    tg_error_set(err, "%s: out of memory", file);
    json_decref(json);
    return NULL;
  }
  history->root = json;
  if (decode(history, file, err)) {
    return history;
  }
  tg_cpu_history_free(history);
  return NULL;
}

struct tg_cpu_history *tg_cpu_history_load(const char *file, struct tg_error *err) {
  return from_json(file, tg_json_load(file, err), err);
}

struct tg_cpu_history *tg_cpu_history_parse(const char *file, const char *text, size_t len, struct tg_error *err) {
  return from_json(file, tg_json_parse(file, text, len, err), err);
}

struct tg_cpu_history *tg_cpu_history_find(const char *folder, const char *cpu_model, struct tg_error *err) {
  char name[256];
  char path[PATH_MAX];
  tg_cpu_history_file(name, sizeof(name), cpu_model);
  if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
    tg_error_set(err, "%s: the path is too long", folder);
    return NULL;
  }
  if (access(path, F_OK) != 0 && errno == ENOENT) {
    tg_error_set(err, "%s", "");
    return NULL;
  }
  struct tg_cpu_history *history = tg_cpu_history_load(path, err);
  if (history != NULL && strcmp(history->cpu_model, cpu_model) != 0) {
    tg_error_set(err, "%s: is of the CPU model \"%.100s\", not \"%.100s\"; move one of them away", path,
                 history->cpu_model, cpu_model);
    tg_cpu_history_free(history);
    return NULL;
  }
  return history;
}

void tg_cpu_history_free(struct tg_cpu_history *history) {
  if (history == NULL) {
    return;
  }
  for (size_t i = 0; i < history->num_rows; i++) {
    free(history->rows[i].values);
  }
  for (size_t i = 0; i < history->num_apart; i++) {
    free(history->apart[i].values);
  }
  free(history->factors);
  json_decref(history->root);
  free(history);
}

static json_t *encode_values(const struct tg_history_value *values, size_t num) {
  json_t *object = json_object();
  for (size_t i = 0; i < num; i++) {
    (void)json_object_set_new(object, values[i].name, json_real(values[i].value));
  }
  return object;
}

static json_t *encode_rows(const struct tg_history_row *rows, size_t num) {
  json_t *array = json_array();
  for (size_t i = 0; i < num; i++) {
    const struct tg_history_row *row = &rows[i];
    json_t *object = json_pack("{s:s, s:s, s:s}", "id", row->id, "date", row->date, "revision", row->revision);
    if (row->label != NULL) {
      (void)json_object_set_new(object, "label", json_string(row->label));
    }
    (void)json_object_set_new(object, "metrics", encode_values(row->values, row->num_values));
    (void)json_array_append_new(array, object);
  }
  return array;
}

json_t *tg_cpu_history_encode(const struct tg_cpu_history *history) {
  json_t *root = json_pack("{s:i, s:s, s:s, s:s}", "schema", TG_CPU_HISTORY_SCHEMA, "about", history->about,
                           "cpu_model", history->cpu_model, "profile", tg_profile_name(history->profile));
  if (history->factor != TG_HISTORY_FACTOR) {
    (void)json_object_set_new(root, "factor", json_real(history->factor));
  }
  if (history->num_factors > 0) {
    (void)json_object_set_new(root, "factors", encode_values(history->factors, history->num_factors));
  }
  if (history->notes != NULL) {
    (void)json_object_set_new(root, "notes", json_string(history->notes));
  }
  (void)json_object_set_new(root, "rows", encode_rows(history->rows, history->num_rows));
  (void)json_object_set_new(root, "apart", encode_rows(history->apart, history->num_apart));
  return root;
}

double tg_cpu_history_factor(const struct tg_cpu_history *history, const char *metric) {
  for (size_t i = 0; i < history->num_factors; i++) {
    if (strcmp(history->factors[i].name, metric) == 0) {
      return history->factors[i].value;
    }
  }
  return history->factor;
}

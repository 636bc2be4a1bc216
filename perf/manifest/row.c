#include "perf/manifest/row.h"

#include <stdlib.h>

bool tg_row_decode(struct tg_row *out, struct tg_json_place *place) {
  struct tg_json_place metrics;
  if (!tg_json_text(place, "source", &out->source)) return false;
  if (!tg_json_object(place, "metrics", &metrics)) return false;
  const size_t num = json_object_size(metrics.object);
  if (num == 0) return tg_json_fail(place, "metrics", "must not be empty");
  out->values = calloc(num, sizeof(*out->values));
  if (out->values == NULL) return tg_json_fail(place, "metrics", "out of memory");
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(metrics.object, key, value) {
    struct tg_row_value *into = &out->values[out->num_values];
    if (!tg_json_value_number(&metrics, key, value, &into->value)) return false;
    into->name = key;
    out->num_values++;
  }
  return true;
}

// Takes over `json`, which is NULL if it could not be parsed.
static struct tg_row_file *from_json(const char *file, json_t *json, struct tg_error *err) {
  if (json == NULL) return NULL;
  struct tg_row_file *row = calloc(1, sizeof(*row));
  if (row == NULL) {
    tg_error_set(err, "%s: out of memory", file);
    json_decref(json);
    return NULL;
  }
  row->root = json;
  struct tg_json_place root;
  if (tg_json_open(&root, file, row->root, err) && tg_json_schema(&root, TG_ROW_SCHEMA) &&
      tg_row_decode(&row->row, &root) && tg_json_close(&root)) {
    return row;
  }
  tg_row_free(row);
  return NULL;
}

struct tg_row_file *tg_row_load(const char *file, struct tg_error *err) {
  return from_json(file, tg_json_load(file, err), err);
}

struct tg_row_file *tg_row_parse(const char *file, const char *text, size_t len, struct tg_error *err) {
  return from_json(file, tg_json_parse(file, text, len, err), err);
}

void tg_row_free(struct tg_row_file *row) {
  if (row == NULL) return;
  free(row->row.values);
  json_decref(row->root);
  free(row);
}

#include "harness/faults/report/catalogue.h"

#include <stdlib.h>

#include "perf/manifest/strict_json.h"

static bool read_report(struct tg_json_place *entry, size_t index, struct tg_fault_report *out) {
  struct tg_json_place place;
  return tg_json_element(entry, "reports", index, &place) && tg_json_text(&place, "project", &out->project) &&
         tg_json_integer(&place, "number", 1, 1LL << 40, &out->number) && tg_json_text(&place, "title", &out->title) &&
         tg_json_close(&place);
}

static bool read_texts(struct tg_json_place *place, const char *key, json_t **out) {
  if (!tg_json_array(place, key, out)) {
    return false;
  }
  for (size_t i = 0; i < json_array_size(*out); i++) {
    if (!json_is_string(json_array_get(*out, i))) {
      return tg_json_fail(place, key, "element %zu is not a text", i);
    }
  }
  return true;
}

static bool read_entry(struct tg_json_place *place, struct tg_fault_entry *out) {
  json_t *reports;
  if (!tg_json_text(place, "name", &out->name) || !tg_json_text(place, "kind", &out->kind) ||
      !tg_json_text(place, "breaks", &out->breaks) || !tg_json_text(place, "input", &out->input) ||
      !tg_json_text(place, "check", &out->check) || !read_texts(place, "caught_by", &out->caught_by) ||
      !read_texts(place, "sources", &out->sources) ||
      !tg_json_optional_bool(place, "without_own_regression", &out->without_own_regression) ||
      !tg_json_array(place, "reports", &reports)) {
    return false;
  }
  out->num_reports = json_array_size(reports);
  if (out->num_reports > sizeof(out->reports) / sizeof(out->reports[0])) {
    return tg_json_fail(place, "reports", "%zu are too many", out->num_reports);
  }
  for (size_t i = 0; i < out->num_reports; i++) {
    if (!read_report(place, i, &out->reports[i])) {
      return false;
    }
  }
  return tg_json_close(place);
}

static bool decode(struct tg_catalogue *out, const char *file, struct tg_error *err) {
  struct tg_json_place root;
  struct tg_json_place place;
  json_t *faults;
  if (!tg_json_open(&root, file, out->json, err) || !tg_json_schema(&root, 1) ||
      !tg_json_array(&root, "faults", &faults)) {
    return false;
  }
  out->num_entries = json_array_size(faults);
  if (out->num_entries > TG_CATALOGUE_MAX) {
    return tg_json_fail(&root, "faults", "%zu are more than the %d that fit", out->num_entries, TG_CATALOGUE_MAX);
  }
  for (size_t i = 0; i < out->num_entries; i++) {
    if (!tg_json_element(&root, "faults", i, &place) || !read_entry(&place, &out->entries[i])) {
      return false;
    }
  }
  return tg_json_close(&root);
}

struct tg_catalogue *tg_catalogue_load(const char *file, struct tg_error *err) {
  struct tg_catalogue *catalogue = calloc(1, sizeof(*catalogue));
  if (catalogue == NULL) {
    tg_error_set(err, "no memory for the catalogue");
    return NULL;
  }
  catalogue->json = tg_json_load(file, err);
  if (catalogue->json == NULL || !decode(catalogue, file, err)) {
    tg_catalogue_free(catalogue);
    return NULL;
  }
  return catalogue;
}

void tg_catalogue_free(struct tg_catalogue *catalogue) {
  if (catalogue != NULL) {
    json_decref(catalogue->json);
    free(catalogue);
  }
}

#include "perf/manifest/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/manifest/gate_decode.h"
#include "perf/manifest/row.h"
#include "perf/manifest/strict_json.h"

// What the public struct borrows from.
struct backing {
  char *file;
  json_t *root;
};

bool tg_gate_is_gated(const struct tg_gate *gate) {
  return gate->recorded_only == NULL && !gate->disabled;
}

const struct tg_gate *tg_manifest_gate(const struct tg_manifest *manifest, const char *name) {
  for (size_t i = 0; i < manifest->num_gates; i++) {
    if (strcmp(manifest->gates[i].name, name) == 0) return &manifest->gates[i];
  }
  return NULL;
}

const struct tg_row *tg_manifest_row(const struct tg_manifest *manifest, const char *name) {
  for (size_t i = 0; i < manifest->num_rows; i++) {
    if (strcmp(manifest->rows[i].name, name) == 0) return &manifest->rows[i];
  }
  return NULL;
}

static bool decode_gates(struct tg_manifest *out, struct tg_json_place *root) {
  json_t *array = NULL;
  if (!tg_json_array(root, "gates", &array)) return false;
  const size_t num = json_array_size(array);
  if (num == 0 || num > TG_GATES_MAX) {
    return tg_json_fail(root, "gates", "must have 1 to %d elements, has %zu", TG_GATES_MAX, num);
  }
  out->gates = calloc(num, sizeof(*out->gates));
  if (out->gates == NULL) return tg_json_fail(root, "gates", "out of memory");
  for (size_t i = 0; i < num; i++) {
    struct tg_json_place place;
    if (!tg_json_element(root, "gates", i, &place)) return false;
    if (!tg_gate_decode(&out->gates[i], out->purpose, &place)) return false;
    if (tg_manifest_gate(out, out->gates[i].name) != NULL) {
      return tg_json_fail(&place, "name", "\"%s\" is there already; a metric has one gate", out->gates[i].name);
    }
    out->num_gates = i + 1;
  }
  return true;
}

// A firm metric must decide by itself, and a metric that a bound refers to must be measured.
static bool check_references(const struct tg_manifest *manifest, struct tg_json_place *root) {
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const struct tg_gate *gate = &manifest->gates[i];
    struct tg_json_place place;
    if (!tg_json_element(root, "gates", i, &place)) return false;
    if (gate->firm != NULL) {
      const struct tg_gate *firm = tg_manifest_gate(manifest, gate->firm);
      if (firm == NULL) return tg_json_fail(&place, "firm", "no gate is named \"%.48s\"", gate->firm);
      if (!tg_gate_is_gated(firm) || firm->firm != NULL) {
        return tg_json_fail(&place, "firm", "\"%s\" cannot decide: it has no bound of its own, or a firm metric itself",
                            firm->name);
      }
    }
    if (gate->relative_to != NULL) {
      const struct tg_gate *other = tg_manifest_gate(manifest, gate->relative_to);
      if (other == NULL || other == gate || other->judged_by == TG_JUDGED_FRACTION) {
        return tg_json_fail(&place, "relative_to",
                            "\"%.48s\" is not another metric of this file with one value a round", gate->relative_to);
      }
    }
  }
  return true;
}

static bool decode_rows(struct tg_manifest *out, struct tg_json_place *root) {
  if (!tg_json_has(root, "rows")) return true;
  struct tg_json_place rows;
  if (!tg_json_object(root, "rows", &rows)) return false;
  const size_t num = json_object_size(rows.object);
  if (num > TG_SETS_MAX) return tg_json_fail(root, "rows", "more than %d rows", TG_SETS_MAX);
  out->rows = calloc(num + 1, sizeof(*out->rows));
  if (out->rows == NULL) return tg_json_fail(root, "rows", "out of memory");
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(rows.object, key, value) {
    struct tg_json_place place;
    struct tg_row *row = &out->rows[out->num_rows++];
    row->name = key;
    if (!tg_json_object(&rows, key, &place) || !tg_row_decode(row, &place) || !tg_json_close(&place)) return false;
    for (size_t i = 0; i < row->num_values; i++) {
      if (tg_manifest_gate(out, row->values[i].name) == NULL) {
        return tg_json_fail(&place, row->values[i].name, "no gate of this file has that name");
      }
    }
  }
  return true;
}

// Applies the set at `place` to the manifest's gates, or with `apply` false only checks it.
static bool decode_set(struct tg_manifest *manifest, struct tg_json_place *place, bool apply) {
  struct tg_json_place bounds;
  const char *why = NULL;
  if (!tg_json_text(place, "why", &why) || !tg_json_object(place, "bounds", &bounds) || !tg_json_close(place))
    return false;
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(bounds.object, key, value) {
    double bound = 0;
    if (!tg_json_value_number(&bounds, key, value, &bound)) return false;
    if (bound == 0) return tg_json_fail(&bounds, key, "must be above 0");
    for (size_t i = 0; i <= manifest->num_gates; i++) {
      if (i == manifest->num_gates) return tg_json_fail(&bounds, key, "no gate of this file has that name");
      struct tg_gate *gate = &manifest->gates[i];
      if (strcmp(gate->name, key) != 0) continue;
      if (!tg_gate_is_gated(gate) || gate->relative_to != NULL || gate->judged_by == TG_JUDGED_FIRM) {
        return tg_json_fail(&bounds, key, "that gate has no fixed bound to replace");
      }
      if (apply) {
        gate->bound = bound;
        gate->why = why;
      }
      break;
    }
  }
  return true;
}

static bool check_sets(struct tg_manifest *manifest, struct tg_json_place *root) {
  if (!tg_json_has(root, "sets")) return true;
  struct tg_json_place sets;
  if (!tg_json_object(root, "sets", &sets)) return false;
  if (json_object_size(sets.object) > TG_SETS_MAX) return tg_json_fail(root, "sets", "more than %d sets", TG_SETS_MAX);
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(sets.object, key, value) {
    struct tg_json_place place;
    if (!tg_json_object(&sets, key, &place) || !decode_set(manifest, &place, false)) return false;
  }
  return true;
}

bool tg_manifest_use_set(struct tg_manifest *manifest, const char *set, struct tg_error *err) {
  const struct backing *backing = manifest->impl;
  json_t *sets = json_object_get(backing->root, "sets");
  json_t *chosen = json_object_get(sets, set);
  if (chosen != NULL) {
    struct tg_json_place place;
    return tg_json_open(&place, manifest->file, chosen, err) && decode_set(manifest, &place, true);
  }
  char names[256] = "none";
  size_t used = 0;
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(sets, key, value) {
    if (used < sizeof(names))
      used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "", key);
  }
  tg_error_set(err, "%s: no set of bounds is named \"%.48s\"; there are: %s", manifest->file, set, names);
  return false;
}

static bool decode(struct tg_manifest *out, json_t *value, struct tg_error *err) {
  static const char *const purposes[] = {"run", "replay"};
  struct tg_json_place root;
  int purpose = 0;
  if (!tg_json_open(&root, out->file, value, err) || !tg_json_schema(&root, TG_MANIFEST_SCHEMA)) return false;
  if (!tg_json_text(&root, "about", &out->about) || !tg_json_choice(&root, "purpose", purposes, 2, &purpose))
    return false;
  out->purpose = (enum tg_purpose)purpose;
  if (!decode_gates(out, &root) || !check_references(out, &root)) return false;
  // Rows and sets belong to a manifest that replays; elsewhere they are unknown keys.
  if (out->purpose == TG_PURPOSE_REPLAY && (!check_sets(out, &root) || !decode_rows(out, &root))) return false;
  return tg_json_close(&root);
}

// Takes over `value`, which is NULL if it could not be parsed.
static struct tg_manifest *from_json(const char *file, json_t *value, struct tg_error *err) {
  if (value == NULL) return NULL;
  struct tg_manifest *manifest = calloc(1, sizeof(*manifest));
  struct backing *backing = calloc(1, sizeof(*backing));
  char *name = strdup(file);
  if (manifest == NULL || backing == NULL || name == NULL) {
    tg_error_set(err, "%s: out of memory", file);
    free(manifest);
    free(backing);
    free(name);
    json_decref(value);
    return NULL;
  }
  *backing = (struct backing){.file = name, .root = value};
  manifest->impl = backing;
  manifest->file = name;
  if (decode(manifest, value, err)) return manifest;
  tg_manifest_free(manifest);
  return NULL;
}

struct tg_manifest *tg_manifest_load(const char *file, struct tg_error *err) {
  return from_json(file, tg_json_load(file, err), err);
}

struct tg_manifest *tg_manifest_parse(const char *file, const char *text, size_t len, struct tg_error *err) {
  return from_json(file, tg_json_parse(file, text, len, err), err);
}

void tg_manifest_free(struct tg_manifest *manifest) {
  if (manifest == NULL) return;
  struct backing *backing = manifest->impl;
  for (size_t i = 0; i < manifest->num_rows; i++) free(manifest->rows[i].values);
  free(manifest->rows);
  free(manifest->gates);
  json_decref(backing->root);
  free(backing->file);
  free(backing);
  free(manifest);
}

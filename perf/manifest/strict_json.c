#include "perf/manifest/strict_json.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t kParseFlags = JSON_REJECT_DUPLICATES;

static json_t *parsed(const char *file, json_t *value, const json_error_t *error, struct tg_error *err) {
  if (value == NULL) {
    tg_error_set(err, "%s:%d:%d: %s; correct the JSON there", file, error->line, error->column, error->text);
  }
  return value;
}

json_t *tg_json_parse(const char *file, const char *text, size_t len, struct tg_error *err) {
  json_error_t error;
  return parsed(file, json_loadb(text, len, kParseFlags, &error), &error, err);
}

json_t *tg_json_load(const char *file, struct tg_error *err) {
  FILE *stream = fopen(file, "rb");
  if (stream == NULL) {
    tg_error_set(err, "%s: cannot be opened: %s; check the path", file, strerror(errno));
    return NULL;
  }
  // Read whole and with a limit, so that a device or a directory is an error and not an endless parse.
  char *text = malloc(TG_JSON_FILE_MAX + 1);
  size_t len = text == NULL ? 0 : fread(text, 1, TG_JSON_FILE_MAX + 1, stream);
  const int failure = text == NULL ? ENOMEM : ferror(stream) ? errno : 0;
  (void)fclose(stream);
  json_t *value = NULL;
  if (failure != 0) {
    tg_error_set(err, "%s: cannot be read: %s", file, strerror(failure));
  } else if (len > TG_JSON_FILE_MAX) {
    tg_error_set(err, "%s: larger than %zu bytes; this is not one of tlsgate's files", file, TG_JSON_FILE_MAX);
  } else {
    value = tg_json_parse(file, text, len, err);
  }
  free(text);
  return value;
}

bool tg_json_fail(struct tg_json_place *place, const char *key, const char *format, ...) {
  char what[320];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof(what), format, args);
  va_end(args);
  const char *dot = place->path[0] == '\0' || key == NULL ? "" : ".";
  const char *where = place->path[0] == '\0' && key == NULL ? "root" : place->path;
  tg_error_set(place->err, "%s: %s%s%.60s: %s", place->file, where, dot, key == NULL ? "" : key, what);
  return false;
}

static const char *type_name(const json_t *value) {
  switch (json_typeof(value)) {
    case JSON_OBJECT:
      return "an object";
    case JSON_ARRAY:
      return "an array";
    case JSON_STRING:
      return "a string";
    case JSON_INTEGER:
      return "an integer";
    case JSON_REAL:
      return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
      return "a boolean";
    case JSON_NULL:
      break;
  }
  return "null";
}

static json_t *look_up(struct tg_json_place *place, const char *key) {
  for (size_t i = 0; i < place->num_known; i++) {
    if (strcmp(place->known[i], key) == 0) return json_object_get(place->object, key);
  }
  assert(place->num_known < TG_JSON_KEYS_MAX);
  place->known[place->num_known++] = key;
  return json_object_get(place->object, key);
}

static json_t *require(struct tg_json_place *place, const char *key, const char *expected) {
  json_t *value = look_up(place, key);
  if (value == NULL) tg_json_fail(place, key, "missing; it is required and must be %s", expected);
  return value;
}

static bool wrong_type(struct tg_json_place *place, const char *key, const json_t *value, const char *expected) {
  return tg_json_fail(place, key, "must be %s, is %s", expected, type_name(value));
}

static bool enter(struct tg_json_place *out, const struct tg_json_place *from, json_t *value) {
  out->file = from->file;
  out->err = from->err;
  out->object = value;
  out->num_known = 0;
  if (json_is_object(value)) return true;
  return tg_json_fail(out, NULL, "must be an object, is %s", type_name(value));
}

bool tg_json_open(struct tg_json_place *out, const char *file, json_t *value, struct tg_error *err) {
  const struct tg_json_place nowhere = {.file = file, .err = err};
  out->path[0] = '\0';
  return enter(out, &nowhere, value);
}

bool tg_json_schema(struct tg_json_place *place, int supported) {
  json_t *value = require(place, "schema", "an integer");
  if (value == NULL) return false;
  if (!json_is_integer(value)) return wrong_type(place, "schema", value, "an integer");
  if (json_integer_value(value) == supported) return true;
  return tg_json_fail(place, "schema",
                      "version %lld is not known, this build reads version %d; use a tlsgate of the file's version, or "
                      "bring the file to version %d as docs/gates.md or docs/evidence.md describes it",
                      (long long)json_integer_value(value), supported, supported);
}

bool tg_json_has(struct tg_json_place *place, const char *key) {
  return look_up(place, key) != NULL;
}

bool tg_json_text(struct tg_json_place *place, const char *key, const char **out) {
  json_t *value = require(place, key, "a string");
  if (value == NULL) return false;
  if (!json_is_string(value)) return wrong_type(place, key, value, "a string");
  const char *text = json_string_value(value);
  for (const char *c = text; *c != '\0'; c++) {
    // Texts are shown on lines of their own, in terminals too.
    if ((unsigned char)*c < ' ' || *c == 0x7f) return tg_json_fail(place, key, "must not have control characters");
  }
  if (text[strspn(text, " ")] == '\0') return tg_json_fail(place, key, "must not be empty");
  *out = text;
  return true;
}

bool tg_json_optional_text(struct tg_json_place *place, const char *key, const char **out) {
  *out = NULL;
  return !tg_json_has(place, key) || tg_json_text(place, key, out);
}

bool tg_json_choice(struct tg_json_place *place, const char *key, const char *const *names, size_t num, int *out) {
  const char *text = NULL;
  if (!tg_json_text(place, key, &text)) return false;
  assert(text != NULL);
  char list[256] = "";
  for (size_t i = 0; i < num; i++) {
    if (strcmp(text, names[i]) == 0) {
      *out = (int)i;
      return true;
    }
    const size_t used = strlen(list);
    snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ", names[i]);
  }
  return tg_json_fail(place, key, "\"%.60s\" is none of: %s", text, list);
}

bool tg_json_number(struct tg_json_place *place, const char *key, double *out) {
  json_t *value = require(place, key, "a number");
  if (value == NULL) return false;
  if (!json_is_number(value)) return wrong_type(place, key, value, "a number");
  *out = json_number_value(value);
  assert(isfinite(*out));
  return true;
}

bool tg_json_positive(struct tg_json_place *place, const char *key, double *out) {
  if (!tg_json_number(place, key, out)) return false;
  return *out > 0 || tg_json_fail(place, key, "must be above 0, is %g", *out);
}

bool tg_json_value_number(struct tg_json_place *place, const char *key, const json_t *value, double *out) {
  if (!json_is_number(value)) return wrong_type(place, key, value, "a number");
  *out = json_number_value(value);
  return *out >= 0 || tg_json_fail(place, key, "must not be below 0, is %g", *out);
}

bool tg_json_integer(struct tg_json_place *place, const char *key, long long low, long long high, long long *out) {
  json_t *value = require(place, key, "an integer");
  if (value == NULL) return false;
  if (!json_is_integer(value)) return wrong_type(place, key, value, "an integer");
  *out = json_integer_value(value);
  if (*out >= low && *out <= high) return true;
  return tg_json_fail(place, key, "must be between %lld and %lld, is %lld", low, high, *out);
}

bool tg_json_optional_bool(struct tg_json_place *place, const char *key, bool *out) {
  json_t *value = look_up(place, key);
  if (value == NULL) return true;
  if (!json_is_boolean(value)) return wrong_type(place, key, value, "true or false");
  *out = json_is_true(value);
  return true;
}

bool tg_json_is_null(struct tg_json_place *place, const char *key) {
  return json_is_null(look_up(place, key));
}

bool tg_json_object(struct tg_json_place *place, const char *key, struct tg_json_place *out) {
  json_t *value = require(place, key, "an object");
  if (value == NULL) return false;
  const bool root = place->path[0] == '\0';
  snprintf(out->path, sizeof(out->path), "%.120s%s%.32s", place->path, root ? "" : ".", key);
  return enter(out, place, value);
}

bool tg_json_array(struct tg_json_place *place, const char *key, json_t **out) {
  *out = require(place, key, "an array");
  if (*out == NULL) return false;
  return json_is_array(*out) || wrong_type(place, key, *out, "an array");
}

bool tg_json_element(struct tg_json_place *place, const char *key, size_t index, struct tg_json_place *out) {
  json_t *array = NULL;
  if (!tg_json_array(place, key, &array)) return false;
  assert(index < json_array_size(array));
  const bool root = place->path[0] == '\0';
  snprintf(out->path, sizeof(out->path), "%.80s%s%.32s[%zu]", place->path, root ? "" : ".", key, index);
  return enter(out, place, json_array_get(array, index));
}

bool tg_json_close(struct tg_json_place *place) {
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(place->object, key, value) {
    bool known = false;
    for (size_t i = 0; i < place->num_known && !known; i++) known = strcmp(place->known[i], key) == 0;
    if (!known)
      return tg_json_fail(place, key,
                          "unknown key; remove it, or check its spelling against docs/gates.md or docs/evidence.md");
  }
  return true;
}

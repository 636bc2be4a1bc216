// A strict decoder for the project's own JSON files, on top of jansson.
//
// Every function that takes a key checks its presence and type; tg_json_close then refuses keys that nobody asked for.
// Errors name the file, the place ("gates[3].bound") and what was expected there. Duplicate keys are refused
// while the file is parsed.
//
//   struct tg_json_place root, gate;
//   ... tg_json_open(&root, file, value, err) && tg_json_text(&root, "name", &name) && ... && tg_json_close(&root)
//
// All functions return false with the error filled in when the input is not as asked for.
#ifndef TLSGATE_PERF_MANIFEST_STRICT_JSON_H
#define TLSGATE_PERF_MANIFEST_STRICT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

// The largest file that tg_json_load reads.
#define TG_JSON_FILE_MAX ((size_t)16 << 20)

// The most keys of one object that can be asked for.
#define TG_JSON_KEYS_MAX 64

// An object being decoded.
struct tg_json_place {
  const char *file;      // borrowed
  char path[160];        // of the object in the file; empty at the root
  json_t *object;        // borrowed
  struct tg_error *err;  // borrowed; may be NULL
  const char *known[TG_JSON_KEYS_MAX];
  size_t num_known;
};

// tg_json_load parses `file`. Returns a new reference, or NULL with `err` filled in: with line and column for a
// syntax error, and for duplicate keys and trailing text, which are refused.
json_t *tg_json_load(const char *file, struct tg_error *err);

// tg_json_parse is tg_json_load for `len` bytes of text; `file` is the name for errors.
json_t *tg_json_parse(const char *file, const char *text, size_t len, struct tg_error *err);

// tg_json_open starts decoding the root `value` (borrowed, as is `file`), which must be an object.
bool tg_json_open(struct tg_json_place *out, const char *file, json_t *value, struct tg_error *err);

// tg_json_schema requires the key "schema" to be the integer `supported`, and says what to do when it is not.
bool tg_json_schema(struct tg_json_place *place, int supported);

// tg_json_has says whether the object has the key, which thereby becomes known.
bool tg_json_has(struct tg_json_place *place, const char *key);

// tg_json_text reads a required string that is not blank and has no control characters. It is borrowed from the JSON
// value.
bool tg_json_text(struct tg_json_place *place, const char *key, const char **out);

// tg_json_optional_text is tg_json_text for a key that may be absent (never null); then *out is NULL.
bool tg_json_optional_text(struct tg_json_place *place, const char *key, const char **out);

// tg_json_choice reads a required string that must be one of `num` names, and stores its index.
bool tg_json_choice(struct tg_json_place *place, const char *key, const char *const *names, size_t num, int *out);

// tg_json_number reads a required, finite number (integer or real).
bool tg_json_number(struct tg_json_place *place, const char *key, double *out);

// tg_json_positive is tg_json_number for a number above 0.
bool tg_json_positive(struct tg_json_place *place, const char *key, double *out);

// tg_json_value_number is tg_json_number for a `value` found at `key` by iterating over an object whose keys are data;
// the number must be at least 0.
bool tg_json_value_number(struct tg_json_place *place, const char *key, const json_t *value, double *out);

// tg_json_integer reads a required integer between `low` and `high`.
bool tg_json_integer(struct tg_json_place *place, const char *key, long long low, long long high, long long *out);

// tg_json_optional_bool reads a boolean that may be absent; then *out is left alone.
bool tg_json_optional_bool(struct tg_json_place *place, const char *key, bool *out);

// tg_json_is_null says whether the key is present with the value null. The key becomes known.
bool tg_json_is_null(struct tg_json_place *place, const char *key);

// tg_json_object starts decoding the required object at `key`.
bool tg_json_object(struct tg_json_place *place, const char *key, struct tg_json_place *out);

// tg_json_array reads a required array; *out is borrowed.
bool tg_json_array(struct tg_json_place *place, const char *key, json_t **out);

// tg_json_element starts decoding element `index` of the array at `key`, which must be an object.
bool tg_json_element(struct tg_json_place *place, const char *key, size_t index, struct tg_json_place *out);

// tg_json_close refuses keys that no function above asked for.
bool tg_json_close(struct tg_json_place *place);

// tg_json_fail reports a problem of the value at `key` (NULL: of the object itself) and returns false.
bool tg_json_fail(struct tg_json_place *place, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

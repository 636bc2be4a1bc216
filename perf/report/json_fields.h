// What decoding and encoding of reports need beyond strict_json: values that may be null, fixed formats, and an array
// of names made from a function.
#ifndef TLSGATE_PERF_REPORT_JSON_FIELDS_H
#define TLSGATE_PERF_REPORT_JSON_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "perf/manifest/strict_json.h"

// tg_field_text_or_null reads a required key that is a text (tg_json_text) or null; then *out is NULL.
bool tg_field_text_or_null(struct tg_json_place *place, const char *key, const char **out);

// tg_field_number_or_null reads a required key that is a number or null; *known says which, and *out is 0 for null.
bool tg_field_number_or_null(struct tg_json_place *place, const char *key, bool *known, double *out);

// tg_field_bool reads a required boolean.
bool tg_field_bool(struct tg_json_place *place, const char *key, bool *out);

// tg_field_size reads a required integer between 0 and `high`.
bool tg_field_size(struct tg_json_place *place, const char *key, size_t high, size_t *out);

// tg_field_hex reads a required text of `len` lower-case hexadecimal digits.
bool tg_field_hex(struct tg_json_place *place, const char *key, size_t len, const char **out);

// tg_field_time reads a required UTC time, "2026-01-31T23:59:59Z".
bool tg_field_time(struct tg_json_place *place, const char *key, const char **out);

// tg_field_name reads a required text that is name(i) of one i below `num` (at most 16), and stores i.
bool tg_field_name(struct tg_json_place *place, const char *key, const char *(*name)(int), int num, int *out);

// tg_field_any_object reads a required object whose keys nobody checks; borrowed.
bool tg_field_any_object(struct tg_json_place *place, const char *key, const json_t **out);

// tg_field_object_or_null starts decoding a required key that is an object or null; *present says which.
bool tg_field_object_or_null(struct tg_json_place *place, const char *key, bool *present, struct tg_json_place *out);

// The other direction. Each returns a new value.
json_t *tg_field_from_text(const char *text_or_null);
json_t *tg_field_from_number(bool known, double value);       // null if not known, or not finite
json_t *tg_field_from_borrowed(const json_t *value_or_null);  // takes a reference

#endif

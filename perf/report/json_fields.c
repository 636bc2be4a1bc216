#include "perf/report/json_fields.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define NAMES_MAX 16

bool tg_field_text_or_null(struct tg_json_place *place, const char *key, const char **out) {
  *out = NULL;
  return tg_json_is_null(place, key) || tg_json_text(place, key, out);
}

bool tg_field_number_or_null(struct tg_json_place *place, const char *key, bool *known, double *out) {
  *out = 0;
  *known = !tg_json_is_null(place, key);
  return !*known || tg_json_number(place, key, out);
}

bool tg_field_bool(struct tg_json_place *place, const char *key, bool *out) {
  if (!tg_json_has(place, key)) {
    return tg_json_fail(place, key, "missing; it is required and must be true or false");
  }
  return tg_json_optional_bool(place, key, out);
}

bool tg_field_size(struct tg_json_place *place, const char *key, size_t high, size_t *out) {
  long long value = 0;
  if (!tg_json_integer(place, key, 0, (long long)high, &value)) {
    return false;
  }
  *out = (size_t)value;
  return true;
}

bool tg_field_hex(struct tg_json_place *place, const char *key, size_t len, const char **out) {
  if (!tg_json_text(place, key, out)) {
    return false;
  }
  if (strlen(*out) == len && (*out)[strspn(*out, "0123456789abcdef")] == '\0') {
    return true;
  }
  return tg_json_fail(place, key, "must be %zu lower-case hexadecimal digits", len);
}

bool tg_field_time(struct tg_json_place *place, const char *key, const char **out) {
  static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
  if (!tg_json_text(place, key, out)) {
    return false;
  }
  bool ok = strlen(*out) == sizeof(form) - 1;
  for (size_t i = 0; ok && form[i] != '\0'; i++) {
    char c = (*out)[i];
    ok = form[i] == 'd' ? c >= '0' && c <= '9' : c == form[i];
  }
  return ok || tg_json_fail(place, key, "\"%.40s\" is no time in UTC such as 2026-01-31T23:59:59Z", *out);
}

bool tg_field_name(struct tg_json_place *place, const char *key, const char *(*name)(int), int num, int *out) {
  const char *names[NAMES_MAX];
  assert(num <= NAMES_MAX);
  for (int i = 0; i < num; i++) {
    names[i] = name(i);
  }
  return tg_json_choice(place, key, names, (size_t)num, out);
}

bool tg_field_any_object(struct tg_json_place *place, const char *key, const json_t **out) {
  struct tg_json_place inside;
  if (!tg_json_object(place, key, &inside)) {
    return false;
  }
  *out = inside.object;
  return true;
}

bool tg_field_object_or_null(struct tg_json_place *place, const char *key, bool *present, struct tg_json_place *out) {
  *present = !tg_json_is_null(place, key);
  return !*present || tg_json_object(place, key, out);
}

json_t *tg_field_from_text(const char *text_or_null) {
  return text_or_null == NULL ? json_null() : json_string(text_or_null);
}

json_t *tg_field_from_number(bool known, double value) {
  return known && isfinite(value) ? json_real(value) : json_null();
}

json_t *tg_field_from_borrowed(const json_t *value_or_null) {
  // Only the count of references changes.
  return value_or_null == NULL ? json_null() : json_incref((json_t *)value_or_null);
}

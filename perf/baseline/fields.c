#include "perf/baseline/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/report/json_fields.h"

enum { NAME_LEN_MAX = 48, DIGITS = 9 };  // no clock here resolves more than 9 digits

bool tg_generated_schema(struct tg_json_place *place, int supported, const char *remedy) {
  long long version = 0;
  if (!tg_json_integer(place, "schema", 0, 1LL << 40, &version)) {
    return false;
  }
  return version == supported || tg_json_fail(place, "schema",
                                              "version %lld is not known, this build reads version %d; use a tlsgate "
                                              "of the file's version, or %s",
                                              version, supported, remedy);
}

bool tg_metric_key(struct tg_json_place *place, const char *key) {
  const size_t good = strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_");
  return (key[good] == '\0' && good <= NAME_LEN_MAX && key[0] >= 'a' && key[0] <= 'z') ||
         tg_json_fail(place, NULL, "\"%.60s\" is not a metric's name: [a-z][a-z0-9_]*, at most %d characters", key,
                      NAME_LEN_MAX);
}

static const char *profile_name(int profile) {
  return tg_profile_name((enum tg_profile)profile);
}

bool tg_profile_field(struct tg_json_place *place, enum tg_profile *out) {
  int profile = 0;
  if (!tg_field_name(place, "profile", profile_name, TG_PROFILE_PUBLISHED + 1, &profile)) {
    return false;
  }
  *out = (enum tg_profile)profile;
  return true;
}

char *tg_json_dump(json_t *value) {
  char *text = value == NULL ? NULL : json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS));
  json_decref(value);
  const size_t len = text == NULL ? 0 : strlen(text);
  char *whole = text == NULL ? NULL : realloc(text, len + 2);
  if (whole == NULL) {
    free(text);
    return NULL;
  }
  memcpy(whole + len, "\n", 2);
  return whole;
}

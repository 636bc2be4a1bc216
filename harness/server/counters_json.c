#include "harness/server/counters_json.h"

#include <assert.h>
#include <jansson.h>

size_t tg_counters_json(char out[TG_COUNTERS_JSON_SIZE], const struct tg_counters *counters) {
  json_t *object = json_object();
  if (object == NULL) {
    return 0;
  }
  int failed = 0;
#define TG_COUNTER_MEMBER(name, meaning) \
  failed |= json_object_set_new(object, #name, json_integer((json_int_t)counters->name));
  TG_COUNTERS(TG_COUNTER_MEMBER)
#undef TG_COUNTER_MEMBER
  size_t len = failed != 0 ? 0 : json_dumpb(object, out, TG_COUNTERS_JSON_SIZE - 1, JSON_COMPACT);
  json_decref(object);
  assert(len < TG_COUNTERS_JSON_SIZE);
  out[len] = '\0';
  return len;
}

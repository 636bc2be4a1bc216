#include "harness/faults/runner/record.h"

#include <stdio.h>
#include <string.h>

#include "perf/manifest/strict_json.h"

json_t *tg_fault_record_encode(const struct tg_fault_record *record) {
  return json_pack("{s:i, s:s, s:s, s:b, s:s, s:s, s:I, s:f, s:s, s:s}", "schema", 1, "fault", record->fault, "check",
                   record->check, "caught", (int)record->caught, "said", record->said, "how", record->how, "executions",
                   (json_int_t)record->executions, "seconds", record->seconds, "input", record->input, "line",
                   record->line);
}

// A text that may be empty, where tg_json_text wants one that is not.
static bool read_text(struct tg_json_place *place, const char *key, char *out, size_t size) {
  const char *text = json_string_value(json_object_get(place->object, key));
  if (!tg_json_has(place, key) || text == NULL) {
    return tg_json_fail(place, key, "must be a text");
  }
  (void)snprintf(out, size, "%s", text);
  return true;
}

static bool decode(json_t *json, const char *file, struct tg_fault_record *out, struct tg_error *err) {
  struct tg_json_place root;
  *out = (struct tg_fault_record){0};
  if (!tg_json_open(&root, file, json, err) || !tg_json_schema(&root, 1)) {
    return false;
  }
  if (!tg_json_has(&root, "caught") || !tg_json_optional_bool(&root, "caught", &out->caught)) {
    return tg_json_fail(&root, "caught", "must be true or false");
  }
  return read_text(&root, "fault", out->fault, sizeof(out->fault)) &&
         read_text(&root, "check", out->check, sizeof(out->check)) &&
         read_text(&root, "said", out->said, sizeof(out->said)) &&
         read_text(&root, "how", out->how, sizeof(out->how)) &&
         tg_json_integer(&root, "executions", 0, 1LL << 40, &out->executions) &&
         tg_json_number(&root, "seconds", &out->seconds) && read_text(&root, "input", out->input, sizeof(out->input)) &&
         read_text(&root, "line", out->line, sizeof(out->line)) && tg_json_close(&root);
}

bool tg_fault_record_load(const char *file, struct tg_fault_record *out, struct tg_error *err) {
  json_t *json = tg_json_load(file, err);
  bool ok = json != NULL && decode(json, file, out, err);
  json_decref(json);
  return ok;
}

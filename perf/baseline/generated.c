#include "perf/baseline/generated.h"

#include <stdlib.h>
#include <string.h>

#include "perf/baseline/fields.h"
#include "perf/manifest/strict_json.h"

struct meant {
  const char *text;
  bool (*decodes)(const char *path, struct tg_error *err);
};

static bool reads_back(const char *path, void *context, struct tg_error *err) {
  const struct meant *meant = context;
  if (!meant->decodes(path, err)) {
    return false;
  }
  json_t *there = tg_json_load(path, err);
  json_t *here = there == NULL ? NULL : tg_json_parse(path, meant->text, strlen(meant->text), err);
  const bool same = here != NULL && json_equal(there, here) != 0;
  if (here != NULL && !same) {
    tg_error_set(err, "%s: reads back as something else than was written; the disk is not to be trusted", path);
  }
  json_decref(there);
  json_decref(here);
  return same;
}

bool tg_generated_publish(struct tg_staged *staged, json_t *value,
                          bool (*decodes)(const char *path, struct tg_error *err), struct tg_error *err) {
  struct meant meant = {.text = tg_json_dump(value), .decodes = decodes};
  if (meant.text == NULL) {
    tg_error_set(err, "%s: out of memory", staged->file);
    tg_staged_abandon(staged);
    return false;
  }
  const bool ok = tg_staged_publish(staged, meant.text, strlen(meant.text), reads_back, &meant, err);
  free((char *)meant.text);
  return ok;
}

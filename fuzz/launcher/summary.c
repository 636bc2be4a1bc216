#include "fuzz/launcher/summary.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/manifest/strict_json.h"

static const char *const engines[] = {"libfuzzer", "afl"};

bool tg_fuzz_summary_write(const char *path, const struct tg_fuzz_summary *summary, struct tg_error *err) {
  json_t *json = json_pack("{s:i, s:s, s:s, s:I, s:f, s:I, s:I, s:I, s:o}", "schema", TG_FUZZ_SUMMARY_SCHEMA, "target",
                           summary->target, "engine", summary->engine, "asked_s", (json_int_t)summary->asked_s,
                           "elapsed_s", summary->elapsed_s, "executions", (json_int_t)summary->executions, "edges",
                           (json_int_t)summary->edges, "new_entries", (json_int_t)summary->new_entries, "finding",
                           summary->has_finding ? json_string(summary->finding) : json_null());
  char beside[PATH_MAX];
  bool ok = snprintf(beside, sizeof(beside), "%s.%ld", path, (long)getpid()) < (int)sizeof(beside) && json != NULL &&
            json_dump_file(json, beside, JSON_INDENT(2)) == 0 && rename(beside, path) == 0;
  if (!ok) {
    tg_error_set(err, "--summary: cannot write %s: %s", path, json == NULL ? "out of memory" : strerror(errno));
    (void)unlink(beside);
  }
  json_decref(json);
  return ok;
}

static bool read_count(struct tg_json_place *place, const char *key, long long least, uint64_t *out) {
  long long value;
  if (!tg_json_integer(place, key, least, LLONG_MAX, &value)) {
    return false;
  }
  *out = (uint64_t)value;
  return true;
}

static bool decode(struct tg_json_place *place, struct tg_fuzz_summary *out) {
  const char *target;
  const char *finding = "";
  int engine;
  if (!tg_json_schema(place, TG_FUZZ_SUMMARY_SCHEMA) || !tg_json_text(place, "target", &target) ||
      !tg_json_choice(place, "engine", engines, sizeof(engines) / sizeof(engines[0]), &engine) ||
      !read_count(place, "asked_s", 1, &out->asked_s) || !tg_json_positive(place, "elapsed_s", &out->elapsed_s) ||
      !read_count(place, "executions", 0, &out->executions) || !read_count(place, "edges", 0, &out->edges) ||
      !read_count(place, "new_entries", 0, &out->new_entries)) {
    return false;
  }
  out->has_finding = !tg_json_is_null(place, "finding");
  if (out->has_finding && !tg_json_text(place, "finding", &finding)) {
    return false;
  }
  if (strlen(target) >= sizeof(out->target)) {
    return tg_json_fail(place, "target", "is too long a name");
  }
  if (strlen(finding) >= sizeof(out->finding) || strchr(finding, '/') != NULL) {
    return tg_json_fail(place, "finding", "must be the name of a file in the folder of findings");
  }
  (void)snprintf(out->target, sizeof(out->target), "%s", target);
  (void)snprintf(out->engine, sizeof(out->engine), "%s", engines[engine]);
  (void)snprintf(out->finding, sizeof(out->finding), "%s", finding);
  return tg_json_close(place);
}

bool tg_fuzz_summary_load(const char *path, struct tg_fuzz_summary *out, struct tg_error *err) {
  *out = (struct tg_fuzz_summary){.has_finding = false};
  json_t *json = tg_json_load(path, err);
  struct tg_json_place place;
  bool ok = json != NULL && tg_json_open(&place, path, json, err) && decode(&place, out);
  json_decref(json);
  return ok;
}

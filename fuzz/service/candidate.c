#include "fuzz/service/candidate.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"
#include "fuzz/service/durable.h"
#include "fuzz/service/explanation.h"
#include "fuzz/service/layout.h"
#include "fuzz/service/state.h"
#include "perf/manifest/strict_json.h"

#define DIGITS 17  // a double reads back as it was

void tg_candidate_name(const struct tg_signature *signature, char out[64]) {
  (void)snprintf(out, 64, "%s-%s", signature->kind, signature->key);
}

static void path_of(char out[PATH_MAX], const char *root, const char *target, const char *name, const char *suffix) {
  char file[NAME_MAX + 1];
  (void)snprintf(file, sizeof(file), "%s/%s%s", suffix[0] == '\0' ? "regressions" : "explanations", name, suffix);
  tg_layout(out, root, "candidates", target, file);
}

static bool read_count(struct tg_json_place *place, const char *key, uint64_t *out) {
  long long value;
  if (!tg_json_integer(place, key, 0, LLONG_MAX, &value)) {
    return false;
  }
  *out = (uint64_t)value;
  return true;
}

static bool read_text(struct tg_json_place *place, const char *key, char *out, size_t size) {
  const char *text;
  if (!tg_json_text(place, key, &text)) {
    return false;
  }
  if (strlen(text) >= size) {
    return tg_json_fail(place, key, "is too long");
  }
  (void)snprintf(out, size, "%s", text);
  return true;
}

static bool load(const char *path, struct tg_candidate *out, struct tg_error *err) {
  *out = (struct tg_candidate){.size = 0};
  json_t *json = tg_json_load(path, err);
  struct tg_json_place place;
  bool ok = json != NULL && tg_json_open(&place, path, json, err) && tg_json_schema(&place, TG_CANDIDATE_SCHEMA) &&
            read_text(&place, "target", out->target, sizeof(out->target)) &&
            read_text(&place, "name", out->name, sizeof(out->name)) &&
            read_text(&place, "says", out->line, sizeof(out->line)) &&
            read_text(&place, "engine", out->engine, sizeof(out->engine)) &&
            tg_json_positive(&place, "found_at_s", &out->found_at_s) && read_count(&place, "size", &out->size) &&
            read_count(&place, "original_size", &out->original_size) && read_count(&place, "seen", &out->seen) &&
            tg_json_close(&place);
  json_decref(json);
  return ok;
}

bool tg_candidate_find(const char *root, const char *target, const char *name, struct tg_candidate *out) {
  char input[PATH_MAX];
  char record[PATH_MAX];
  path_of(input, root, target, name, "");
  path_of(record, root, target, name, ".json");
  // A record that cannot be read is written anew, with the input that is looked at now.
  return access(input, F_OK) == 0 && load(record, out, NULL);
}

bool tg_candidate_save(const char *root, const struct tg_candidate *candidate, struct tg_error *err) {
  char path[PATH_MAX];
  path_of(path, root, candidate->target, candidate->name, ".json");
  // What a target prints need not be UTF-8, which JSON is.
  char says[sizeof(candidate->line)];
  (void)snprintf(says, sizeof(says), "%s", candidate->line);
  for (char *c = says; *c != '\0'; c++) {
    *c = (char)((unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f ? '?' : *c);
  }
  json_t *json = json_pack("{s:i, s:s, s:s, s:s, s:s, s:f, s:I, s:I, s:I}", "schema", TG_CANDIDATE_SCHEMA, "target",
                           candidate->target, "name", candidate->name, "says", says, "engine", candidate->engine,
                           "found_at_s", candidate->found_at_s, "size", (json_int_t)candidate->size, "original_size",
                           (json_int_t)candidate->original_size, "seen", (json_int_t)candidate->seen);
  char *text = json != NULL ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS)) : NULL;
  if (text == NULL) {
    tg_error_set(err, "cannot write %s: out of memory", path);
  }
  bool ok = text != NULL && tg_fuzzd_write(path, text, strlen(text), err);
  free(text);
  json_decref(json);
  return ok;
}

bool tg_candidate_file(const char *root, const struct tg_fuzz_target *target, const struct tg_candidate *candidate,
                       const struct tg_signature *signature, const char *input, const char *log, struct tg_error *err) {
  char place[PATH_MAX];
  char explanation[PATH_MAX];
  path_of(place, root, candidate->target, candidate->name, "");
  path_of(explanation, root, candidate->target, candidate->name, ".txt");
  char *text = tg_explanation(target, candidate, signature, input, place, log, err);
  bool ok = text != NULL && tg_fuzzd_write(explanation, text, strlen(text), err) &&
            tg_candidate_save(root, candidate, err) && tg_fuzzd_copy(input, place, err);
  free(text);
  return ok;
}

static int latest_first(const void *a, const void *b) {
  const struct tg_candidate *x = a;
  const struct tg_candidate *y = b;
  if (x->found_at_s != y->found_at_s) {
    return x->found_at_s > y->found_at_s ? -1 : 1;
  }
  return strcmp(x->name, y->name);
}

struct tg_candidate *tg_candidate_list(const char *root, size_t max, size_t *num, size_t *all) {
  char folder[PATH_MAX];
  tg_path(folder, "%s/candidates", root);
  struct tg_file_list files = {0};
  struct tg_candidate *list = NULL;
  *num = 0;
  *all = 0;
  if (tg_files_add(&files, folder, NULL)) {
    list = calloc(files.num + 1, sizeof(*list));
  }
  for (size_t i = 0; list != NULL && i < files.num; i++) {
    const char *dot = strrchr(files.paths[i], '.');
    struct tg_candidate found;
    if (dot != NULL && strcmp(dot, ".json") == 0 && load(files.paths[i], &found, NULL) &&
        tg_candidate_find(root, found.target, found.name, &found)) {
      list[(*all)++] = found;
    }
  }
  tg_files_free(&files);
  if (list != NULL) {
    qsort(list, *all, sizeof(*list), latest_first);
  }
  *num = *all < max ? *all : max;
  if (*num == 0) {
    free(list);
    list = NULL;
  }
  return list;
}

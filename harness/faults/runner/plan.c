#include "harness/faults/runner/plan.h"

#include <stdlib.h>
#include <string.h>

#include "perf/manifest/strict_json.h"

static bool read_texts(struct tg_json_place *place, const char *key, const char **out, size_t max, size_t *out_num) {
  json_t *array;
  if (!tg_json_array(place, key, &array)) {
    return false;
  }
  *out_num = json_array_size(array);
  if (*out_num > max) {
    return tg_json_fail(place, key, "has %zu elements, and %zu are the most", *out_num, max);
  }
  for (size_t i = 0; i < *out_num; i++) {
    out[i] = json_string_value(json_array_get(array, i));
    if (out[i] == NULL || out[i][0] == '\0') {
      return tg_json_fail(place, key, "element %zu is not a text", i);
    }
  }
  return true;
}

static bool read_program(struct tg_json_place *root, const char *key, struct tg_fault_program *out) {
  struct tg_json_place place;
  return tg_json_object(root, key, &place) && tg_json_text(&place, "path", &out->path) &&
         read_texts(&place, "arguments", out->arguments, TG_FAULT_ARGUMENTS_MAX, &out->num_arguments) &&
         tg_json_close(&place);
}

// Regressions come first: there are fewer of them than of seeds, and each shows a bug.
static int in_order(const void *a, const void *b) {
  const char *left = *(const char *const *)a;
  const char *right = *(const char *const *)b;
  bool left_shows = strstr(left, "/regressions/") != NULL;
  bool right_shows = strstr(right, "/regressions/") != NULL;
  return left_shows != right_shows ? (int)right_shows - (int)left_shows : strcmp(left, right);
}

static bool decode(struct tg_fault_plan *out, const char *file, struct tg_error *err) {
  struct tg_json_place root;
  bool ok = tg_json_open(&root, file, out->json, err) && tg_json_schema(&root, 1) &&
            tg_json_text(&root, "fault", &out->fault) && tg_json_text(&root, "check", &out->check) &&
            read_texts(&root, "caught_by", out->caught_by, TG_FAULT_CAUGHT_BY_MAX, &out->num_caught_by) &&
            read_program(&root, "patched", &out->patched) && read_program(&root, "clean", &out->clean) &&
            tg_json_integer(&root, "runs", 0, 1000000000, &out->runs) &&
            tg_json_integer(&root, "max_len", 0, 1 << 20, &out->max_len) &&
            read_texts(&root, "corpus", out->corpus, TG_FAULT_CORPUS_MAX, &out->num_corpus) && tg_json_close(&root);
  if (ok && (out->runs > 0) != (out->num_corpus > 0)) {
    return tg_json_fail(&root, "corpus", "a fuzz target has a corpus, and a test has none");
  }
  if (ok) {
    qsort(out->corpus, out->num_corpus, sizeof(out->corpus[0]), in_order);
  }
  return ok;
}

bool tg_fault_plan_load(const char *file, struct tg_fault_plan *out, struct tg_error *err) {
  *out = (struct tg_fault_plan){.json = tg_json_load(file, err)};
  if (out->json == NULL) {
    return false;
  }
  out->corpus = calloc(TG_FAULT_CORPUS_MAX, sizeof(out->corpus[0]));
  if (out->corpus == NULL) {
    tg_error_set(err, "no memory for the plan %s", file);
  }
  if (out->corpus == NULL || !decode(out, file, err)) {
    tg_fault_plan_free(out);
    return false;
  }
  return true;
}

void tg_fault_plan_free(struct tg_fault_plan *plan) {
  json_decref(plan->json);
  free(plan->corpus);
  *plan = (struct tg_fault_plan){0};
}

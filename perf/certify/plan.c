#include "perf/certify/plan.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "perf/manifest/strict_json.h"

static bool starts_with(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static bool ends_with(const char *text, const char *with) {
  size_t len = strlen(text);
  size_t tail = strlen(with);
  return len >= tail && strcmp(text + len - tail, with) == 0;
}

const char *tg_plan_part_of(const char *label) {
  static const struct {
    const char *label;  // whole, or a package's with its colon
    const char *part;
  } places[] = {
      {"//perf:gates_full", NULL},
      {"//perf:gates_selftest", "negative-control"},
      {"//perf:gates_faults", "negative-control"},
      {"//harness/kernel/conformance:", "conformance"},
      {"//harness/faults:", "faults"},
      {"//fuzz:", "corpora"},
  };
  for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
    bool package = ends_with(places[i].label, ":");
    if (package ? starts_with(label, places[i].label) : strcmp(label, places[i].label) == 0) {
      return places[i].part;
    }
  }
  return ends_with(label, "_asan") || ends_with(label, "_tsan") ? "instrumented" : "release";
}

// Calls `add` for each line; every line must be a label.
static bool each_label(const char *text, bool (*add)(json_t *to, const char *label), json_t *to, struct tg_error *err) {
  char label[512];
  for (const char *line = text; *line != '\0';) {
    size_t len = strcspn(line, "\n");
    (void)snprintf(label, sizeof(label), "%.*s", (int)(len < sizeof(label) ? len : sizeof(label) - 1), line);
    if (!starts_with(label, "//") || strchr(label, ':') == NULL) {
      tg_error_set(err, "bazel query printed \"%.80s\", which is no label", label);
      return false;
    }
    if (!add(to, label)) {
      tg_error_set(err, "out of memory");
      return false;
    }
    line += len + (line[len] == '\n');
  }
  return true;
}

static bool add_test(json_t *tests, const char *label) {
  const char *part = tg_plan_part_of(label);
  if (part == NULL) {
    return true;
  }
  json_t *labels = json_object_get(tests, part);
  if (labels == NULL) {
    labels = json_array();
    if (json_object_set_new(tests, part, labels) != 0) {
      return false;
    }
  }
  return json_array_append_new(labels, json_string(label)) == 0;
}

static bool add_other(json_t *others, const char *label) {
  // The same gates without the recorded baseline: //perf:gates_full is what is certified.
  return strcmp(label, "//perf:gates") == 0 || json_array_append_new(others, json_string(label)) == 0;
}

json_t *tg_plan_new(const char *certification, const char *others, struct tg_error *err) {
  json_t *tests = json_object();
  json_t *unplanned = json_array();
  json_t *plan = NULL;
  if (each_label(certification, add_test, tests, err) && each_label(others, add_other, unplanned, err)) {
    plan = json_pack("{s:i, s:O, s:O}", "schema", TG_PLAN_SCHEMA, "tests", tests, "unplanned", unplanned);
  }
  json_decref(tests);
  json_decref(unplanned);
  return plan;
}

static bool add_label(json_t *labels, const char *label) {
  return json_array_append_new(labels, json_string(label)) == 0;
}

json_t *tg_plan_labels(const char *printed, struct tg_error *err) {
  json_t *labels = json_array();
  if (!each_label(printed, add_label, labels, err)) {
    json_decref(labels);
    labels = NULL;
  }
  return labels;
}

static bool is_labels(const json_t *array) {
  size_t i;
  const json_t *label;
  json_array_foreach(array, i, label) {
    if (!json_is_string(label)) {
      return false;
    }
  }
  return json_is_array(array);
}

static bool check(json_t *plan, const char *file, struct tg_error *err) {
  struct tg_json_place root;
  struct tg_json_place tests;
  json_t *unplanned;
  const char *part;
  json_t *labels;
  if (!tg_json_open(&root, file, plan, err) || !tg_json_schema(&root, TG_PLAN_SCHEMA) ||
      !tg_json_object(&root, "tests", &tests) || !tg_json_array(&root, "unplanned", &unplanned) ||
      !tg_json_close(&root)) {
    return false;
  }
  json_object_foreach(tests.object, part, labels) {
    if (!is_labels(labels)) {
      return tg_json_fail(&tests, part, "must be an array of labels");
    }
  }
  return is_labels(unplanned) || tg_json_fail(&root, "unplanned", "must be an array of labels");
}

json_t *tg_plan_load(const char *folder, struct tg_error *err) {
  char path[PATH_MAX];
  (void)snprintf(path, sizeof(path), "%.4000s/" TG_PLAN_FILE, folder);
  json_t *plan = tg_json_load(path, err);
  if (plan != NULL && !check(plan, path, err)) {
    json_decref(plan);
    plan = NULL;
  }
  return plan;
}

const json_t *tg_plan_tests(const json_t *plan, const char *part) {
  return json_object_get(json_object_get(plan, "tests"), part);
}

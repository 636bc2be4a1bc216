#include "perf/certify/test_results.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/manifest/strict_json.h"

// One event: {"id": {"testSummary": {"label": ...}}, "testSummary": {"overallStatus": ..., ...}}.
static void take_summary(const json_t *event, json_t *tests) {
  const json_t *id = json_object_get(json_object_get(event, "id"), "testSummary");
  const json_t *summary = json_object_get(event, "testSummary");
  const char *label = json_string_value(json_object_get(id, "label"));
  const char *status = json_string_value(json_object_get(summary, "overallStatus"));
  if (label == NULL || status == NULL) {
    return;
  }
  // Absent: none was. Bazel writes 64-bit integers as texts.
  json_int_t cached = json_integer_value(json_object_get(summary, "totalNumCached"));
  const char *duration = json_string_value(json_object_get(summary, "totalRunDurationMillis"));
  (void)json_array_append_new(
      tests, json_pack("{s:s, s:s, s:b, s:I}", "label", label, "status", status, "cached", cached > 0, "duration_ms",
                       (json_int_t)(duration != NULL ? strtoll(duration, NULL, 10) : 0)));
}

static json_t *exit_of(const json_t *event) {
  const json_t *code = json_object_get(json_object_get(event, "finished"), "exitCode");
  const char *name = json_string_value(json_object_get(code, "name"));
  if (name == NULL) {
    return NULL;
  }
  // A code of 0 is left out.
  return json_pack("{s:s, s:I}", "name", name, "code", json_integer_value(json_object_get(code, "code")));
}

json_t *tg_test_results_from_events(const char *events, const json_t *asked, struct tg_error *err) {
  FILE *file = fopen(events, "re");
  if (file == NULL) {
    tg_error_set(err, "%s: %s", events, strerror(errno));
    return NULL;
  }
  json_t *tests = json_array();
  json_t *end = NULL;
  char *line = NULL;
  size_t size = 0;
  size_t number = 0;
  bool ok = true;
  for (ssize_t len; ok && (len = getline(&line, &size, file)) > 0;) {
    number++;
    json_t *event = json_loadb(line, (size_t)len, 0, NULL);
    if (event != NULL) {
      take_summary(event, tests);
      json_t *ended = exit_of(event);
      if (ended != NULL) {
        json_decref(end);
        end = ended;
      }
    } else if (line[len - 1] == '\n') {
      tg_error_set(err, "%s:%zu: no build event", events, number);
      ok = false;
    }
    json_decref(event);
  }
  free(line);
  (void)fclose(file);
  json_t *results = NULL;
  if (ok) {
    results = json_pack("{s:i, s:O, s:O, s:O}", "schema", TG_TEST_RESULTS_SCHEMA, "asked", asked, "exit",
                        end != NULL ? end : json_null(), "tests", tests);
  }
  json_decref(end);
  json_decref(tests);
  return results;
}

// Puts what is said of a test to the test that was asked for. One that nobody asked for is an error, as is a second
// word on one test.
static bool take_test(struct tg_test_results *out, struct tg_json_place *tests, size_t index) {
  struct tg_json_place place;
  const char *label;
  const char *status;
  bool cached = false;
  long long duration_ms;
  if (!tg_json_element(tests, "tests", index, &place) || !tg_json_text(&place, "label", &label) ||
      !tg_json_text(&place, "status", &status) || !tg_json_optional_bool(&place, "cached", &cached) ||
      !tg_json_integer(&place, "duration_ms", 0, LLONG_MAX, &duration_ms) || !tg_json_close(&place)) {
    return false;
  }
  for (size_t i = 0; i < out->num; i++) {
    struct tg_test_result *test = &out->tests[i];
    if (strcmp(test->label, label) == 0) {
      if (test->status != NULL) {
        return tg_json_fail(&place, "label", "has a result already");
      }
      *test = (struct tg_test_result){label, status, cached, (double)duration_ms / 1e3};
      return true;
    }
  }
  return tg_json_fail(&place, "label", "is not among those asked for");
}

static bool decode(struct tg_test_results *out, struct tg_json_place *root) {
  json_t *asked;
  json_t *tests;
  struct tg_json_place end;
  if (!tg_json_schema(root, TG_TEST_RESULTS_SCHEMA) || !tg_json_array(root, "asked", &asked) ||
      !tg_json_array(root, "tests", &tests)) {
    return false;
  }
  out->num = json_array_size(asked);
  if (out->num == 0 || out->num > TG_TESTS_MAX) {
    return tg_json_fail(root, "asked", "must have 1 to %d labels", TG_TESTS_MAX);
  }
  out->tests = calloc(out->num, sizeof(out->tests[0]));
  if (out->tests == NULL) {
    return tg_json_fail(root, "asked", "is too much for the memory there is");
  }
  for (size_t i = 0; i < out->num; i++) {
    out->tests[i].label = json_string_value(json_array_get(asked, i));
    if (out->tests[i].label == NULL) {
      return tg_json_fail(root, "asked", "must be an array of labels");
    }
    for (size_t j = 0; j < i; j++) {
      if (strcmp(out->tests[i].label, out->tests[j].label) == 0) {
        return tg_json_fail(root, "asked", "has %s twice", out->tests[i].label);
      }
    }
  }
  for (size_t i = 0; i < json_array_size(tests); i++) {
    if (!take_test(out, root, i)) {
      return false;
    }
  }
  out->finished = !tg_json_is_null(root, "exit");
  if (out->finished && (!tg_json_object(root, "exit", &end) || !tg_json_text(&end, "name", &out->exit) ||
                        !tg_json_integer(&end, "code", 0, 255, &out->code) || !tg_json_close(&end))) {
    return false;
  }
  return tg_json_close(root);
}

bool tg_test_results_load(struct tg_test_results *out, const char *file, struct tg_error *err) {
  *out = (struct tg_test_results){.num = 0};
  out->root = tg_json_load(file, err);
  struct tg_json_place root;
  if (out->root == NULL || !tg_json_open(&root, file, out->root, err) || !decode(out, &root)) {
    tg_test_results_free(out);
    return false;
  }
  for (size_t i = 0; i < out->num; i++) {
    struct tg_test_result *test = &out->tests[i];
    if (test->status == NULL) {
      test->status = "NOT RUN";
    }
    bool passed = strcmp(test->status, "PASSED") == 0;
    out->passed += passed;
    out->cached += passed && test->cached;
  }
  return true;
}

void tg_test_results_free(struct tg_test_results *results) {
  free(results->tests);
  json_decref(results->root);
  *results = (struct tg_test_results){.num = 0};
}

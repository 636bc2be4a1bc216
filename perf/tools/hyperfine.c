#include "perf/tools/hyperfine.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static bool wrong(struct tg_error *err, size_t result, const char *key, const char *what) {
  tg_error_set(err, "hyperfine: results[%zu].%s: %s: export again with hyperfine 1.15 or newer", result, key, what);
  return false;
}

static bool read_seconds(const json_t *value, double *out) {
  *out = json_number_value(value);
  return json_is_number(value) && *out >= 0;
}

static bool read_times(const json_t *result, size_t index, struct tg_hyperfine_result *out, struct tg_error *err) {
  const json_t *times = json_object_get(result, "times");
  const size_t num = json_array_size(times);
  if (num == 0) {
    return wrong(err, index, "times", "not a list of at least one run");
  }
  out->times_s = calloc(num, sizeof(*out->times_s));
  if (out->times_s == NULL) {
    return wrong(err, index, "times", "out of memory");
  }
  out->num_times = num;
  for (size_t i = 0; i < num; i++) {
    if (!read_seconds(json_array_get(times, i), &out->times_s[i])) {
      return wrong(err, index, "times", "holds something else than seconds");
    }
  }
  return true;
}

static bool check_exit_codes(const json_t *result, size_t index, size_t num_times, struct tg_error *err) {
  const json_t *codes = json_object_get(result, "exit_codes");
  if (!json_is_array(codes) || json_array_size(codes) != num_times) {
    return wrong(err, index, "exit_codes", "not a list with one code for each of the times");
  }
  for (size_t i = 0; i < num_times; i++) {
    const json_t *code = json_array_get(codes, i);
    if (json_is_null(code)) {
      tg_error_set(err, "hyperfine: results[%zu].exit_codes[%zu]: run ended by a signal: run the command by hand",
                   index, i);
      return false;
    }
    if (!json_is_integer(code)) {
      return wrong(err, index, "exit_codes", "holds something else than integers");
    }
    if (json_integer_value(code) != 0) {
      tg_error_set(err, "hyperfine: results[%zu].exit_codes[%zu] is %lld: the timed command failed: run it by hand",
                   index, i, (long long)json_integer_value(code));
      return false;
    }
  }
  return true;
}

static bool read_result(const json_t *result, size_t index, struct tg_hyperfine_result *out, struct tg_error *err) {
  if (!json_is_object(result)) {
    return wrong(err, index, "", "not an object");
  }
  const char *command = json_string_value(json_object_get(result, "command"));
  if (command == NULL) {
    return wrong(err, index, "command", "not a string");
  }
  out->command = strdup(command);
  if (out->command == NULL) {
    return wrong(err, index, "command", "out of memory");
  }
  if (!read_seconds(json_object_get(result, "user"), &out->user_s)) {
    return wrong(err, index, "user", "not a number of seconds");
  }
  if (!read_seconds(json_object_get(result, "system"), &out->system_s)) {
    return wrong(err, index, "system", "not a number of seconds");
  }
  return read_times(result, index, out, err) && check_exit_codes(result, index, out->num_times, err);
}

static bool read_results(const json_t *root, struct tg_hyperfine *out, struct tg_error *err) {
  const json_t *results = json_object_get(root, "results");
  const size_t num = json_array_size(results);
  if (num == 0) {
    tg_error_set(err, "hyperfine: results: not a list of at least one command: use --export-json");
    return false;
  }
  out->results = calloc(num, sizeof(*out->results));
  if (out->results == NULL) {
    tg_error_set(err, "hyperfine: results: out of memory");
    return false;
  }
  out->num_results = num;
  for (size_t i = 0; i < num; i++) {
    if (!read_result(json_array_get(results, i), i, &out->results[i], err)) {
      return false;
    }
  }
  return true;
}

bool tg_hyperfine_parse(struct tg_text json, struct tg_hyperfine *out, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  json_error_t problem;
  json_t *root = json_loadb(json.bytes, json.len, JSON_REJECT_DUPLICATES, &problem);
  if (root == NULL) {
    tg_error_set(err, "hyperfine: line %d: %s: the export is cut short or not --export-json's: run it again",
                 problem.line, problem.text);
    return false;
  }
  const bool ok = read_results(root, out, err);
  json_decref(root);
  if (!ok) {
    tg_hyperfine_free(out);
  }
  return ok;
}

void tg_hyperfine_free(struct tg_hyperfine *run) {
  for (size_t i = 0; i < run->num_results; i++) {
    free(run->results[i].command);
    free(run->results[i].times_s);
  }
  free(run->results);
  memset(run, 0, sizeof(*run));
}

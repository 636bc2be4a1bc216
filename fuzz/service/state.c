#include "fuzz/service/state.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/service/durable.h"
#include "perf/manifest/strict_json.h"

#define DIGITS 17  // a double reads back as it was

const char *const tg_fuzzd_engine_names[TG_FUZZD_ENGINES] = {"libfuzzer", "afl"};

static json_t *encode_arm(const struct tg_fuzzd_arm *arm) {
  json_t *json =
      json_pack("{s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:I, s:I, s:f}", "cpu_s", arm->cpu_s, "begun",
                (json_int_t)arm->begun, "slices", (json_int_t)arm->slices, "executions", (json_int_t)arm->executions,
                "edges", (json_int_t)arm->edges, "new_edges", (json_int_t)arm->new_edges, "findings",
                (json_int_t)arm->findings, "recent_cpu_s", arm->recent_cpu_s, "recent_edges", arm->recent_edges,
                "credit_s", arm->credit_s, "idle_cpu_s", arm->idle_cpu_s, "failures", (json_int_t)arm->failures,
                "early", (json_int_t)arm->early, "rest_until_s", arm->rest_until_s);
  if (json != NULL && arm->last_error[0] != '\0' &&
      json_object_set_new(json, "last_error", json_string(arm->last_error)) != 0) {
    json_decref(json);
    json = NULL;
  }
  return json;
}

static json_t *encode_target(const struct tg_fuzzd_target_state *target) {
  json_t *history = json_array();
  for (size_t i = 0; i < target->num_history; i++) {
    // A point that does not fit into memory makes the whole value NULL below.
    if (json_array_append_new(history, json_pack("{s:f, s:I}", "cpu_s", target->history[i].cpu_s, "edges",
                                                 (json_int_t)target->history[i].edges)) != 0) {
      json_decref(history);
      return NULL;
    }
  }
  return json_pack("{s:s, s:o, s:o, s:f, s:I, s:I, s:I, s:o}", "name", target->name,
                   tg_fuzzd_engine_names[TG_FUZZD_LIBFUZZER], encode_arm(&target->arms[TG_FUZZD_LIBFUZZER]),
                   tg_fuzzd_engine_names[TG_FUZZD_AFL], encode_arm(&target->arms[TG_FUZZD_AFL]), "pruned_at_s",
                   target->pruned_at_s, "pruned_units", (json_int_t)target->pruned_units, "duplicates",
                   (json_int_t)target->duplicates, "unreproduced", (json_int_t)target->unreproduced, "history",
                   history);
}

bool tg_fuzzd_state_save(const char *path, const struct tg_fuzzd_state *state, struct tg_error *err) {
  json_t *targets = json_array();
  bool ok = targets != NULL;
  for (size_t i = 0; ok && i < state->num_targets; i++) {
    ok = json_array_append_new(targets, encode_target(&state->targets[i])) == 0;
  }
  json_t *json =
      ok ? json_pack("{s:i, s:f, s:f, s:I, s:O}", "schema", TG_FUZZD_STATE_SCHEMA, "begun_at_s", state->begun_at_s,
                     "up_s", state->up_s, "starts", (json_int_t)state->starts, "targets", targets)
         : NULL;
  char *text = json != NULL ? json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(DIGITS)) : NULL;
  if (text == NULL) {
    tg_error_set(err, "cannot write %s: out of memory", path);
  }
  ok = text != NULL && tg_fuzzd_write(path, text, strlen(text), err);
  free(text);
  json_decref(json);
  json_decref(targets);
  return ok;
}

static bool read_count(struct tg_json_place *place, const char *key, uint64_t *out) {
  long long value;
  if (!tg_json_integer(place, key, 0, LLONG_MAX, &value)) {
    return false;
  }
  *out = (uint64_t)value;
  return true;
}

static bool read_amount(struct tg_json_place *place, const char *key, double *out) {
  if (!tg_json_number(place, key, out)) {
    return false;
  }
  return *out >= 0 || tg_json_fail(place, key, "must not be below 0");
}

static bool decode_arm(struct tg_json_place *target, const char *key, struct tg_fuzzd_arm *out) {
  struct tg_json_place place;
  const char *last_error;
  if (!tg_json_object(target, key, &place) || !read_amount(&place, "cpu_s", &out->cpu_s) ||
      !read_count(&place, "begun", &out->begun) || !read_count(&place, "slices", &out->slices) ||
      !read_count(&place, "executions", &out->executions) || !read_count(&place, "edges", &out->edges) ||
      !read_count(&place, "new_edges", &out->new_edges) || !read_count(&place, "findings", &out->findings) ||
      !read_amount(&place, "recent_cpu_s", &out->recent_cpu_s) ||
      !read_amount(&place, "recent_edges", &out->recent_edges) || !tg_json_number(&place, "credit_s", &out->credit_s) ||
      !read_amount(&place, "idle_cpu_s", &out->idle_cpu_s) || !read_count(&place, "failures", &out->failures) ||
      !read_count(&place, "early", &out->early) || !read_amount(&place, "rest_until_s", &out->rest_until_s) ||
      !tg_json_optional_text(&place, "last_error", &last_error)) {
    return false;
  }
  if (last_error != NULL && strlen(last_error) >= sizeof(out->last_error)) {
    return tg_json_fail(&place, "last_error", "is too long");
  }
  (void)snprintf(out->last_error, sizeof(out->last_error), "%s", last_error != NULL ? last_error : "");
  return tg_json_close(&place);
}

static bool decode_history(struct tg_json_place *place, struct tg_fuzzd_target_state *out) {
  json_t *history;
  if (!tg_json_array(place, "history", &history)) {
    return false;
  }
  if (json_array_size(history) > TG_FUZZD_HISTORY_MAX) {
    return tg_json_fail(place, "history", "has more than %d points", TG_FUZZD_HISTORY_MAX);
  }
  for (size_t i = 0; i < json_array_size(history); i++) {
    struct tg_json_place point;
    struct tg_fuzzd_point *to = &out->history[i];
    if (!tg_json_element(place, "history", i, &point) || !read_amount(&point, "cpu_s", &to->cpu_s) ||
        !read_count(&point, "edges", &to->edges) || !tg_json_close(&point)) {
      return false;
    }
    if (i > 0 && to->cpu_s < to[-1].cpu_s) {
      return tg_json_fail(&point, "cpu_s", "is before the point that precedes it");
    }
  }
  out->num_history = json_array_size(history);
  return true;
}

static bool decode_target(struct tg_json_place *place, struct tg_fuzzd_state *state) {
  const char *name;
  if (!tg_json_text(place, "name", &name)) {
    return false;
  }
  if (strlen(name) >= sizeof(state->targets[0].name) || strchr(name, '/') != NULL) {
    return tg_json_fail(place, "name", "is not the name of a fuzz target");
  }
  size_t before = state->num_targets;
  struct tg_fuzzd_target_state *out = tg_fuzzd_state_target(state, name);
  if (out == NULL || state->num_targets == before) {
    return tg_json_fail(place, "name", "is there twice");
  }
  return decode_arm(place, tg_fuzzd_engine_names[TG_FUZZD_LIBFUZZER], &out->arms[TG_FUZZD_LIBFUZZER]) &&
         decode_arm(place, tg_fuzzd_engine_names[TG_FUZZD_AFL], &out->arms[TG_FUZZD_AFL]) &&
         read_amount(place, "pruned_at_s", &out->pruned_at_s) &&
         read_count(place, "pruned_units", &out->pruned_units) && read_count(place, "duplicates", &out->duplicates) &&
         read_count(place, "unreproduced", &out->unreproduced) && decode_history(place, out) && tg_json_close(place);
}

static bool decode(struct tg_json_place *place, struct tg_fuzzd_state *out) {
  json_t *targets;
  if (!tg_json_schema(place, TG_FUZZD_STATE_SCHEMA) || !read_amount(place, "begun_at_s", &out->begun_at_s) ||
      !read_amount(place, "up_s", &out->up_s) || !read_count(place, "starts", &out->starts) ||
      !tg_json_array(place, "targets", &targets)) {
    return false;
  }
  if (json_array_size(targets) > TG_FUZZD_TARGETS_MAX) {
    return tg_json_fail(place, "targets", "has more than %d", TG_FUZZD_TARGETS_MAX);
  }
  for (size_t i = 0; i < json_array_size(targets); i++) {
    struct tg_json_place target;
    if (!tg_json_element(place, "targets", i, &target) || !decode_target(&target, out)) {
      return false;
    }
  }
  return tg_json_close(place);
}

bool tg_fuzzd_state_load(const char *path, struct tg_fuzzd_state *out, struct tg_error *err) {
  *out = (struct tg_fuzzd_state){.num_targets = 0};
  if (access(path, F_OK) != 0 && errno == ENOENT) {
    return true;
  }
  struct tg_error why;
  json_t *json = tg_json_load(path, &why);
  struct tg_json_place place;
  bool ok = json != NULL && tg_json_open(&place, path, json, &why) && decode(&place, out);
  json_decref(json);
  if (!ok) {
    tg_error_set(err, "%.380s; without the file the figures begin anew, and no corpus or finding is lost", why.text);
  }
  return ok;
}

struct tg_fuzzd_target_state *tg_fuzzd_state_target(struct tg_fuzzd_state *state, const char *name) {
  for (size_t i = 0; i < state->num_targets; i++) {
    if (strcmp(state->targets[i].name, name) == 0) {
      return &state->targets[i];
    }
  }
  if (state->num_targets == TG_FUZZD_TARGETS_MAX) {
    return NULL;
  }
  struct tg_fuzzd_target_state *target = &state->targets[state->num_targets++];
  *target = (struct tg_fuzzd_target_state){.num_history = 0};
  (void)snprintf(target->name, sizeof(target->name), "%s", name);
  return target;
}

double tg_fuzzd_target_cpu_s(const struct tg_fuzzd_target_state *target) {
  return target->arms[TG_FUZZD_LIBFUZZER].cpu_s + target->arms[TG_FUZZD_AFL].cpu_s;
}

void tg_fuzzd_state_mark(struct tg_fuzzd_target_state *target) {
  if (target->num_history == TG_FUZZD_HISTORY_MAX) {
    for (size_t i = 0; 2 * i < target->num_history; i++) {
      target->history[i] = target->history[2 * i];
    }
    target->num_history = TG_FUZZD_HISTORY_MAX / 2;
  }
  target->history[target->num_history++] = (struct tg_fuzzd_point){
      .cpu_s = tg_fuzzd_target_cpu_s(target),
      .edges = target->arms[TG_FUZZD_LIBFUZZER].edges,
  };
}

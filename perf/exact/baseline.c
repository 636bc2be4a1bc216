#include "perf/exact/baseline.h"

#include <assert.h>
#include <string.h>

#include "perf/manifest/strict_json.h"

static const char kRemedy[] = "./tlsgate record --exact writes it";

// Returns the number of a scenario, or num_scenarios.
static size_t scenario_at(const struct tg_exact_figures *figures, const char *name) {
  size_t at = 0;
  while (at < figures->num_scenarios && strcmp(figures->scenarios[at], name) != 0) {
    at++;
  }
  return at;
}

static bool read_metric(struct tg_json_place *place, int metric, enum tg_exact_state *state, int64_t *value) {
  const char *name = tg_exact_metric_name(metric);
  *state = TG_EXACT_ABSENT;
  *value = 0;
  if (!tg_json_has(place, name) && tg_exact_is_call(metric)) {
    return true;
  }
  if (tg_json_is_null(place, name)) {
    *state = TG_EXACT_DISABLED;
    return true;
  }
  long long number = 0;
  // A call that is not made is left out, so that there is one way to say so.
  if (!tg_json_integer(place, name, tg_exact_is_call(metric) ? 1 : 0, INT64_MAX, &number)) {
    return false;
  }
  *state = TG_EXACT_RECORDED;
  *value = number;
  return true;
}

// Reads one scenario's figures of a section; `out` is NULL where nothing is taken.
static bool read_scenario(struct tg_json_place *place, enum tg_exact_section section, size_t scenario,
                          struct tg_exact_baseline *out) {
  for (int metric = 0; metric < (int)TG_EXACT_METRICS; metric++) {
    enum tg_exact_state state;
    int64_t value = 0;
    if (tg_exact_section_of(metric) != section || !tg_exact_is_used(metric)) {
      continue;
    }
    if (!read_metric(place, metric, &state, &value)) {
      return false;
    }
    if (out != NULL) {
      out->states[scenario][metric] = state;
      out->values[scenario][metric] = value;
    }
  }
  return tg_json_close(place);
}

// What a section is decoded for.
struct context {
  const struct tg_exact_figures *figures;
  enum tg_exact_section section;
  bool judged;  // the scenarios must be those of the figures
};

// `out` is NULL for an entry that does not hold for this build; it may have other scenarios than there are.
static bool read_scenarios(struct tg_json_place *scenarios, const struct context *context,
                           struct tg_exact_baseline *out) {
  const struct tg_exact_figures *figures = context->figures;
  const bool whole = out != NULL && context->judged;
  const char *name = NULL;
  json_t *value = NULL;
  json_object_foreach(scenarios->object, name, value) {
    struct tg_json_place place;
    const size_t at = scenario_at(figures, name);
    const bool known = at < figures->num_scenarios;
    if (whole && !known) {
      return tg_json_fail(scenarios, name, "there is no such scenario in perf/exact/scenarios; %s without it", kRemedy);
    }
    scenarios->num_known = 0;
    if (!tg_json_object(scenarios, name, &place) || !read_scenario(&place, context->section, at, known ? out : NULL)) {
      return false;
    }
  }
  for (size_t i = 0; whole && i < figures->num_scenarios; i++) {
    if (json_object_get(scenarios->object, figures->scenarios[i]) == NULL) {
      return tg_json_fail(scenarios, figures->scenarios[i], "missing; it is required; %s", kRemedy);
    }
  }
  return true;
}

static bool read_allowance(struct tg_json_place *entry, enum tg_exact_section section, struct tg_exact_baseline *out) {
  long long runs = 0;
  double allowance = 0;
  if (!tg_json_integer(entry, "runs", 1, TG_EXACT_RUNS_MAX, &runs) || !tg_json_number(entry, "allowance", &allowance)) {
    return false;
  }
  const double most = section == TG_EXACT_DISPATCHED ? TG_EXACT_LIBRARY_ALLOWANCE : TG_EXACT_ALLOWANCE_MAX;
  if (allowance < 0 || allowance > most) {
    return tg_json_fail(entry, "allowance", "must be between 0 and %g, is %g; %s", most, allowance, kRemedy);
  }
  if (out != NULL) {
    out->runs[section] = (int)runs;
    out->allowance[section] = allowance;
  }
  return true;
}

// Whether an entry's keys are those of the figures. All keys are read in any case.
static bool read_keys(struct tg_json_place *entry, const struct context *context, bool *out_same) {
  *out_same = true;
  for (size_t key = 0; key < tg_exact_num_keys(context->section); key++) {
    const char *text = NULL;
    if (!tg_json_text(entry, tg_exact_key_name(key), &text)) {
      return false;
    }
    *out_same = *out_same && strcmp(text, tg_exact_key(&context->figures->keys, key)) == 0;
  }
  return true;
}

static bool read_entry(struct tg_json_place *entry, const struct context *context, struct tg_exact_baseline *out) {
  const enum tg_exact_section section = context->section;
  bool same = false;
  if (!read_keys(entry, context, &same)) {
    return false;
  }
  if (same && out->has[section]) {
    return tg_json_fail(entry, NULL, "has the keys of an entry before it; remove one of them");
  }
  struct tg_exact_baseline *into = same ? out : NULL;
  struct tg_json_place scenarios;
  if ((tg_exact_is_counted(section) && !read_allowance(entry, section, into)) ||
      !tg_json_object(entry, "scenarios", &scenarios) || !read_scenarios(&scenarios, context, into)) {
    return false;
  }
  out->has[section] = out->has[section] || same;
  return tg_json_close(entry);
}

static bool read_section(struct tg_json_place *root, const struct context *context, struct tg_exact_baseline *out) {
  const char *name = tg_exact_section_name(context->section);
  if (tg_exact_num_keys(context->section) == 0) {
    struct tg_json_place scenarios;
    out->has[context->section] = true;
    return tg_json_object(root, name, &scenarios) && read_scenarios(&scenarios, context, out);
  }
  json_t *entries = NULL;
  if (!tg_json_array(root, name, &entries)) {
    return false;
  }
  for (size_t i = 0; i < json_array_size(entries); i++) {
    struct tg_json_place entry;
    if (!tg_json_element(root, name, i, &entry) || !read_entry(&entry, context, out)) {
      return false;
    }
  }
  return true;
}

bool tg_exact_baseline_read(const char *file, json_t *value, const struct tg_exact_figures *figures,
                            enum tg_exact_purpose purpose, struct tg_exact_baseline *out, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  out->file = file;
  struct tg_json_place root;
  if (!tg_json_open(&root, file, value, err) || !tg_json_schema(&root, TG_EXACT_SCHEMA)) {
    return false;
  }
  for (int section = 0; section < TG_EXACT_SECTIONS; section++) {
    const struct context context = {
        .figures = figures, .section = (enum tg_exact_section)section, .judged = purpose == TG_EXACT_JUDGE};
    if (!read_section(&root, &context, out)) {
      return false;
    }
  }
  return tg_json_close(&root);
}

static json_t *scenario_json(const struct tg_exact_figures *figures, size_t scenario, enum tg_exact_section section,
                             const struct tg_exact_baseline *before) {
  json_t *object = json_object();
  for (int metric = 0; metric < (int)TG_EXACT_METRICS; metric++) {
    if (tg_exact_section_of(metric) != section || !tg_exact_is_used(metric)) {
      continue;
    }
    const int64_t value = figures->values[scenario][metric];
    const bool disabled = before != NULL && before->states[scenario][metric] == TG_EXACT_DISABLED;
    if (disabled) {
      (void)json_object_set_new(object, tg_exact_metric_name(metric), json_null());
    } else if (value > 0 || !tg_exact_is_call(metric)) {
      (void)json_object_set_new(object, tg_exact_metric_name(metric), json_integer(value));
    }
  }
  return object;
}

static json_t *scenarios_json(const struct tg_exact_figures *figures, enum tg_exact_section section,
                              const struct tg_exact_baseline *before) {
  json_t *object = json_object();
  for (size_t i = 0; i < figures->num_scenarios; i++) {
    (void)json_object_set_new(object, figures->scenarios[i], scenario_json(figures, i, section, before));
  }
  return object;
}

static json_t *entry_json(const struct tg_exact_figures *figures, enum tg_exact_section section,
                          const struct tg_exact_baseline *before, const struct tg_exact_recorded *recorded) {
  json_t *entry = json_object();
  for (size_t key = 0; key < tg_exact_num_keys(section); key++) {
    (void)json_object_set_new(entry, tg_exact_key_name(key), json_string(tg_exact_key(&figures->keys, key)));
  }
  if (tg_exact_is_counted(section)) {
    (void)json_object_set_new(entry, "runs", json_integer(recorded->runs));
    (void)json_object_set_new(entry, "allowance", json_real(recorded->allowance[section]));
  }
  (void)json_object_set_new(entry, "scenarios", scenarios_json(figures, section, before));
  return entry;
}

static bool holds(const json_t *entry, enum tg_exact_section section, const struct tg_exact_keys *keys) {
  for (size_t key = 0; key < tg_exact_num_keys(section); key++) {
    const char *text = json_string_value(json_object_get(entry, tg_exact_key_name(key)));
    if (text == NULL || strcmp(text, tg_exact_key(keys, key)) != 0) {
      return false;
    }
  }
  return true;
}

// The entries under other keys keep their places; the one that holds now keeps its own, or comes last.
static json_t *entries_json(const json_t *old, json_t *entry, enum tg_exact_section section,
                            const struct tg_exact_keys *keys) {
  json_t *entries = json_array();
  bool placed = false;
  for (size_t i = 0; i < json_array_size(old); i++) {
    json_t *one = json_array_get(old, i);
    const bool same = holds(one, section, keys);
    (void)json_array_append(entries, same ? entry : one);
    placed = placed || same;
  }
  if (!placed) {
    (void)json_array_append(entries, entry);
  }
  json_decref(entry);
  return entries;
}

json_t *tg_exact_baseline_write(const json_t *old, const struct tg_exact_figures *figures,
                                const struct tg_exact_baseline *before, const struct tg_exact_recorded *recorded) {
  json_t *root = json_pack("{s:i}", "schema", TG_EXACT_SCHEMA);
  if (root == NULL) {
    return NULL;
  }
  for (int i = 0; i < TG_EXACT_SECTIONS; i++) {
    const enum tg_exact_section section = (enum tg_exact_section)i;
    const char *name = tg_exact_section_name(section);
    json_t *content = tg_exact_num_keys(section) == 0
                          ? scenarios_json(figures, section, before)
                          : entries_json(json_object_get(old, name), entry_json(figures, section, before, recorded),
                                         section, &figures->keys);
    if (json_object_set_new(root, name, content) != 0) {
      json_decref(root);
      return NULL;
    }
  }
  return root;
}

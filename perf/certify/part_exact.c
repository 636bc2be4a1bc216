// The exact gates: what each scenario costs, against baselines/exact.json as the commit has it.
#include <stdlib.h>
#include <string.h>

#include "perf/certify/parts_internal.h"
#include "perf/exact/judge.h"
#include "perf/manifest/strict_json.h"

#define PROGRAM  "bazel-bin/perf/exact/check"
#define BASELINE "baselines/exact.json"
#define RESULT   "exact.json"

#define EXACT_LIMIT_S 1800.0

bool tg_exact_binaries(const struct tg_part_run *run, json_t *paths, struct tg_error *err) {
  (void)run;
  (void)err;
  return json_array_append_new(paths, json_string(PROGRAM)) == 0 &&
         json_array_append_new(paths, json_string("bazel-bin/perf/exact/measure")) == 0;
}

bool tg_exact_run(const struct tg_part_run *run, struct tg_error *err) {
  const char *const argv[] = {PROGRAM, "--out", run->folder, NULL};
  int status = tg_part_command(run, argv, "exact.log", EXACT_LIMIT_S, err);
  // 0 and 1 are verdicts; that of a check which failed is in its file too.
  if (status > 1) {
    tg_error_set(err, "the exact gates ended with status %d: exact.log says why", status);
    return false;
  }
  return status >= 0;
}

static int metric_named(const char *name) {
  for (int i = 0; i < TG_EXACT_METRICS; i++) {
    if (tg_exact_is_used(i) && strcmp(tg_exact_metric_name(i), name) == 0) {
      return i;
    }
  }
  return -1;
}

static size_t scenario_named(struct tg_exact_figures *figures, const char *name) {
  size_t i = 0;
  while (i < figures->num_scenarios && strcmp(figures->scenarios[i], name) != 0) {
    i++;
  }
  if (i == figures->num_scenarios && i < TG_SCENARIOS_MAX) {
    (void)snprintf(figures->scenarios[figures->num_scenarios++], TG_SCENARIO_NAME_MAX, "%s", name);
  }
  return i;
}

// What the result says that was measured. Rows are in the order of scenarios.
static bool take_row(struct tg_exact_figures *figures, struct tg_json_place *root, size_t index) {
  struct tg_json_place row;
  const char *section;
  const char *scenario;
  const char *name;
  const char *verdict;
  long long now;
  if (!tg_json_element(root, "rows", index, &row) || !tg_json_text(&row, "section", &section) ||
      !tg_json_text(&row, "scenario", &scenario) || !tg_json_text(&row, "name", &name) ||
      !tg_json_integer(&row, "now", 0, INT64_MAX, &now) || !tg_json_text(&row, "verdict", &verdict) ||
      !tg_json_has(&row, "baseline") || !tg_json_has(&row, "allowed") || !tg_json_close(&row)) {
    return false;
  }
  int metric = metric_named(name);
  size_t at = scenario_named(figures, scenario);
  if (metric < 0 || at == TG_SCENARIOS_MAX) {
    return tg_json_fail(&row, "name", "is no figure of the exact gates");
  }
  figures->values[at][metric] = now;
  return true;
}

static bool take_key(struct tg_json_place *keys, const char *name, char *out, size_t size) {
  const char *text;
  if (!tg_json_text(keys, name, &text)) {
    return false;
  }
  (void)snprintf(out, size, "%s", text);
  return true;
}

static bool take_figures(struct tg_exact_figures *figures, json_t *result, const char *file, struct tg_error *err) {
  struct tg_json_place root;
  struct tg_json_place keys;
  json_t *rows;
  bool ok = tg_json_open(&root, file, result, err) && tg_json_schema(&root, 1) &&
            tg_json_object(&root, "keys", &keys) &&
            take_key(&keys, "boringssl", figures->keys.boringssl, sizeof(figures->keys.boringssl)) &&
            take_key(&keys, "compiler", figures->keys.compiler, sizeof(figures->keys.compiler)) &&
            take_key(&keys, "cpu", figures->keys.cpu, sizeof(figures->keys.cpu)) && tg_json_close(&keys) &&
            take_key(&root, "cpu_native", figures->native_cpu, sizeof(figures->native_cpu)) &&
            tg_json_array(&root, "rows", &rows);
  for (size_t i = 0; ok && i < json_array_size(rows); i++) {
    ok = take_row(figures, &root, i);
  }
  return ok;
}

static json_t *baseline_of(const struct tg_source *source, struct tg_error *err) {
  char *text;
  enum tg_source_found found = tg_source_file(source, BASELINE, &text, err);
  if (found == TG_SOURCE_MISSING) {
    tg_error_set(err, "commit %s has no " BASELINE, source->commit);
  }
  json_t *value = found == TG_SOURCE_FOUND ? tg_json_parse(BASELINE, text, strlen(text), err) : NULL;
  free(text);
  return value;
}

// A check that came to no verdict says so in its file.
static bool judge_failure(const json_t *result, struct tg_part_verdict *out) {
  const char *verdict = json_string_value(json_object_get(result, "verdict"));
  const char *message = json_string_value(json_object_get(result, "message"));
  if (verdict == NULL || message == NULL || strcmp(verdict, "error") != 0) {
    return false;
  }
  out->outcome = TG_OUTCOME_FAIL;
  (void)snprintf(out->message, sizeof(out->message), "the check failed: %.350s", message);
  out->figures = json_pack("{s:s}", "error", message);
  return true;
}

// Judges the figures anew, and holds what comes of it against what the check said.
static bool judge_figures(json_t *result, const char *file, json_t *baseline, struct tg_part_verdict *out,
                          struct tg_error *err) {
  static struct tg_exact_figures figures;
  static struct tg_exact_baseline recorded;
  static struct tg_exact_result again;
  memset(&figures, 0, sizeof(figures));
  if (!take_figures(&figures, result, file, err) ||
      !tg_exact_baseline_read(BASELINE, baseline, &figures, TG_EXACT_JUDGE, &recorded, err)) {
    return false;
  }
  tg_exact_judge(&figures, &recorded, &again);
  json_t *drawn = tg_exact_result_json(&again);
  bool same = json_equal(drawn, result);
  json_decref(drawn);
  if (!same) {
    tg_error_set(err, "%s: is not what its figures come to against " BASELINE " of the commit", file);
    return false;
  }
  bool passed = tg_exact_passed(&again);
  out->outcome = !passed                              ? TG_OUTCOME_FAIL
                 : again.num[TG_EXACT_UNENFORCED] > 0 ? TG_OUTCOME_UNENFORCED
                                                      : TG_OUTCOME_PASS;
  (void)snprintf(out->message, sizeof(out->message),
                 "%zu figures unchanged, %zu changed, %zu not enforced, %zu disabled", again.num[TG_EXACT_PASS],
                 again.num[TG_EXACT_FAIL], again.num[TG_EXACT_UNENFORCED], again.num[TG_EXACT_OFF]);
  out->figures =
      json_pack("{s:I, s:I, s:I, s:I, s:O}", "passed", (json_int_t)again.num[TG_EXACT_PASS], "failed",
                (json_int_t)again.num[TG_EXACT_FAIL], "not_enforced", (json_int_t)again.num[TG_EXACT_UNENFORCED],
                "disabled", (json_int_t)again.num[TG_EXACT_OFF], "unenforced", json_object_get(result, "unenforced"));
  return true;
}

bool tg_exact_judge_part(const struct tg_part *part, const struct tg_evidence *evidence, struct tg_part_verdict *out,
                         struct tg_error *err) {
  (void)part;
  char file[PATH_MAX];
  (void)snprintf(file, sizeof(file), "%.4000s/" RESULT, evidence->folder);
  json_t *result = tg_json_load(file, err);
  if (result == NULL) {
    return false;
  }
  bool ok = judge_failure(result, out);
  if (!ok) {
    json_t *baseline = baseline_of(evidence->source, err);
    ok = baseline != NULL && judge_figures(result, file, baseline, out, err);
    json_decref(baseline);
  }
  json_decref(result);
  return ok;
}

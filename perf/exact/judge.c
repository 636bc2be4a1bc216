#include "perf/exact/judge.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const verdict_names[TG_EXACT_VERDICTS] = {
    [TG_EXACT_PASS] = "pass",
    [TG_EXACT_FAIL] = "fail",
    [TG_EXACT_UNENFORCED] = "unenforced",
    [TG_EXACT_OFF] = "disabled",
};

const char *tg_exact_verdict_name(enum tg_exact_verdict verdict) {
  return verdict_names[verdict];
}

static void judge_row(const struct tg_exact_baseline *baseline, struct tg_exact_row *row) {
  const enum tg_exact_section section = tg_exact_section_of(row->metric);
  if (!baseline->has[section]) {
    row->verdict = TG_EXACT_UNENFORCED;
    return;
  }
  if (baseline->states[row->scenario][row->metric] == TG_EXACT_DISABLED) {
    row->verdict = TG_EXACT_OFF;
    return;
  }
  row->baseline = baseline->values[row->scenario][row->metric];
  row->allowed = (int64_t)((double)row->baseline * baseline->allowance[section]);
  row->verdict = llabs(row->now - row->baseline) <= row->allowed ? TG_EXACT_PASS : TG_EXACT_FAIL;
}

void tg_exact_judge(const struct tg_exact_figures *figures, const struct tg_exact_baseline *baseline,
                    struct tg_exact_result *out) {
  *out = (struct tg_exact_result){.figures = figures, .baseline = baseline};
  for (size_t scenario = 0; scenario < figures->num_scenarios; scenario++) {
    for (int metric = 0; metric < (int)TG_EXACT_METRICS; metric++) {
      const int64_t now = figures->values[scenario][metric];
      const bool made = now != 0 || baseline->states[scenario][metric] != TG_EXACT_ABSENT;
      if (!tg_exact_is_used(metric) || (tg_exact_is_call(metric) && !made)) {
        continue;
      }
      struct tg_exact_row *row = &out->rows[out->num_rows++];
      *row = (struct tg_exact_row){.scenario = scenario, .metric = metric, .now = now};
      judge_row(baseline, row);
      out->num[row->verdict]++;
    }
  }
}

bool tg_exact_passed(const struct tg_exact_result *result) {
  return result->num[TG_EXACT_FAIL] == 0;
}

static size_t rows_of(const struct tg_exact_result *result, enum tg_exact_section section) {
  size_t num = 0;
  for (size_t i = 0; i < result->num_rows; i++) {
    num += tg_exact_section_of(result->rows[i].metric) == section;
  }
  return num;
}

static void print_row(const struct tg_exact_result *result, const struct tg_exact_row *row, FILE *to) {
  const enum tg_exact_section section = tg_exact_section_of(row->metric);
  const char *scenario = result->figures->scenarios[row->scenario];
  const char *name = tg_exact_metric_name(row->metric);
  if (row->verdict == TG_EXACT_OFF) {
    fprintf(to, "disabled    %s: %s %s: now %" PRId64 "\n", scenario, tg_exact_section_name(section), name, row->now);
    return;
  }
  fprintf(to, "fail        %s: %s %s: baseline %" PRId64 ", now %" PRId64, scenario, tg_exact_section_name(section),
          name, row->baseline, row->now);
  if (tg_exact_is_counted(section) && row->baseline > 0) {
    fprintf(to, " (%+.3f %%, allowed %.3f %%)", 100 * (double)(row->now - row->baseline) / (double)row->baseline,
            100 * result->baseline->allowance[section]);
  }
  fputc('\n', to);
}

static void print_unenforced(const struct tg_exact_result *result, enum tg_exact_section section, FILE *to) {
  fprintf(to, "UNENFORCED  %s: %zu figures: %s has none for", tg_exact_section_name(section), rows_of(result, section),
          result->baseline->file);
  for (size_t key = 0; key < tg_exact_num_keys(section); key++) {
    fprintf(to, "%s %s \"%s\"", key > 0 ? "," : "", tg_exact_key_name(key), tg_exact_key(&result->figures->keys, key));
  }
  fprintf(to, "; ./tlsgate record --exact adds them\n");
}

void tg_exact_print(const struct tg_exact_result *result, FILE *to) {
  for (size_t i = 0; i < result->num_rows; i++) {
    const enum tg_exact_verdict verdict = result->rows[i].verdict;
    if (verdict == TG_EXACT_FAIL || verdict == TG_EXACT_OFF) {
      print_row(result, &result->rows[i], to);
    }
  }
  for (int section = 0; section < TG_EXACT_SECTIONS; section++) {
    if (!result->baseline->has[section]) {
      print_unenforced(result, (enum tg_exact_section)section, to);
    }
  }
  fprintf(to, "exact: %zu scenarios, %zu figures: %zu as recorded, %zu changed, %zu unenforced, %zu disabled\n",
          result->figures->num_scenarios, result->num_rows, result->num[TG_EXACT_PASS], result->num[TG_EXACT_FAIL],
          result->num[TG_EXACT_UNENFORCED], result->num[TG_EXACT_OFF]);
  if (!tg_exact_passed(result)) {
    fprintf(to, "If the change is meant, accept it with: ./tlsgate record --exact\n");
  }
}

static json_t *unenforced_json(const struct tg_exact_result *result) {
  json_t *all = json_array();
  for (int i = 0; i < TG_EXACT_SECTIONS; i++) {
    const enum tg_exact_section section = (enum tg_exact_section)i;
    if (result->baseline->has[section]) {
      continue;
    }
    json_t *keys = json_object();
    for (size_t key = 0; key < tg_exact_num_keys(section); key++) {
      (void)json_object_set_new(keys, tg_exact_key_name(key), json_string(tg_exact_key(&result->figures->keys, key)));
    }
    (void)json_array_append_new(all, json_pack("{s:s, s:o, s:I}", "section", tg_exact_section_name(section), "key",
                                               keys, "rows", (json_int_t)rows_of(result, section)));
  }
  return all;
}

static json_t *row_json(const struct tg_exact_result *result, const struct tg_exact_row *row) {
  const bool judged = row->verdict == TG_EXACT_PASS || row->verdict == TG_EXACT_FAIL;
  return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:s}", "section",
                   tg_exact_section_name(tg_exact_section_of(row->metric)), "scenario",
                   result->figures->scenarios[row->scenario], "name", tg_exact_metric_name(row->metric), "now",
                   (json_int_t)row->now, "baseline", judged ? json_integer(row->baseline) : json_null(), "allowed",
                   judged ? json_integer(row->allowed) : json_null(), "verdict", tg_exact_verdict_name(row->verdict));
}

json_t *tg_exact_result_json(const struct tg_exact_result *result) {
  const struct tg_exact_keys *keys = &result->figures->keys;
  json_t *rows = json_array();
  for (size_t i = 0; i < result->num_rows; i++) {
    (void)json_array_append_new(rows, row_json(result, &result->rows[i]));
  }
  return json_pack("{s:i, s:s, s:s, s:{s:s, s:s, s:s}, s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "schema", 1, "verdict",
                   tg_exact_passed(result) ? "pass" : "fail", "baseline", result->baseline->file, "keys", "boringssl",
                   keys->boringssl, "compiler", keys->compiler, "cpu", keys->cpu, "cpu_native",
                   result->figures->native_cpu, "passed", (json_int_t)result->num[TG_EXACT_PASS], "failed",
                   (json_int_t)result->num[TG_EXACT_FAIL], "not_enforced", (json_int_t)result->num[TG_EXACT_UNENFORCED],
                   "disabled", (json_int_t)result->num[TG_EXACT_OFF], "unenforced", unenforced_json(result), "rows",
                   rows);
}

json_t *tg_exact_failure_json(const char *message) {
  return json_pack("{s:i, s:s, s:s}", "schema", 1, "verdict", "error", "message", message);
}

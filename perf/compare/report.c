#include "perf/compare/report.h"

#include <math.h>

static json_t *identity(const struct tg_compare_identity *side) {
  return json_pack("{s:s, s:s?, s:s}", "name", side->name, "commit", side->commit, "sha256", side->sha256);
}

static json_t *estimate(const struct tg_compare_estimate *estimate, const struct tg_compare_metric *metric) {
  if (estimate->rounds == 0) {
    return json_null();
  }
  json_t *json = json_pack("{s:I, s:f, s:f, s:f, s:s}", "rounds", (json_int_t)estimate->rounds, "base_median",
                           estimate->median[TG_BASE], "candidate_median", estimate->median[TG_CANDIDATE], "times_worse",
                           estimate->worse.centre, "status", tg_status_name(estimate->status));
  (void)json_object_set_new(
      json, "interval",
      estimate->has_interval ? json_pack("[f, f]", estimate->worse.low, estimate->worse.high) : json_null());
  if (!metric->firm) {
    (void)json_object_set_new(json, "client_bound_runs", json_integer((json_int_t)estimate->client_bound));
  }
  return json;
}

static json_t *metrics(const struct tg_ab_judgement *comparison) {
  json_t *rows = json_array();
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    const struct tg_compare_row *row = &comparison->rows[i];
    (void)json_array_append_new(
        rows,
        json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:b, s:[o, o], s:s}", "name", row->metric->name, "unit",
                  row->metric->unit, "workload", tg_compare_workload_name(row->metric->workload), "better",
                  row->metric->direction == TG_AT_MOST ? "less" : "more", "firm", row->metric->firm, "status",
                  tg_status_name(row->status), "suspected", row->suspected, "sets",
                  estimate(&row->sets[0], row->metric), estimate(&row->sets[1], row->metric), "message", row->message));
  }
  return rows;
}

json_t *tg_compare_report(const struct tg_compare_result *result, const struct tg_compare_config *config,
                          const struct tg_compare_identity sides[TG_COMPARE_SIDES], const json_t *provenance) {
  const struct tg_ab_judgement *comparison = &result->verdict;
  json_t *sets = json_array();
  for (int i = 0; i < (result->has_second ? TG_COMPARE_SETS : 1); i++) {
    (void)json_array_append_new(sets, tg_compare_set_json(&result->sets[i]));
  }
  // `O` of json_pack takes a reference, which only changes the count.
  return json_pack("{s:i, s:s, s:b, s:s, s:f, s:f, s:I, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:O}", "schema",
                   TG_COMPARE_REPORT_SCHEMA, "kind", "ab", "passed", comparison->status == TG_STATUS_PASS, "verdict",
                   tg_status_name(comparison->status), "allowed_regression", comparison->allow, "confidence",
                   TG_COMPARE_CONFIDENCE, "rounds_of_a_set", (json_int_t)config->rounds, "budget_s", config->budget_s,
                   "measured_s", result->measured_s, "stolen_fraction",
                   isfinite(result->stolen) ? json_real(result->stolen) : json_null(), "base",
                   identity(&sides[TG_BASE]), "candidate", identity(&sides[TG_CANDIDATE]), "metrics",
                   metrics(comparison), "samples", sets, "provenance", provenance);
}

json_t *tg_compare_report_failure(const char *stage, const char *message,
                                  const struct tg_compare_identity sides[TG_COMPARE_SIDES], const json_t *provenance) {
  return json_pack("{s:i, s:s, s:b, s:{s:s, s:s}, s:o, s:o, s:O?}", "schema", TG_COMPARE_REPORT_SCHEMA, "kind", "ab",
                   "passed", false, "error", "stage", stage, "message", message, "base", identity(&sides[TG_BASE]),
                   "candidate", identity(&sides[TG_CANDIDATE]), "provenance", provenance);
}

#include "perf/report/json_fields.h"
#include "perf/report/report.h"
#include "perf/report/report_row.h"

static json_t *encode_run(const struct tg_report *report) {
  // s*: no such key for NULL.
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s*, s:s, s:o}", "id", report->id, "start", report->start, "finish",
                   report->finish, "mode", tg_mode_name(report->mode), "profile", tg_profile_name(report->profile),
                   "evidence", report->evidence, "server", report->server, "quickack", report->quickack, "fault",
                   tg_field_from_text(report->fault));
}

static json_t *encode_earlier(const struct tg_report *report) {
  json_t *list = json_array();
  for (size_t i = 0; i < report->num_earlier; i++) {
    const struct tg_earlier_run *run = &report->earlier[i];
    (void)json_array_append_new(
        list,
        json_pack("{s:s, s:s, s:s, s:b, s:s, s:o}", "id", run->id, "start", run->start, "mode", tg_mode_name(run->mode),
                  "dirty", run->dirty, "verdict", run->finished ? tg_outcome_name(run->verdict) : "unfinished",
                  "exit_status", run->finished ? json_integer(run->exit_status) : json_null()));
  }
  return json_pack("{s:I, s:o}", "total", (json_int_t)report->num_earlier_total, "listed", list);
}

static json_t *encode_error(const struct tg_report *report) {
  return json_pack("{s:s, s:s, s:{s:o, s:o}}", "stage", report->error_stage, "message", report->error_message,
                   "context", "workload", tg_field_from_text(report->error_workload), "round",
                   report->error_round > 0 ? json_integer(report->error_round) : json_null());
}

static json_t *encode_reasons(const struct tg_report *report) {
  json_t *reasons = json_array();
  for (size_t i = 0; i < report->num_reasons; i++) {
    (void)json_array_append_new(reasons, json_string(report->reasons[i]));
  }
  return reasons;
}

static json_t *encode_calibration(const struct tg_calibration *calibration) {
  if (!calibration->known) {
    return json_null();
  }
  return json_pack("{s:f, s:f, s:f, s:o}", "median_us", calibration->median_us, "slowest_over_median",
                   calibration->slowest, "later_over_earlier", calibration->later_over_earlier, "values_us",
                   tg_field_from_borrowed(calibration->values_us));
}

static json_t *encode_drift(const struct tg_drift *drift) {
  if (drift->rows == 0) {
    return json_null();
  }
  return json_pack("{s:s, s:I, s:f, s:f, s:f}", "against", drift->against, "rows", (json_int_t)drift->rows, "median",
                   drift->median, "lower_quartile", drift->lower_quartile, "upper_quartile", drift->upper_quartile);
}

static json_t *encode_counts(const struct tg_report *report) {
  struct tg_report_counts counts = tg_report_count(report);
  return json_pack("{s:I, s:I, s:I, s:I}", "judged", (json_int_t)counts.judged, "passed", (json_int_t)counts.passed,
                   "failed", (json_int_t)counts.failed, "undecided", (json_int_t)counts.undecided);
}

static json_t *encode_rows(const struct tg_report *report) {
  json_t *rows = json_array();
  for (size_t i = 0; i < report->num_rows; i++) {
    // A row that does not encode is out of memory; without it the whole does not decode.
    (void)json_array_append_new(rows, tg_report_row_encode(&report->rows[i]));
  }
  return rows;
}

static json_t *encode_measurement(const struct tg_report *report) {
  return json_pack(
      "{s:o, s:b, s:o, s:f, s:b, s:b, s:o, s:{s:b, s:f, s:f, s:o}, s:o, s:o, s:o, s:o, s:o, s:O*}", "counts",
      encode_counts(report), "readable", report->readable, "reasons", encode_reasons(report), "measured_s",
      report->measured_s, "budget_extended", report->budget_extended, "undecided_reported", report->undecided_reported,
      "stolen_fraction", tg_field_from_number(report->has_stolen, report->stolen), "negative_control", "host_stalls",
      report->host_stalls, "off_p50_ms_before", report->off_p50_ms[0], "off_p50_ms_after", report->off_p50_ms[1],
      "hidden_by", tg_field_from_text(report->host_stalls ? NULL : report->hidden_by), "calibration",
      encode_calibration(&report->calibration), "drift", encode_drift(&report->drift), "background",
      tg_field_from_borrowed(report->background), "gates", encode_rows(report), "commands",
      tg_field_from_borrowed(report->commands), "diagnosis", (json_t *)report->diagnosis);
}

json_t *tg_report_encode(const struct tg_report *report) {
  bool complete = report->kind == TG_REPORT_COMPLETE;
  json_t *root =
      json_pack("{s:i, s:s, s:o, s:s, s:b, s:i, s:b, s:b, s:o, s:b, s:o, s:o}", "schema", TG_REPORT_SCHEMA, "kind",
                complete ? "complete" : "error", "run", encode_run(report), "verdict", tg_outcome_name(report->verdict),
                "passed", report->passed, "exit_status", (int)report->exit_status, "acceptance", report->acceptance,
                "enforced", report->enforced, "unenforced_because", tg_field_from_text(report->unenforced_because),
                "partial", report->partial, "earlier_runs", encode_earlier(report), "provenance",
                tg_environment_encode(&report->environment));
  json_t *rest = complete ? encode_measurement(report) : json_pack("{s:o}", "error", encode_error(report));
  if (root == NULL || rest == NULL || json_object_update(root, rest) != 0) {
    json_decref(root);
    root = NULL;
  }
  json_decref(rest);
  return root;
}

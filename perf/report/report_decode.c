#include <stdlib.h>
#include <string.h>

#include "perf/report/json_fields.h"
#include "perf/report/report.h"
#include "perf/report/report_row.h"

#define EARLIER_TOTAL_MAX 10000000
#define LONGEST_S         1e6

static const char *mode_name(int mode) {
  return tg_mode_name((enum tg_mode)mode);
}

static const char *profile_name(int profile) {
  return tg_profile_name((enum tg_profile)profile);
}

static const char *outcome_name(int outcome) {
  return tg_outcome_name((enum tg_outcome)outcome);
}

static const char *outcome_or_unfinished(int outcome) {
  return outcome == TG_OUTCOME_ERROR + 1 ? "unfinished" : outcome_name(outcome);
}

static bool decode_mode(struct tg_json_place *place, enum tg_mode *out) {
  int mode = 0;
  bool ok = tg_field_name(place, "mode", mode_name, TG_MODE_ONLY + 1, &mode);
  *out = (enum tg_mode)mode;
  return ok;
}

static bool decode_exit(struct tg_json_place *place, enum tg_exit *out) {
  long long status = 0;
  bool ok = tg_json_integer(place, "exit_status", TG_EXIT_PASS, TG_EXIT_UNENFORCED, &status);
  *out = (enum tg_exit)status;
  return ok &&
         (status != TG_EXIT_USAGE || tg_json_fail(place, "exit_status", "2 is usage, of which there is no report"));
}

static bool decode_run(struct tg_report *out, struct tg_json_place *root) {
  static const char *const quickacks[] = {"rearm", "accept", "off"};
  struct tg_json_place place;
  int profile = 0;
  int quickack = 0;
  if (!tg_json_object(root, "run", &place) || !tg_field_hex(&place, "id", TG_RUN_ID_LEN, &out->id) ||
      !tg_field_time(&place, "start", &out->start) || !tg_field_time(&place, "finish", &out->finish) ||
      !decode_mode(&place, &out->mode) ||
      !tg_field_name(&place, "profile", profile_name, TG_PROFILE_PUBLISHED + 1, &profile) ||
      !tg_field_bool(&place, "evidence", &out->evidence) || !tg_json_optional_text(&place, "server", &out->server) ||
      !tg_json_choice(&place, "quickack", quickacks, 3, &quickack) ||
      !tg_field_text_or_null(&place, "fault", &out->fault) || !tg_json_close(&place)) {
    return false;
  }
  out->profile = (enum tg_profile)profile;
  out->quickack = quickacks[quickack];
  return strcmp(out->start, out->finish) <= 0 || tg_json_fail(&place, "finish", "is before the start");
}

static bool decode_earlier_run(struct tg_earlier_run *out, struct tg_json_place *place) {
  int verdict = 0;
  if (!tg_field_hex(place, "id", TG_RUN_ID_LEN, &out->id) || !tg_field_time(place, "start", &out->start) ||
      !decode_mode(place, &out->mode) || !tg_field_bool(place, "dirty", &out->dirty) ||
      !tg_field_name(place, "verdict", outcome_or_unfinished, TG_OUTCOME_ERROR + 2, &verdict)) {
    return false;
  }
  out->finished = verdict <= TG_OUTCOME_ERROR;
  out->verdict = out->finished ? (enum tg_outcome)verdict : TG_OUTCOME_ERROR;
  if (tg_json_is_null(place, "exit_status") != !out->finished) {
    return tg_json_fail(place, "exit_status", "must be null if, and only if, the run is unfinished");
  }
  return (!out->finished || decode_exit(place, &out->exit_status)) && tg_json_close(place);
}

static bool decode_earlier(struct tg_report *out, struct tg_json_place *root) {
  struct tg_json_place place;
  json_t *list = NULL;
  if (!tg_json_object(root, "earlier_runs", &place) ||
      !tg_field_size(&place, "total", EARLIER_TOTAL_MAX, &out->num_earlier_total) ||
      !tg_json_array(&place, "listed", &list)) {
    return false;
  }
  size_t num = json_array_size(list);
  size_t expected = out->num_earlier_total < TG_REPORT_EARLIER_MAX ? out->num_earlier_total : TG_REPORT_EARLIER_MAX;
  if (num != expected) {
    return tg_json_fail(&place, "listed", "must have %zu elements, has %zu", expected, num);
  }
  out->earlier = calloc(num + 1, sizeof(*out->earlier));
  if (out->earlier == NULL) {
    return tg_json_fail(&place, "listed", "out of memory");
  }
  for (; out->num_earlier < num; out->num_earlier++) {
    struct tg_json_place element;
    if (!tg_json_element(&place, "listed", out->num_earlier, &element) ||
        !decode_earlier_run(&out->earlier[out->num_earlier], &element)) {
      return false;
    }
  }
  return tg_json_close(&place);
}

static bool decode_error(struct tg_report *out, struct tg_json_place *root) {
  static const char *const stages[] = {"setup", "exact", "server", "warm-up", "measurement", "teardown"};
  struct tg_json_place place;
  struct tg_json_place context;
  int stage = 0;
  if (!tg_json_object(root, "error", &place) || !tg_json_choice(&place, "stage", stages, 6, &stage) ||
      !tg_json_text(&place, "message", &out->error_message) || !tg_json_object(&place, "context", &context) ||
      !tg_json_close(&place) || !tg_field_text_or_null(&context, "workload", &out->error_workload)) {
    return false;
  }
  out->error_stage = stages[stage];
  return (tg_json_is_null(&context, "round") ||
          tg_json_integer(&context, "round", 1, TG_ROUNDS_MAX, &out->error_round)) &&
         tg_json_close(&context);
}

static bool decode_reasons(struct tg_report *out, struct tg_json_place *root) {
  json_t *reasons = NULL;
  if (!tg_json_array(root, "reasons", &reasons)) {
    return false;
  }
  size_t num = json_array_size(reasons);
  if (num > TG_REPORT_REASONS_MAX) {
    return tg_json_fail(root, "reasons", "more than %d", TG_REPORT_REASONS_MAX);
  }
  for (; out->num_reasons < num; out->num_reasons++) {
    const char *reason = json_string_value(json_array_get(reasons, out->num_reasons));
    if (reason == NULL || reason[0] == '\0') {
      return tg_json_fail(root, "reasons", "element %zu must be a text", out->num_reasons);
    }
    out->reasons[out->num_reasons] = reason;
  }
  return out->readable == (num == 0) ||
         tg_json_fail(root, "reasons", "a run is readable if, and only if, there is no reason against it");
}

static bool decode_negative_control(struct tg_report *out, struct tg_json_place *root) {
  struct tg_json_place place;
  if (!tg_json_object(root, "negative_control", &place) || !tg_field_bool(&place, "host_stalls", &out->host_stalls) ||
      !tg_json_number(&place, "off_p50_ms_before", &out->off_p50_ms[0]) ||
      !tg_json_number(&place, "off_p50_ms_after", &out->off_p50_ms[1]) ||
      !tg_field_text_or_null(&place, "hidden_by", &out->hidden_by) || !tg_json_close(&place)) {
    return false;
  }
  return out->host_stalls == (out->hidden_by == NULL) ||
         tg_json_fail(&place, "hidden_by", "must be null if, and only if, the host stalls");
}

static bool decode_calibration(struct tg_calibration *out, struct tg_json_place *root) {
  struct tg_json_place place;
  json_t *values = NULL;
  if (!tg_field_object_or_null(root, "calibration", &out->known, &place)) {
    return false;
  }
  if (!out->known) {
    return true;
  }
  if (!tg_json_positive(&place, "median_us", &out->median_us) ||
      !tg_json_positive(&place, "slowest_over_median", &out->slowest) ||
      !tg_json_positive(&place, "later_over_earlier", &out->later_over_earlier) ||
      !tg_json_array(&place, "values_us", &values)) {
    return false;
  }
  for (size_t i = 0; i < json_array_size(values); i++) {
    if (!(json_number_value(json_array_get(values, i)) > 0)) {
      return tg_json_fail(&place, "values_us", "element %zu must be a number above 0", i);
    }
  }
  out->values_us = values;
  return (json_array_size(values) > 0 || tg_json_fail(&place, "values_us", "must not be empty")) &&
         tg_json_close(&place);
}

static bool decode_drift(struct tg_drift *out, struct tg_json_place *root) {
  static const char *const against[] = {"baseline", "history"};
  struct tg_json_place place;
  bool present = false;
  int which = 0;
  if (!tg_field_object_or_null(root, "drift", &present, &place)) {
    return false;
  }
  if (!present) {
    return true;
  }
  if (!tg_json_choice(&place, "against", against, 2, &which) ||
      !tg_field_size(&place, "rows", TG_REPORT_ROWS_MAX, &out->rows) ||
      !tg_json_positive(&place, "median", &out->median) ||
      !tg_json_positive(&place, "lower_quartile", &out->lower_quartile) ||
      !tg_json_positive(&place, "upper_quartile", &out->upper_quartile)) {
    return false;
  }
  out->against = against[which];
  return (out->rows > 0 || tg_json_fail(&place, "rows", "must be above 0; write null instead of the whole")) &&
         tg_json_close(&place);
}

static bool decode_rows(struct tg_report *out, struct tg_json_place *root) {
  json_t *rows = NULL;
  if (!tg_json_array(root, "gates", &rows)) {
    return false;
  }
  size_t num = json_array_size(rows);
  if (num == 0 || num > TG_REPORT_ROWS_MAX) {
    return tg_json_fail(root, "gates", "must have 1 to %d elements, has %zu", TG_REPORT_ROWS_MAX, num);
  }
  out->rows = calloc(num, sizeof(*out->rows));
  if (out->rows == NULL) {
    return tg_json_fail(root, "gates", "out of memory");
  }
  for (size_t i = 0; i < num; i++) {
    struct tg_json_place place;
    if (!tg_json_element(root, "gates", i, &place) || !tg_report_row_decode(&out->rows[i], &place)) {
      return false;
    }
    if (tg_report_row_named(out, out->rows[i].name) != NULL) {
      return tg_json_fail(&place, "name", "\"%s\" is there already", out->rows[i].name);
    }
    out->num_rows = i + 1;
  }
  return true;
}

static bool decode_counts(struct tg_report *out, struct tg_json_place *root) {
  struct tg_report_counts counts = tg_report_count(out);
  struct tg_report_counts said;
  struct tg_json_place place;
  if (!tg_json_object(root, "counts", &place) || !tg_field_size(&place, "judged", TG_REPORT_ROWS_MAX, &said.judged) ||
      !tg_field_size(&place, "passed", TG_REPORT_ROWS_MAX, &said.passed) ||
      !tg_field_size(&place, "failed", TG_REPORT_ROWS_MAX, &said.failed) ||
      !tg_field_size(&place, "undecided", TG_REPORT_ROWS_MAX, &said.undecided) || !tg_json_close(&place)) {
    return false;
  }
  return memcmp(&counts, &said, sizeof(said)) == 0 ||
         tg_json_fail(root, "counts", "the rows say otherwise: %zu judged, %zu passed, %zu failed, %zu undecided",
                      counts.judged, counts.passed, counts.failed, counts.undecided);
}

static bool decode_diagnosis(struct tg_report *out, struct tg_json_place *root) {
  struct tg_json_place place;
  const json_t *experiments = NULL;
  json_t *lines = NULL;
  if (!tg_json_has(root, "diagnosis")) {
    return true;
  }
  if (!tg_json_object(root, "diagnosis", &place) || !tg_field_any_object(&place, "experiments", &experiments) ||
      !tg_json_array(&place, "lines", &lines) || !tg_json_close(&place)) {
    return false;
  }
  for (size_t i = 0; i < json_array_size(lines); i++) {
    if (!json_is_string(json_array_get(lines, i))) {
      return tg_json_fail(&place, "lines", "element %zu must be a text", i);
    }
  }
  out->diagnosis = place.object;
  return true;
}

static bool decode_measurement(struct tg_report *out, struct tg_json_place *root) {
  return tg_field_bool(root, "readable", &out->readable) && decode_reasons(out, root) &&
         tg_json_number(root, "measured_s", &out->measured_s) &&
         ((out->measured_s >= 0 && out->measured_s < LONGEST_S) ||
          tg_json_fail(root, "measured_s", "must be between 0 and %g", LONGEST_S)) &&
         tg_field_bool(root, "budget_extended", &out->budget_extended) &&
         tg_field_bool(root, "undecided_reported", &out->undecided_reported) &&
         tg_field_number_or_null(root, "stolen_fraction", &out->has_stolen, &out->stolen) &&
         decode_negative_control(out, root) && tg_field_any_object(root, "background", &out->background) &&
         decode_calibration(&out->calibration, root) && decode_drift(&out->drift, root) && decode_rows(out, root) &&
         decode_counts(out, root) && tg_field_any_object(root, "commands", &out->commands) &&
         decode_diagnosis(out, root);
}

static bool check_verdict(struct tg_report *out, struct tg_json_place *root) {
  if ((out->verdict == TG_OUTCOME_ERROR) != (out->kind == TG_REPORT_ERROR)) {
    return tg_json_fail(root, "verdict", "is error if, and only if, kind is");
  }
  if (out->partial != (out->mode == TG_MODE_ONLY)) {
    return tg_json_fail(root, "partial", "is true if, and only if, the mode is only");
  }
  bool full = out->kind == TG_REPORT_COMPLETE && out->mode == TG_MODE_FULL;
  if (out->enforced && !full) {
    return tg_json_fail(root, "enforced", "only a complete report of mode full enforces a baseline");
  }
  if ((out->unenforced_because != NULL) != (full && !out->enforced)) {
    return tg_json_fail(root, "unenforced_because", "is a text if, and only if, a full run did not enforce");
  }
  if (out->undecided_reported && out->verdict != TG_OUTCOME_UNDECIDED) {
    return tg_json_fail(root, "undecided_reported", "but the verdict is %s", tg_outcome_name(out->verdict));
  }
  return out->kind == TG_REPORT_ERROR || out->verdict == tg_report_verdict_of_rows(out) ||
         tg_json_fail(root, "verdict", "is %s, but the rows say %s", tg_outcome_name(out->verdict),
                      tg_outcome_name(tg_report_verdict_of_rows(out)));
}

static bool check_conclusion(const struct tg_report *out, struct tg_json_place *root) {
  struct tg_report concluded = *out;
  tg_report_conclude(&concluded);
  if (concluded.exit_status != out->exit_status) {
    return tg_json_fail(root, "exit_status", "must be %d for what the report says", (int)concluded.exit_status);
  }
  if (concluded.passed != out->passed) {
    return tg_json_fail(root, "passed", "must be %s for what the report says", concluded.passed ? "true" : "false");
  }
  return concluded.acceptance == out->acceptance ||
         tg_json_fail(root, "acceptance", "must be %s for what the report says",
                      concluded.acceptance ? "true" : "false");
}

static bool decode(struct tg_report *out, json_t *value, struct tg_error *err) {
  static const char *const kinds[] = {"complete", "error"};
  struct tg_json_place root;
  struct tg_json_place provenance;
  int kind = 0;
  int verdict = 0;
  if (!tg_json_open(&root, out->file, value, err) || !tg_json_schema(&root, TG_REPORT_SCHEMA) ||
      !tg_json_choice(&root, "kind", kinds, 2, &kind) ||
      !tg_field_name(&root, "verdict", outcome_name, TG_OUTCOME_ERROR + 1, &verdict)) {
    return false;
  }
  out->kind = (enum tg_report_kind)kind;
  out->verdict = (enum tg_outcome)verdict;
  return decode_run(out, &root) && tg_field_bool(&root, "passed", &out->passed) &&
         decode_exit(&root, &out->exit_status) && tg_field_bool(&root, "acceptance", &out->acceptance) &&
         tg_field_bool(&root, "enforced", &out->enforced) &&
         tg_field_text_or_null(&root, "unenforced_because", &out->unenforced_because) &&
         tg_field_bool(&root, "partial", &out->partial) && decode_earlier(out, &root) &&
         tg_json_object(&root, "provenance", &provenance) && tg_environment_decode(&out->environment, &provenance) &&
         (out->kind == TG_REPORT_ERROR ? decode_error(out, &root) : decode_measurement(out, &root)) &&
         tg_json_close(&root) && check_verdict(out, &root) && check_conclusion(out, &root);
}

// What a decoded report borrows from.
struct backing {
  char *file;
  json_t *root;
};

struct tg_report *tg_report_from_json(const char *file, json_t *value, struct tg_error *err) {
  struct tg_report *report = calloc(1, sizeof(*report));
  struct backing *backing = calloc(1, sizeof(*backing));
  char *name = strdup(file);
  if (report == NULL || backing == NULL || name == NULL) {
    tg_error_set(err, "%s: out of memory", file);
    free(report);
    free(backing);
    free(name);
    return NULL;
  }
  *backing = (struct backing){.file = name, .root = json_incref(value)};
  report->impl = backing;
  report->file = name;
  if (decode(report, value, err)) {
    return report;
  }
  tg_report_free(report);
  return NULL;
}

static struct tg_report *from_new_json(const char *file, json_t *value, struct tg_error *err) {
  struct tg_report *report = value == NULL ? NULL : tg_report_from_json(file, value, err);
  json_decref(value);
  return report;
}

struct tg_report *tg_report_load(const char *file, struct tg_error *err) {
  return from_new_json(file, tg_json_load(file, err), err);
}

struct tg_report *tg_report_parse(const char *file, const char *text, size_t len, struct tg_error *err) {
  return from_new_json(file, tg_json_parse(file, text, len, err), err);
}

void tg_report_free(struct tg_report *report) {
  if (report == NULL) {
    return;
  }
  struct backing *backing = report->impl;
  free(report->rows);
  free(report->earlier);
  json_decref(backing->root);
  free(backing->file);
  free(backing);
  free(report);
}

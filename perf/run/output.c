#include "perf/run/output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/manifest/row.h"
#include "perf/report/folder.h"
#include "perf/report/publish.h"
#include "perf/run/exact_check.h"

// Takes `value` over.
static bool publish(const char *folder, const char *name, json_t *value, int digits, tg_publish_check *check,
                    struct tg_error *err) {
  char path[PATH_MAX];
  bool ok = snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path);
  if (!ok) {
    tg_error_set(err, "report unavailable: %s/%s: the path is too long", folder, name);
  }
  ok = ok && tg_publish(path, value, digits, check, err);
  json_decref(value);
  return ok;
}

bool tg_output_publish(const char *folder, const char *name, json_t *value, struct tg_error *err) {
  return publish(folder, name, value, TG_EXACT_DIGITS, NULL, err);
}

static bool row_reads_back(const char *file, struct tg_error *err) {
  struct tg_row_file *row = tg_row_load(file, err);
  bool ok = row != NULL;
  tg_row_free(row);
  return ok;
}

static json_t *row_of(const struct tg_report *report) {
  char source[64];
  json_t *metrics = json_object();
  for (size_t i = 0; i < report->num_rows; i++) {
    if (report->rows[i].has_value) {
      (void)json_object_set_new(metrics, report->rows[i].name, json_real(report->rows[i].value));
    }
  }
  (void)snprintf(source, sizeof(source), "tlsgate gates, run %s", report->id);
  return json_pack("{s:i, s:s, s:o}", "schema", TG_ROW_SCHEMA, "source", source, "metrics", metrics);
}

static json_t *samples_of(const struct tg_run *run, const char *id) {
  json_t *metrics = json_object();
  for (size_t i = 0; i < run->samples->num; i++) {
    const struct tg_series *series = &run->samples->series[i];
    json_t *values = json_array();
    for (size_t j = 0; j < series->num; j++) {
      const struct tg_sample *sample = &series->samples[j];
      json_t *entry = json_pack("{s:I, s:f, s:b}", "round", (json_int_t)sample->round, "value", sample->value,
                                "client_bound", sample->client_bound);
      if (sample->trials > 0) {
        (void)json_object_set_new(entry, "hits", json_integer((json_int_t)sample->hits));
        (void)json_object_set_new(entry, "trials", json_integer((json_int_t)sample->trials));
      }
      (void)json_array_append_new(values, entry);
    }
    (void)json_object_set_new(metrics, series->metric, values);
  }
  return json_pack("{s:i, s:s, s:o, s:O}", "schema", TG_SAMPLES_SCHEMA, "run", id, "metrics", metrics, "tools",
                   run->raw);
}

static bool make_folder(const char *folder, struct tg_error *err) {
  struct tg_error why;
  bool ok = tg_folder_make(folder, &why);
  if (!ok) {
    tg_error_set(err, "report unavailable: %.400s", why.text);
  }
  return ok;
}

bool tg_output_write(const char *folder, const struct tg_run *run, const struct tg_report *report,
                     struct tg_error *err) {
  return make_folder(folder, err) &&
         publish(folder, "row.json", row_of(report), TG_REPORT_DIGITS, row_reads_back, err) &&
         publish(folder, "samples.json", samples_of(run, report->id), TG_EXACT_DIGITS, NULL, err) &&
         publish(folder, "report.json", tg_report_encode(report), TG_REPORT_DIGITS, tg_publish_report_check, err);
}

bool tg_output_write_failure(const char *folder, const struct tg_report *report, struct tg_error *err) {
  static const char *const stale[] = {"row.json", "samples.json", TG_EXACT_CHECK_FILE};
  if (!make_folder(folder, err) ||
      !publish(folder, "report.json", tg_report_encode(report), TG_REPORT_DIGITS, tg_publish_report_check, err)) {
    return false;
  }
  for (size_t i = 0; i < sizeof(stale) / sizeof(stale[0]); i++) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/%s", folder, stale[i]) < (int)sizeof(path)) {
      (void)unlink(path);
    }
  }
  return true;
}

#include "perf/run/output.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/manifest/row.h"

#define REPORT_SCHEMA 1
#define DIGITS        9  // significant ones: no clock here resolves more

bool tg_output_prepare(const char *folder, struct tg_error *err) {
  char path[PATH_MAX];
  if (folder[0] == '\0') {
    tg_error_set(err, "the folder for the reports has no name");
    return false;
  }
  if (snprintf(path, sizeof(path), "%s", folder) >= (int)sizeof(path)) {
    tg_error_set(err, "%s: the path is too long", folder);
    return false;
  }
  for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (slash != NULL) {
      *slash = '\0';
    }
    struct stat there;
    if (mkdir(path, 0777) != 0 && (errno != EEXIST || (stat(path, &there) == 0 && !S_ISDIR(there.st_mode)))) {
      tg_error_set(err, "cannot make the folder %s: %s", path, strerror(errno));
      return false;
    }
    if (slash == NULL) {
      break;
    }
    *slash = '/';
  }
  if (access(folder, W_OK | X_OK) != 0) {
    tg_error_set(err, "cannot write in the folder %s: %s", folder, strerror(errno));
    return false;
  }
  return true;
}

bool tg_output_publish(const char *folder, const char *name, json_t *value, struct tg_error *err) {
  char path[PATH_MAX];
  char beside[PATH_MAX];
  bool fits = snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
              snprintf(beside, sizeof(beside), "%s/.%s.%ld", folder, name, (long)getpid()) < (int)sizeof(beside);
  bool ok = fits && value != NULL && json_dump_file(value, beside, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS)) == 0 &&
            rename(beside, path) == 0;
  if (!ok) {
    tg_error_set(err, "report unavailable: cannot write %s/%s: %s", folder, name,
                 value == NULL ? "out of memory" : strerror(errno));
    if (fits) {
      (void)unlink(beside);
    }
  }
  json_decref(value);
  return ok;
}

static json_t *real_or_null(bool known, double value) {
  return known && isfinite(value) ? json_real(value) : json_null();
}

static json_t *row_of(const struct tg_run *run) {
  json_t *metrics = json_object();
  for (size_t i = 0; i < run->verdict->num_gates; i++) {
    const struct tg_gate_verdict *gate = &run->verdict->gates[i];
    if (gate->has_value) {
      (void)json_object_set_new(metrics, gate->gate->name, json_real(gate->value));
    }
  }
  return json_pack("{s:i, s:s, s:o}", "schema", TG_ROW_SCHEMA, "source", "tlsgate gates", "metrics", metrics);
}

static json_t *gates_of(const struct tg_verdict *verdict) {
  json_t *gates = json_array();
  for (size_t i = 0; i < verdict->num_gates; i++) {
    const struct tg_gate_verdict *gate = &verdict->gates[i];
    (void)json_array_append_new(
        gates,
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:s}", "name", gate->gate->name,
                  "status", tg_status_name(gate->status), "unit", gate->gate->unit, "kind",
                  tg_gate_kind_name(gate->gate->kind), "direction", tg_direction_sign(gate->gate->direction), "value",
                  real_or_null(gate->has_value, gate->value), "bound", real_or_null(gate->has_bound, gate->bound),
                  "spread", real_or_null(gate->has_value, gate->spread), "times_outside",
                  real_or_null(gate->has_bound && gate->has_value, gate->distance), "rounds", (json_int_t)gate->rounds,
                  "client_bound_rounds", (json_int_t)gate->client_bound, "judged_by_firm_metric", gate->judged_by_firm,
                  "message", gate->message));
  }
  return gates;
}

static json_t *report_of(const struct tg_run *run, const json_t *provenance) {
  const struct tg_verdict *verdict = run->verdict;
  return json_pack("{s:i, s:b, s:s, s:I, s:I, s:I, s:I, s:f, s:b, s:o, s:{s:b, s:f, s:f, s:o}, s:o, s:O?, s:O}",
                   "schema", REPORT_SCHEMA, "passed", verdict->status == TG_STATUS_PASS, "verdict",
                   tg_status_name(verdict->status), "gates_passed", (json_int_t)verdict->passed, "gates_failed",
                   (json_int_t)verdict->failed, "gates_undecided", (json_int_t)verdict->undecided, "gates_judged",
                   (json_int_t)verdict->gated, "measured_s", run->measured_s, "budget_extended", run->extended,
                   "stolen_fraction", real_or_null(true, run->stolen), "negative_control", "host_stalls",
                   run->host_stalls, "off_p50_ms_before", run->off_p50_ms[0], "off_p50_ms_after", run->off_p50_ms[1],
                   "hidden_by", run->host_stalls ? json_null() : json_string(run->hidden_by), "gates",
                   gates_of(verdict), "commands", run->commands, "provenance", provenance);
}

static json_t *samples_of(const struct tg_run *run) {
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
  return json_pack("{s:i, s:o, s:O}", "schema", REPORT_SCHEMA, "metrics", metrics, "tools", run->raw);
}

bool tg_output_write(const char *folder, const struct tg_run *run, const json_t *provenance, struct tg_error *err) {
  // `O` of json_pack takes a reference, which only changes the count.
  return tg_output_prepare(folder, err) && tg_output_publish(folder, "row.json", row_of(run), err) &&
         tg_output_publish(folder, "samples.json", samples_of(run), err) &&
         tg_output_publish(folder, "report.json", report_of(run, provenance), err);
}

bool tg_output_write_failure(const char *folder, const char *message, const json_t *provenance, struct tg_error *err) {
  static const char *const stale[] = {"row.json", "samples.json"};
  if (!tg_output_prepare(folder, err)) {
    return false;
  }
  char path[PATH_MAX];
  for (size_t i = 0; i < sizeof(stale) / sizeof(stale[0]); i++) {
    if (snprintf(path, sizeof(path), "%s/%s", folder, stale[i]) < (int)sizeof(path)) {
      (void)unlink(path);
    }
  }
  return tg_output_publish(folder, "report.json",
                 json_pack("{s:i, s:b, s:{s:s}, s:O}", "schema", REPORT_SCHEMA, "passed", false, "error", "message",
                           message, "provenance", provenance),
                 err);
}

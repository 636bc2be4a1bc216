#include "perf/certify/testing/timed_run.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/baseline/compare.h"
#include "perf/certify/state.h"
#include "perf/process/runfiles.h"
#include "perf/report/report_fixture.h"
#include "perf/trust/trust.h"
#include "perf/verdict/narrow.h"

#define ROUNDS 12

// The usual value of a metric: ten times inside its bound, or 1.
static double usual(const struct tg_manifest *manifest, const char *metric) {
  const struct tg_gate *gate = tg_manifest_gate(manifest, metric);
  if (gate == NULL) {
    return 1;
  }
  double inside = gate->direction == TG_AT_MOST ? 0.1 : 10;
  if (gate->relative_to != NULL) {
    return gate->factor * usual(manifest, gate->relative_to) * inside;
  }
  return gate->bound > 0 ? gate->bound * inside : 1;
}

static struct tg_manifest *load_manifest(void) {
  char path[PATH_MAX];
  struct tg_error err;
  struct tg_manifest *manifest = tg_runfile("baselines/gates.json", path, &err) ? tg_manifest_load(path, &err) : NULL;
  if (manifest == NULL) {
    fail_msg("%s", err.text);
  }
  return manifest;
}

static struct tg_samples *make_samples(const struct tg_manifest *manifest, double worse) {
  struct tg_samples *samples = tg_samples_create();
  struct tg_error err;
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const struct tg_gate *gate = &manifest->gates[i];
    double value = usual(manifest, gate->name);
    for (size_t round = 0; round < ROUNDS; round++) {
      double noise = 1 + 0.01 * (double)(round % 3);
      double factor = gate->direction == TG_AT_MOST ? worse : 1 / worse;
      bool ok = gate->judged_by == TG_JUDGED_FRACTION
                    ? tg_samples_add_count(samples, gate->name, round, 0, 500, &err)
                    : tg_samples_add(samples, gate->name, round, value * factor * noise, false, &err);
      if (!ok) {
        fail_msg("%s", err.text);
      }
    }
  }
  return samples;
}

static json_t *samples_json(const struct tg_samples *samples, const char *id) {
  json_t *metrics = json_object();
  for (size_t i = 0; i < samples->num; i++) {
    const struct tg_series *series = &samples->series[i];
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
  return json_pack("{s:i, s:s, s:o, s:{}}", "schema", 2, "run", id, "metrics", metrics, "tools");
}

static void fill_rows(struct tg_report *report, const struct tg_verdict *verdict, const struct tg_samples *samples) {
  for (size_t i = 0; i < verdict->num_gates; i++) {
    const struct tg_gate_verdict *gate = &verdict->gates[i];
    struct tg_report_row *row = &report->rows[i];
    *row = (struct tg_report_row){.name = gate->gate->name,
                                  .unit = gate->gate->unit,
                                  .kind = gate->gate->kind,
                                  .direction = gate->gate->direction,
                                  .status = gate->status,
                                  .has_value = gate->has_value,
                                  .value = gate->value,
                                  .has_spread = gate->has_value,
                                  .spread = gate->spread,
                                  .has_bound = gate->has_bound,
                                  .bound = gate->bound,
                                  .has_distance = gate->has_bound && gate->has_value,
                                  .distance = gate->distance,
                                  .rounds = gate->rounds,
                                  .judged_by_firm = gate->judged_by_firm,
                                  .message = gate->message};
    tg_trust_of_series(&row->trust, tg_samples_find(samples, row->name));
  }
  report->num_rows = verdict->num_gates;
}

static void enforce(struct tg_report *report, const struct tg_manifest *manifest, const char *tree) {
  static char because[400];
  char folder[PATH_MAX];
  struct tg_host_baseline *baseline;
  struct tg_error err;
  (void)snprintf(folder, sizeof(folder), "%.4000s/baselines/hosts", tree);
  if (tg_baseline_find(&baseline, folder, report->environment.label, &report->environment, report->profile, &err) !=
      TG_BASELINE_FOUND) {
    (void)snprintf(because, sizeof(because), "%.390s", err.text);
    report->unenforced_because = because;
    return;
  }
  struct tg_compared compared;
  tg_baseline_compare(&compared, report->rows, report->num_rows, manifest, baseline, report->readable);
  report->enforced = compared.enforced;
  for (size_t i = 0; i < report->num_rows; i++) {
    struct tg_report_row *row = &report->rows[i];
    if (row->baseline.present && row->baseline.status != TG_STATUS_PASS && row->status != TG_STATUS_FAIL) {
      row->status = row->baseline.status;
      row->message = "worse than recorded";
    }
  }
  tg_host_baseline_free(baseline);
}

void tg_timed_run_write(const struct tg_timed_run *timed, const char *folder) {
  static struct tg_report_row rows[TG_GATES_MAX];
  static struct tg_trust_reasons reasons;
  struct tg_report_fixture fixture;
  struct tg_manifest *manifest = load_manifest();
  struct tg_samples *samples = make_samples(manifest, timed->worse);
  const struct tg_host_view host = {.stall_hidden_by = NULL};
  struct tg_verdict *verdict = tg_verdict_judge(manifest, samples, &host);
  json_t *values = NULL;
  struct tg_error err;
  tg_report_fixture_complete(&fixture);
  struct tg_report *report = &fixture.report;
  report->mode = TG_MODE_FULL;
  report->environment.commit = timed->commit;
  report->rows = rows;
  fill_rows(report, verdict, samples);
  tg_trust_calibration(&report->calibration, samples, &values);
  tg_trust_read(report, &reasons);
  assert_true(report->readable);
  enforce(report, manifest, timed->baselines);
  tg_trust_drift(report);
  report->verdict = tg_report_verdict_of_rows(report);
  tg_report_conclude(report);
  json_t *encoded = tg_report_encode(report);
  json_t *raw = samples_json(samples, report->id);
  if (!tg_state_write(folder, "report.json", encoded, &err) || !tg_state_write(folder, "samples.json", raw, &err)) {
    fail_msg("%s", err.text);
  }
  json_decref(encoded);
  json_decref(raw);
  json_decref(values);
  tg_report_fixture_free(&fixture);
  tg_verdict_free(verdict);
  tg_samples_free(samples);
  tg_manifest_free(manifest);
}

json_t *tg_timed_run_baseline(void) {
  static struct tg_host_baseline baseline;
  struct tg_report_fixture fixture;
  struct tg_manifest *manifest = load_manifest();
  tg_report_fixture_complete(&fixture);
  memset(&baseline, 0, sizeof(baseline));
  baseline.about = "a baseline for tests";
  baseline.label = "quiet-1";
  baseline.recorded = "2026-01-31T12:00:00Z";
  baseline.environment = fixture.report.environment;
  baseline.runs = baseline.num_run_ids = 3;
  baseline.run_ids[0] = "00000000000000000000000000000001";
  baseline.run_ids[1] = "00000000000000000000000000000002";
  baseline.run_ids[2] = "00000000000000000000000000000003";
  tg_trust_limits_default(&baseline.trust);
  for (size_t i = 0; i < manifest->num_gates; i++) {
    if (tg_baseline_covers(&manifest->gates[i])) {
      baseline.rows[baseline.num_rows++] = (struct tg_baseline_row){
          .name = manifest->gates[i].name, .median = usual(manifest, manifest->gates[i].name), .allowance = 0.1};
    }
  }
  json_t *value = tg_host_baseline_encode(&baseline);
  tg_report_fixture_free(&fixture);
  tg_manifest_free(manifest);
  return value;
}

#include "perf/trust/trust.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "perf/stats/quantile.h"

_Static_assert(TG_ROUNDS_MAX <= TG_VALUES_MAX && TG_REPORT_ROWS_MAX <= TG_VALUES_MAX, "must fit the statistics");

// Median of the later half / median of the earlier half, by round; a round in the middle is in neither. 1 for one
// round.
static double later_over_earlier(const double *values, size_t num) {
  size_t half = num / 2;
  return half == 0 ? 1 : tg_median(values + num - half, half) / tg_median(values, half);
}

static size_t count_outliers(const double *logs, size_t num) {
  double centre = tg_median(logs, num);
  double limit = fmax(TG_TRUST_OUTLIER_SCALES * tg_robust_scale_around(centre, logs, num), TG_TRUST_OUTLIER_LEAST);
  size_t outliers = 0;
  for (size_t i = 0; i < num; i++) {
    outliers += fabs(logs[i] - centre) > limit;
  }
  return outliers;
}

void tg_trust_of_series(struct tg_trust *out, const struct tg_series *series) {
  *out = (struct tg_trust){.known = false};
  if (series == NULL) {
    return;
  }
  out->known = true;
  if (series->samples[0].trials > 0) {
    return;
  }
  double values[TG_ROUNDS_MAX];
  double logs[TG_ROUNDS_MAX];
  for (size_t i = 0; i < series->num; i++) {
    values[i] = series->samples[i].value;
    logs[i] = log(series->samples[i].value);
  }
  out->spread = tg_robust_scale(logs, series->num);
  out->instability = fabs(later_over_earlier(values, series->num) - 1);
  out->outliers = count_outliers(logs, series->num);
}

static bool comparable(const struct tg_logged_run *run, const struct tg_report *report) {
  const bool as_it_ships = run->server != NULL || run->genuine;
  return run->finished && run->readable && as_it_ships && tg_run_judged_the_same(run, report) && run->values != NULL &&
         run->profile == report->profile && strcmp(run->id, report->id) != 0 &&
         tg_environment_differs(&run->environment, &report->environment) == NULL;
}

void tg_trust_run_to_run(struct tg_report_row *row, const struct tg_report *report,
                         const struct tg_run_history *history) {
  double values[TG_TRUST_HISTORY_RUNS];
  double logs[TG_TRUST_HISTORY_RUNS];
  size_t num = 0;
  if (!row->trust.known || !row->has_value || row->value <= 0) {
    return;
  }
  for (size_t i = history->num; i > 0 && num < TG_TRUST_HISTORY_RUNS; i--) {
    const struct tg_logged_run *run = &history->runs[i - 1];
    double value = comparable(run, report) ? json_number_value(json_object_get(run->values, row->name)) : 0;
    if (value > 0) {
      values[num] = value;
      logs[num++] = log(value);
    }
  }
  if (num > 0) {
    row->trust.history_runs = num;
    row->trust.history_spread = tg_robust_scale(logs, num);
    row->trust.history_ratio = row->value / tg_median(values, num);
  }
}

void tg_trust_calibration(struct tg_calibration *out, const struct tg_samples *samples, json_t **out_values) {
  const struct tg_series *series = tg_samples_find(samples, TG_TRUST_CALIBRATION_METRIC);
  *out = (struct tg_calibration){.known = false};
  *out_values = NULL;
  if (series == NULL) {
    return;
  }
  double values[TG_ROUNDS_MAX];
  double slowest = 0;
  json_t *array = json_array();
  for (size_t i = 0; i < series->num; i++) {
    values[i] = series->samples[i].value;
    slowest = fmax(slowest, values[i]);
    (void)json_array_append_new(array, json_real(values[i]));
  }
  double median = tg_median(values, series->num);
  *out = (struct tg_calibration){.known = array != NULL,
                                 .median_us = median,
                                 .slowest = slowest / median,
                                 .later_over_earlier = later_over_earlier(values, series->num),
                                 .values_us = array};
  *out_values = array;
}

static size_t gather_ratios(const struct tg_report *report, bool baseline, double *ratios) {
  size_t num = 0;
  for (size_t i = 0; i < report->num_rows; i++) {
    const struct tg_comparison *comparison = baseline ? &report->rows[i].baseline : &report->rows[i].history;
    if (comparison->present && comparison->ratio > 0) {
      ratios[num++] = comparison->ratio;
    }
  }
  return num;
}

void tg_trust_drift(struct tg_report *report) {
  double ratios[TG_REPORT_ROWS_MAX];
  const char *against = "baseline";
  size_t num = gather_ratios(report, true, ratios);
  if (num == 0) {
    against = "history";
    num = gather_ratios(report, false, ratios);
  }
  report->drift = (struct tg_drift){.rows = num};
  if (num > 0) {
    report->drift = (struct tg_drift){.rows = num,
                                      .against = against,
                                      .median = tg_median(ratios, num),
                                      .lower_quartile = tg_quantile(ratios, num, 0.25),
                                      .upper_quartile = tg_quantile(ratios, num, 0.75)};
  }
}

static void object(struct tg_report *report, struct tg_trust_reasons *texts, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// An objection against reading the run.
static void object(struct tg_report *report, struct tg_trust_reasons *texts, const char *format, ...) {
  if (report->num_reasons == TG_REPORT_REASONS_MAX) {
    return;
  }
  char *text = texts->texts[report->num_reasons];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(texts->texts[0]), format, args);
  va_end(args);
  report->reasons[report->num_reasons++] = text;
}

static void look_at_calibration(struct tg_report *report, struct tg_trust_reasons *texts) {
  const struct tg_calibration *calibration = &report->calibration;
  if (!calibration->known) {
    return;
  }
  double logs[TG_ROUNDS_MAX];
  size_t num = json_array_size(calibration->values_us);
  num = num < TG_ROUNDS_MAX ? num : TG_ROUNDS_MAX;
  for (size_t i = 0; i < num; i++) {
    logs[i] = log(json_number_value(json_array_get(calibration->values_us, i)));
  }
  double spread = tg_robust_scale(logs, num);
  if (spread > TG_TRUST_CALIBRATION_SPREAD_MAX) {
    object(report, texts, "the calibration loop scattered by %.0f %% (at most %.0f %%): the CPU's speed was not steady",
           100 * spread, 100 * TG_TRUST_CALIBRATION_SPREAD_MAX);
  }
  double drift = calibration->later_over_earlier;
  if (drift > TG_TRUST_CALIBRATION_DRIFT_MAX || drift < 1 / TG_TRUST_CALIBRATION_DRIFT_MAX) {
    object(report, texts, "the calibration loop was %.2f x as slow in the later half of the run (at most %.1f x): %s",
           drift, TG_TRUST_CALIBRATION_DRIFT_MAX, drift > 1 ? "the CPU slowed down" : "the CPU sped up");
  }
}

static void look_at_rows(struct tg_report *report, struct tg_trust_reasons *texts) {
  size_t timed = 0;
  size_t wide = 0;
  for (size_t i = 0; i < report->num_rows; i++) {
    const struct tg_report_row *row = &report->rows[i];
    bool counted = row->kind == TG_KIND_EXACT || row->kind == TG_KIND_COUNTED;
    if (row->trust.known && !counted && row->status != TG_STATUS_RECORDED && row->status != TG_STATUS_DISABLED &&
        row->status != TG_STATUS_LEFT_OUT) {
      timed++;
      wide += row->trust.spread > TG_TRUST_ROW_SPREAD_MAX;
    }
  }
  if (2 * wide > timed) {
    object(report, texts, "%zu of %zu timed rows scattered by more than %.0f %%", wide, timed,
           100 * TG_TRUST_ROW_SPREAD_MAX);
  }
}

void tg_trust_read(struct tg_report *report, struct tg_trust_reasons *texts) {
  report->num_reasons = 0;
  if (report->has_stolen && report->stolen > TG_TRUST_STOLEN_MAX) {
    object(report, texts, "%.1f %% of the CPU time was stolen by the hypervisor (at most %.0f %%)",
           100 * report->stolen, 100 * TG_TRUST_STOLEN_MAX);
  }
  look_at_calibration(report, texts);
  look_at_rows(report, texts);
  report->readable = report->num_reasons == 0;
}

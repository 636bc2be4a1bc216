#include "perf/baseline/compare.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/baseline/allowance.h"
#include "perf/stats/quantile.h"

enum tg_baseline_found tg_baseline_find(struct tg_host_baseline **out, const char *folder, const char *label,
                                        const struct tg_environment *here, enum tg_profile profile,
                                        struct tg_error *err) {
  char path[PATH_MAX];
  *out = NULL;
  if (label == NULL || label[0] == '\0') {
    tg_error_set(err,
                 "no host label; set TLSGATE_PERF_HOST to the label of this machine's baseline, or record one: "
                 "TLSGATE_PERF_HOST=LABEL ./tlsgate record");
    return TG_BASELINE_UNENFORCED;
  }
  if (!tg_label_check(label, err)) {
    return TG_BASELINE_ERROR;
  }
  if (snprintf(path, sizeof(path), "%s/%s.json", folder, label) >= (int)sizeof(path)) {
    tg_error_set(err, "%s: the path is too long", folder);
    return TG_BASELINE_ERROR;
  }
  if (access(path, F_OK) != 0 && errno == ENOENT) {
    tg_error_set(err, "no baseline for the host %s; record one: TLSGATE_PERF_HOST=%s ./tlsgate record", label, label);
    return TG_BASELINE_UNENFORCED;
  }
  struct tg_host_baseline *baseline = tg_host_baseline_load(path, err);
  if (baseline == NULL) {
    return TG_BASELINE_ERROR;
  }
  enum tg_baseline_found found = TG_BASELINE_UNENFORCED;
  const char *difference = tg_machine_difference(&baseline->environment, here);
  if (strcmp(baseline->label, label) != 0) {
    tg_error_set(err, "%s: is the baseline of %s; a baseline is not renamed: record one for %s", path, baseline->label,
                 label);
    found = TG_BASELINE_ERROR;
  } else if (difference != NULL) {
    tg_error_set(
        err,
        "the label %s is another machine's (%s differs); set TLSGATE_PERF_HOST to this machine's own label, or "
        "record a baseline under a new one",
        label, difference);
  } else if (baseline->profile != profile) {
    tg_error_set(err, "the baseline of %s is of the profile %s, this run of %s; run that profile, or record this one",
                 label, tg_profile_name(baseline->profile), tg_profile_name(profile));
  } else {
    *out = baseline;
    return TG_BASELINE_FOUND;
  }
  tg_host_baseline_free(baseline);
  return found;
}

// Fills in everything but how many runs the reference is of. `noisy`: the row's own rounds are too noisy to condemn it.
static void hold(struct tg_compared *out, struct tg_comparison *into, const struct tg_report_row *row, double reference,
                 double allowance, bool readable, bool noisy) {
  into->present = true;
  into->reference = reference;
  into->allowance = allowance;
  into->ratio = fmin(tg_worse_ratio(row->direction, row->value, reference), DBL_MAX);
  // Compared as the file prints it, so that a value at the bound is within it.
  const bool within = into->ratio <= (1 + allowance) * (1 + 1e-9);
  into->status = !readable || (!within && noisy) ? TG_STATUS_UNDECIDED : within ? TG_STATUS_PASS : TG_STATUS_FAIL;
  out->passed += into->status == TG_STATUS_PASS;
  out->failed += into->status == TG_STATUS_FAIL;
  out->undecided += into->status == TG_STATUS_UNDECIDED;
  out->wide += allowance > TG_ALLOWANCE_WIDE + 1e-9;
}

static bool is_noisy(const struct tg_report_row *row, const struct tg_trust_limits *limits) {
  const struct tg_trust *trust = &row->trust;
  return trust->known && (trust->spread > limits->spread || trust->instability > limits->instability ||
                          (double)trust->outliers > limits->outliers * (double)row->rounds);
}

static const struct tg_report_row *find_row(const struct tg_report_row *rows, size_t num, const char *name) {
  for (size_t i = 0; i < num; i++) {
    if (strcmp(rows[i].name, name) == 0) {
      return &rows[i];
    }
  }
  return NULL;
}

static bool has_ratio(const struct tg_report_row *row) {
  return row != NULL && row->has_value && isfinite(row->value) && row->value > 0;
}

// What is asked for and cannot be compared: a row of the baseline that was not measured, or one of the manifest that
// was never recorded.
static void find_gaps(struct tg_compared *out, const struct tg_report_row *rows, size_t num,
                      const struct tg_manifest *manifest, const struct tg_host_baseline *baseline) {
  for (size_t i = 0; i < baseline->num_rows; i++) {
    const struct tg_baseline_row *recorded = &baseline->rows[i];
    if (!recorded->disabled && !has_ratio(find_row(rows, num, recorded->name))) {
      (void)snprintf(
          out->because, sizeof(out->because),
          "the baseline of %s has the row %s, which this run has not measured; measure the whole manifest, or "
          "record the baseline anew if the metric is gone",
          baseline->label, recorded->name);
      return;
    }
  }
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const struct tg_gate *gate = &manifest->gates[i];
    if (tg_baseline_covers(gate) && tg_host_baseline_row(baseline, gate->name) == NULL) {
      (void)snprintf(out->because, sizeof(out->because),
                     "the baseline of %s has no row %s; record it anew: TLSGATE_PERF_HOST=%s ./tlsgate record",
                     baseline->label, gate->name, baseline->label);
      return;
    }
  }
  out->enforced = true;
}

void tg_baseline_compare(struct tg_compared *out, struct tg_report_row *rows, size_t num,
                         const struct tg_manifest *manifest, const struct tg_host_baseline *baseline, bool readable) {
  *out = (struct tg_compared){.enforced = false};
  for (size_t i = 0; i < baseline->num_rows; i++) {
    out->disabled += baseline->rows[i].disabled;
  }
  for (size_t i = 0; i < num; i++) {
    const struct tg_baseline_row *recorded = tg_host_baseline_row(baseline, rows[i].name);
    rows[i].baseline = (struct tg_comparison){.present = false};
    if (recorded != NULL && !recorded->disabled && has_ratio(&rows[i])) {
      hold(out, &rows[i].baseline, &rows[i], recorded->median, recorded->allowance, readable,
           is_noisy(&rows[i], &baseline->trust));
      rows[i].baseline.runs = baseline->runs;
    }
  }
  find_gaps(out, rows, num, manifest, baseline);
}

static size_t past_values(double out[TG_HISTORY_MAX], const struct tg_cpu_history *history, const char *metric) {
  size_t num = 0;
  for (size_t i = 0; i < history->num_rows; i++) {
    const struct tg_history_row *row = &history->rows[i];
    for (size_t j = 0; j < row->num_values; j++) {
      if (strcmp(row->values[j].name, metric) == 0) {
        out[num++] = row->values[j].value;
      }
    }
  }
  return num;
}

void tg_history_compare(struct tg_compared *out, struct tg_report_row *rows, size_t num,
                        const struct tg_manifest *manifest, const struct tg_cpu_history *history, bool readable) {
  *out = (struct tg_compared){.enforced = false};
  for (size_t i = 0; i < num; i++) {
    rows[i].history = (struct tg_comparison){.present = false};
  }
  if (history->num_rows < TG_HISTORY_MIN) {
    (void)snprintf(out->because, sizeof(out->because),
                   "the history of this CPU model has %zu passing rows, and nothing is judged before %d",
                   history->num_rows, TG_HISTORY_MIN);
    return;
  }
  out->enforced = true;
  for (size_t i = 0; i < num; i++) {
    double values[TG_HISTORY_MAX];
    const struct tg_gate *gate = tg_manifest_gate(manifest, rows[i].name);
    const size_t past = past_values(values, history, rows[i].name);
    if (gate == NULL || !tg_baseline_covers(gate) || !has_ratio(&rows[i]) || past < TG_HISTORY_MIN) {
      continue;
    }
    hold(out, &rows[i].history, &rows[i], tg_median(values, past), tg_cpu_history_factor(history, rows[i].name) - 1,
         readable, false);
    rows[i].history.runs = past;
  }
}

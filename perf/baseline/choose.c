#include "perf/baseline/choose.h"

#include <stdlib.h>
#include <string.h>

#include "perf/baseline/allowance.h"

static int newest_first(const void *a, const void *b) {
  const struct tg_report *const *left = a;
  const struct tg_report *const *right = b;
  const int order = strcmp((*right)->start, (*left)->start);
  return order != 0 ? order : strcmp((*left)->id, (*right)->id);
}

static const char *file_of(const struct tg_report *report) {
  return report->file != NULL ? report->file : "a report";
}

static bool same_report(const struct tg_report *a, const struct tg_report *b) {
  json_t *left = tg_report_encode(a);
  json_t *right = tg_report_encode(b);
  const bool same = left != NULL && right != NULL && json_equal(left, right) != 0;
  json_decref(left);
  json_decref(right);
  return same;
}

bool tg_runs_distinct(struct tg_runs *out, struct tg_report *const *reports, size_t num, FILE *log,
                      struct tg_error *err) {
  out->num = 0;
  for (size_t i = 0; i < num; i++) {
    const struct tg_report *twin = NULL;
    for (size_t j = 0; j < out->num && twin == NULL; j++) {
      twin = strcmp(out->reports[j]->id, reports[i]->id) == 0 ? out->reports[j] : NULL;
    }
    if (twin == NULL) {
      out->reports[out->num++] = reports[i];
    } else if (same_report(twin, reports[i])) {
      fprintf(log, "%s: is the run %s once more, as in %s; it counts once\n", file_of(reports[i]), reports[i]->id,
              file_of(twin));
    } else {
      tg_error_set(err,
                   "%.140s and %.140s say different things of one run, %s; one of them was changed after the run: find "
                   "the report that the run wrote, and leave the other out",
                   file_of(twin), file_of(reports[i]), twin->id);
      return false;
    }
  }
  qsort((void *)out->reports, out->num, sizeof(struct tg_report *), newest_first);
  return true;
}

static const struct tg_gate *missing_row(const struct tg_report *run, const struct tg_manifest *manifest) {
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const struct tg_report_row *row = tg_report_row_named(run, manifest->gates[i].name);
    if (tg_baseline_covers(&manifest->gates[i]) && (row == NULL || !row->has_value || !(row->value > 0))) {
      return &manifest->gates[i];
    }
  }
  return NULL;
}

// A gate that failed by its own bound. What an older baseline or a history said of the row is no objection: a change
// that adds work to a path records its row anew.
static const struct tg_report_row *failed_row(const struct tg_report *run) {
  for (size_t i = 0; i < run->num_rows; i++) {
    const struct tg_report_row *row = &run->rows[i];
    const bool compared = (row->baseline.present && row->baseline.status == TG_STATUS_FAIL) ||
                          (row->history.present && row->history.status == TG_STATUS_FAIL);
    const bool outside = row->has_distance && row->distance > 1;
    if (row->status == TG_STATUS_FAIL && (outside || !compared)) {
      return row;
    }
  }
  return NULL;
}

static bool is_sample(const struct tg_report *run, const struct tg_manifest *manifest, struct tg_error *err) {
  const char *file = file_of(run);
  if (!tg_environment_is_clean(&run->environment)) {
    tg_error_set(err, "%s: measured in a dirty tree; commit, and measure what is committed", file);
  } else if (run->kind == TG_REPORT_ERROR) {
    tg_error_set(err, "%s: unreadable: the run came to no verdict (%s: %.200s); see to that, then start a fresh series",
                 file, run->error_stage, run->error_message);
  } else if (!tg_report_is_genuine(run)) {
    tg_error_set(err, "%s: of a server with a planted fault; leave it out", file);
  } else if (run->partial || run->mode == TG_MODE_ONLY || run->mode == TG_MODE_RATIOS_ONLY) {
    tg_error_set(err, "%s: partial: not the whole manifest was measured (%s); measure with `gates --full`", file,
                 tg_mode_name(run->mode));
  } else if (!run->readable) {
    tg_error_set(err, "%s: unreadable: %.200s; start a fresh series when the machine is quiet", file,
                 run->num_reasons > 0 ? run->reasons[0] : "no reason is given");
  } else if (missing_row(run, manifest) != NULL) {
    tg_error_set(err, "%s: has no value for the row %s of %s; a baseline needs every row in every run", file,
                 missing_row(run, manifest)->name, manifest->file);
  } else if (failed_row(run) != NULL) {
    tg_error_set(err, "%s: the gate %s failed; a failing server is no baseline", file, failed_row(run)->name);
  } else if (!tg_report_is_whole(run)) {
    tg_error_set(err, "%s: is no whole run of the gates; measure with `gates --full`", file);
  } else {
    return true;
  }
  return false;
}

// Keeps the runs of the revision, and of these those of the newest one's environment and profile.
static bool keep_comparable(struct tg_runs *runs, const char *revision, FILE *log, struct tg_error *err) {
  size_t kept = 0;
  for (size_t i = 0; i < runs->num; i++) {
    const struct tg_report *run = runs->reports[i];
    const struct tg_report *newest = kept > 0 ? runs->reports[0] : run;
    const char *missing = tg_environment_missing(&run->environment);
    if (missing != NULL) {
      tg_error_set(err, "%s: its provenance lacks %s; measure in a git checkout on a machine that tells", file_of(run),
                   missing);
      return false;
    }
    const char *difference = tg_environment_differs(&run->environment, &newest->environment);
    if (strcmp(run->environment.commit, revision) != 0) {
      fprintf(log, "%s: skipped: of the revision %.12s, not %.12s\n", file_of(run), run->environment.commit, revision);
    } else if (difference != NULL) {
      fprintf(log, "%s: skipped: of another environment than %s (%s differs)\n", file_of(run), file_of(newest),
              difference);
    } else if (run->profile != newest->profile) {
      fprintf(log, "%s: skipped: of the profile %s, not %s\n", file_of(run), tg_profile_name(run->profile),
              tg_profile_name(newest->profile));
    } else {
      runs->reports[kept++] = run;
    }
  }
  runs->num = kept;
  return true;
}

bool tg_runs_choose(struct tg_runs *runs, const char *revision, const struct tg_manifest *manifest, FILE *log,
                    struct tg_error *err) {
  if (!keep_comparable(runs, revision, log, err)) {
    return false;
  }
  for (size_t i = 0; i < runs->num; i++) {
    if (!is_sample(runs->reports[i], manifest, err)) {
      return false;
    }
  }
  if (runs->num < TG_SAMPLES_MIN) {
    tg_error_set(
        err,
        "%zu distinct readable runs of the revision %.12s in one environment, and a baseline needs at least %d; "
        "measure more: ./tlsgate record --series %d",
        runs->num, revision, TG_SAMPLES_MIN, TG_SAMPLES_MIN);
    return false;
  }
  if (runs->num > TG_RECORDED_RUNS_MAX) {
    tg_error_set(err,
                 "%zu runs are more than the %d that a baseline can come from; name fewer, or start a fresh series",
                 runs->num, TG_RECORDED_RUNS_MAX);
    return false;
  }
  return true;
}

void tg_runs_window(struct tg_runs *runs, const struct tg_environment *environment, enum tg_profile profile) {
  size_t kept = 0;
  for (size_t i = 0; i < runs->num && kept < TG_ALLOWANCE_WINDOW; i++) {
    const struct tg_report *run = runs->reports[i];
    if (run->kind == TG_REPORT_COMPLETE && run->readable && tg_report_is_whole(run) && run->profile == profile &&
        tg_environment_is_clean(&run->environment) && tg_environment_missing(&run->environment) == NULL &&
        tg_environment_differs(&run->environment, environment) == NULL) {
      runs->reports[kept++] = run;
    }
  }
  runs->num = kept;
}

#include "perf/baseline/record.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/baseline/allowance.h"
#include "perf/baseline/generated.h"
#include "perf/baseline/staged.h"
#include "perf/stats/quantile.h"

static const char about[] = "Written by ./tlsgate record and never edited. docs/baselines.md describes the file.";

static const struct tg_record_wish *wish_for(const struct tg_record_request *request, enum tg_wish kind,
                                             const char *row) {
  for (size_t i = 0; i < request->num_wishes; i++) {
    if (request->wishes[i].kind == kind && strcmp(request->wishes[i].row, row) == 0) {
      return &request->wishes[i];
    }
  }
  return NULL;
}

static bool wishes_are_known(const struct tg_record_request *request, struct tg_error *err) {
  for (size_t i = 0; i < request->num_wishes; i++) {
    const struct tg_gate *gate = tg_manifest_gate(request->manifest, request->wishes[i].row);
    if (gate == NULL || !tg_baseline_covers(gate)) {
      tg_error_set(err, "%s: a baseline has no row %.60s; %s lists the metrics", request->label, request->wishes[i].row,
                   request->manifest->file);
      return false;
    }
  }
  return true;
}

static double sample_median(const struct tg_runs *samples, const char *row) {
  double values[TG_RECORDED_RUNS_MAX];
  for (size_t i = 0; i < samples->num; i++) {
    values[i] = tg_report_row_named(samples->reports[i], row)->value;
  }
  return tg_median(values, samples->num);
}

static size_t past_of(struct tg_past out[TG_ALLOWANCE_WINDOW], const struct tg_report *of[TG_ALLOWANCE_WINDOW],
                      const struct tg_runs *window, const char *name) {
  size_t num = 0;
  for (size_t i = 0; i < window->num; i++) {
    const struct tg_report *run = window->reports[i];
    const struct tg_report_row *row = tg_report_row_named(run, name);
    if (row != NULL && row->has_value && row->value > 0) {
      out[num] = (struct tg_past){.revision = run->environment.commit, .value = row->value};
      of[num++] = run;
    }
  }
  return num;
}

static double allow(const struct tg_record_request *request, const struct tg_gate *gate, const struct tg_runs *window,
                    double carried, FILE *log) {
  struct tg_past past[TG_ALLOWANCE_WINDOW];
  const struct tg_report *of[TG_ALLOWANCE_WINDOW];
  struct tg_allowance found;
  tg_allowance_derive(&found, gate->direction, past, past_of(past, of, window, gate->name), carried);
  for (size_t i = 0; i < found.num_excursions; i++) {
    const struct tg_report *run = of[found.excursions[i]];
    fprintf(log, "%s: excursion in the run %s of %s (%.12s): %g; listed, not absorbed\n", gate->name, run->id,
            run->start, run->environment.commit, past[found.excursions[i]].value);
  }
  if (found.widened) {
    fprintf(log, "%s: allowance widened from %.0f %% to %.0f %%: the run %s of %s was %.3f x its revision's median\n",
            gate->name, carried * 100, found.allowance * 100, of[found.worst_run]->id, of[found.worst_run]->start,
            found.worst);
  }
  if (wish_for(request, TG_WISH_NARROW, gate->name) == NULL) {
    return found.allowance;
  }
  if (!found.known) {
    fprintf(log, "%s: not narrowed: %zu believed runs of %zu revisions, and it takes %d of %d\n", gate->name,
            found.believed, found.revisions, TG_BELIEVED_MIN, TG_REVISIONS_MIN);
    return found.allowance;
  }
  if (found.derived < carried) {
    fprintf(log, "%s: allowance narrowed from %.0f %% to %.0f %%, as asked for\n", gate->name, carried * 100,
            found.derived * 100);
  }
  return found.derived;
}

static void build_row(struct tg_baseline_row *out, const struct tg_record_request *request, const struct tg_gate *gate,
                      const struct tg_runs *samples, const struct tg_runs *window,
                      const struct tg_host_baseline *previous, FILE *log) {
  const struct tg_baseline_row *old = previous != NULL ? tg_host_baseline_row(previous, gate->name) : NULL;
  const struct tg_record_wish *disable = wish_for(request, TG_WISH_DISABLE, gate->name);
  const bool enable = wish_for(request, TG_WISH_ENABLE, gate->name) != NULL;
  *out = (struct tg_baseline_row){.name = gate->name, .note = old != NULL ? old->note : NULL};
  out->allowance = allow(request, gate, window, old != NULL ? old->allowance : TG_ALLOWANCE_DEFAULT, log);
  if (disable != NULL) {
    out->note = disable->why;
  } else if (enable && old != NULL && old->disabled) {
    out->note = NULL;  // it was the reason for disabling
  }
  out->disabled = disable != NULL || (old != NULL && old->disabled && !enable);
  if (out->disabled) {
    fprintf(log, "%s: disabled: %s\n", gate->name, out->note);
  } else {
    out->median = sample_median(samples, gate->name);
  }
  if (out->allowance > TG_ALLOWANCE_WIDE + 1e-9) {
    fprintf(log, "%s: weak: allowed %.0f %%\n", gate->name, out->allowance * 100);
  }
}

static void build(struct tg_host_baseline *out, const struct tg_record_request *request, const struct tg_runs *samples,
                  const struct tg_runs *window, const struct tg_host_baseline *previous, FILE *log) {
  *out = (struct tg_host_baseline){.about = about,
                                   .label = request->label,
                                   .recorded = request->date,
                                   .profile = samples->reports[0]->profile,
                                   .environment = samples->reports[0]->environment,
                                   .runs = samples->num,
                                   .num_run_ids = samples->num};
  for (size_t i = 0; i < samples->num; i++) {
    out->run_ids[i] = samples->reports[i]->id;
  }
  if (previous != NULL) {
    out->trust_overrides = previous->trust_overrides;
    out->notes = previous->notes;
  }
  for (size_t i = 0; i < request->manifest->num_gates; i++) {
    if (tg_baseline_covers(&request->manifest->gates[i])) {
      build_row(&out->rows[out->num_rows++], request, &request->manifest->gates[i], samples, window, previous, log);
    }
  }
  for (size_t i = 0; previous != NULL && i < previous->num_rows; i++) {
    if (tg_host_baseline_row(out, previous->rows[i].name) == NULL) {
      fprintf(log, "%s: dropped: the manifest has no such metric any more\n", previous->rows[i].name);
    }
  }
}

static bool decodes(const char *path, struct tg_error *err) {
  struct tg_host_baseline *baseline = tg_host_baseline_load(path, err);
  const bool ok = baseline != NULL;
  tg_host_baseline_free(baseline);
  return ok;
}

// Reads what is there and says whether it may be replaced. Returns false with `err` filled in if not.
static bool read_previous(struct tg_host_baseline **out, const struct tg_record_request *request, const char *file,
                          const struct tg_environment *here, struct tg_error *err) {
  *out = NULL;
  if (access(file, F_OK) != 0 && errno == ENOENT) {
    return true;
  }
  *out = tg_host_baseline_load(file, err);
  if (*out == NULL) {
    return false;
  }
  const char *difference = tg_machine_difference(&(*out)->environment, here);
  if (strcmp((*out)->label, request->label) != 0) {
    tg_error_set(err, "%s: is the baseline of %s; a baseline is not renamed, take that label or another one", file,
                 (*out)->label);
    return false;
  }
  if (difference != NULL) {
    tg_error_set(err, "%s: is of another machine than the runs (%s differs); record them under a label of their own",
                 file, difference);
    return false;
  }
  return true;
}

// From the reservation to the rename.
static bool replace(const struct tg_record_request *request, const struct tg_runs *samples,
                    const struct tg_runs *window, FILE *log, struct tg_error *err) {
  char file[PATH_MAX];
  struct tg_staged staged;
  struct tg_host_baseline *previous = NULL;
  if (snprintf(file, sizeof(file), "%s/%s.json", request->folder, request->label) >= (int)sizeof(file)) {
    tg_error_set(err, "%s: the path is too long", request->folder);
    return false;
  }
  // First the reservation: what is read after it is what will be replaced.
  if (!tg_staged_reserve(&staged, file, err)) {
    return false;
  }
  struct tg_host_baseline *baseline = calloc(1, sizeof(*baseline));
  bool ok = false;
  if (baseline == NULL) {
    tg_error_set(err, "%s: out of memory", file);
    tg_staged_abandon(&staged);
  } else if (!read_previous(&previous, request, file, &samples->reports[0]->environment, err)) {
    tg_staged_abandon(&staged);
  } else {
    build(baseline, request, samples, window, previous, log);
    ok = tg_generated_publish(&staged, tg_host_baseline_encode(baseline), decodes, err);
  }
  free(baseline);
  tg_host_baseline_free(previous);
  return ok;
}

bool tg_record(const struct tg_record_request *request, FILE *log, struct tg_error *err) {
  const size_t num = request->num_reports + request->num_deposits;
  struct tg_report **all = calloc(num + 1, sizeof(struct tg_report *));
  struct tg_runs samples = {.reports = calloc(num + 1, sizeof(struct tg_report *))};
  struct tg_runs window = {.reports = calloc(num + 1, sizeof(struct tg_report *))};
  bool ok = all != NULL && samples.reports != NULL && window.reports != NULL;
  if (!ok) {
    tg_error_set(err, "%s: out of memory", request->label);
  } else {
    memcpy((void *)all, (const void *)request->reports, request->num_reports * sizeof(struct tg_report *));
    memcpy((void *)(all + request->num_reports), (const void *)request->deposits,
           request->num_deposits * sizeof(struct tg_report *));
    FILE *nowhere = fopen("/dev/null", "we");
    // A run that was named is mostly deposited as well; that is no news. That the two differ is.
    ok = tg_label_check(request->label, err) && wishes_are_known(request, err) &&
         tg_runs_distinct(&samples, request->reports, request->num_reports, log, err) &&
         tg_runs_distinct(&window, all, num, nowhere != NULL ? nowhere : log, err) &&
         tg_runs_choose(&samples, request->revision, request->manifest, log, err);
    if (nowhere != NULL) {
      (void)fclose(nowhere);
    }
  }
  if (ok) {
    tg_runs_window(&window, &samples.reports[0]->environment, samples.reports[0]->profile);
    ok = replace(request, &samples, &window, log, err);
  }
  free((void *)all);
  free((void *)samples.reports);
  free((void *)window.reports);
  return ok;
}

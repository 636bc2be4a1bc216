#include "perf/baseline/history_update.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/baseline/generated.h"
#include "perf/baseline/host_baseline.h"
#include "perf/baseline/staged.h"

static const char about[] =
    "Written by ./tlsgate history update and never edited. docs/baselines.md describes the file.";

const char *tg_history_label(const struct tg_report *report) {
  if (report->kind == TG_REPORT_ERROR) {
    return "error";
  }
  if (!report->readable) {
    return "unreadable";
  }
  return report->verdict == TG_OUTCOME_PASS ? NULL : tg_outcome_name(report->verdict);
}

static bool is_welcome(const struct tg_report *report, const struct tg_manifest *manifest, struct tg_error *err) {
  const char *file = report->file != NULL ? report->file : "the report";
  const char *missing = tg_environment_missing(&report->environment);
  if (missing != NULL) {
    tg_error_set(err, "%s: its provenance lacks %s; measure in a git checkout on a machine that tells", file, missing);
  } else if (!tg_environment_is_clean(&report->environment)) {
    tg_error_set(err, "%s: measured in a dirty tree; commit, and measure what is committed", file);
  } else if (!tg_report_is_genuine(report)) {
    tg_error_set(err, "%s: of a server with a planted fault, which is no history", file);
  } else if (report->partial || report->mode == TG_MODE_ONLY || report->mode == TG_MODE_RATIOS_ONLY) {
    tg_error_set(err, "%s: partial: not the whole manifest was measured (%s)", file, tg_mode_name(report->mode));
  } else {
    for (size_t i = 0; report->kind == TG_REPORT_COMPLETE && i < manifest->num_gates; i++) {
      if (tg_report_row_named(report, manifest->gates[i].name) == NULL) {
        tg_error_set(err, "%s: has no row %s of %s; it is a report of other gates", file, manifest->gates[i].name,
                     manifest->file);
        return false;
      }
    }
    return true;
  }
  return false;
}

// `values` has room for every gate.
static void fill_row(struct tg_history_row *out, struct tg_history_value *values,
                     const struct tg_history_request *request) {
  const struct tg_report *report = request->report;
  *out = (struct tg_history_row){.id = report->id,
                                 .date = report->start,
                                 .revision = report->environment.commit,
                                 .label = tg_history_label(report),
                                 .values = values};
  for (size_t i = 0; report->kind == TG_REPORT_COMPLETE && i < request->manifest->num_gates; i++) {
    const struct tg_gate *gate = &request->manifest->gates[i];
    const struct tg_report_row *row = tg_report_row_named(report, gate->name);
    if (tg_baseline_covers(gate) && row->has_value && row->value > 0) {
      values[out->num_values++] = (struct tg_history_value){.name = gate->name, .value = row->value};
    }
  }
}

static const struct tg_history_row *find_row(const struct tg_cpu_history *history, const char *id) {
  for (size_t i = 0; i < history->num_rows; i++) {
    if (strcmp(history->rows[i].id, id) == 0) {
      return &history->rows[i];
    }
  }
  for (size_t i = 0; i < history->num_apart; i++) {
    if (strcmp(history->apart[i].id, id) == 0) {
      return &history->apart[i];
    }
  }
  return NULL;
}

// As the file prints them: nine digits.
static bool same_value(double a, double b) {
  char left[40];
  char right[40];
  (void)snprintf(left, sizeof(left), "%.9g", a);
  (void)snprintf(right, sizeof(right), "%.9g", b);
  return strcmp(left, right) == 0;
}

static bool same_row(const struct tg_history_row *a, const struct tg_history_row *b) {
  const bool same_label = a->label == NULL || b->label == NULL ? a->label == b->label : strcmp(a->label, b->label) == 0;
  if (!same_label || strcmp(a->date, b->date) != 0 || strcmp(a->revision, b->revision) != 0 ||
      a->num_values != b->num_values) {
    return false;
  }
  for (size_t i = 0; i < a->num_values; i++) {
    if (strcmp(a->values[i].name, b->values[i].name) != 0 || !same_value(a->values[i].value, b->values[i].value)) {
      return false;
    }
  }
  return true;
}

// Puts `row` where its date belongs. Rows are shifted, and what they own with them; the oldest goes if there is no
// room.
static void insert(struct tg_history_row *rows, size_t *num, struct tg_history_row *dropped,
                   const struct tg_history_row *row) {
  size_t at = *num;
  while (at > 0 && strcmp(rows[at - 1].date, row->date) > 0) {
    at--;
  }
  *dropped = (struct tg_history_row){.id = NULL};
  if (*num < TG_HISTORY_MAX) {
    memmove(&rows[at + 1], &rows[at], (*num - at) * sizeof(rows[0]));
    rows[at] = *row;
    (*num)++;
  } else if (at == 0) {
    *dropped = *row;
  } else {
    *dropped = rows[0];
    memmove(&rows[0], &rows[1], (at - 1) * sizeof(rows[0]));
    rows[at - 1] = *row;
  }
}

static void set_factors(struct tg_cpu_history *history, const struct tg_history_request *request) {
  if (request->factor > 0) {
    history->factor = request->factor;
  }
  for (size_t i = 0; i < request->num_factors; i++) {
    size_t at = 0;
    while (at < history->num_factors && strcmp(history->factors[at].name, request->factors[i].name) != 0) {
      at++;
    }
    history->factors[at] = request->factors[i];
    history->num_factors += at == history->num_factors;
  }
}

// Returns a history to start from: what the file says, or an empty one. It has room for every gate's factor.
static struct tg_cpu_history *read_previous(const struct tg_history_request *request, struct tg_error *err) {
  const struct tg_report *report = request->report;
  struct tg_cpu_history *history = tg_cpu_history_find(request->folder, report->environment.cpu_model, err);
  if (history == NULL && err->text[0] != '\0') {
    return NULL;
  }
  if (history == NULL) {
    history = calloc(1, sizeof(*history));
    if (history != NULL) {
      history->about = about;
      history->cpu_model = report->environment.cpu_model;
      history->profile = report->profile;
      history->factor = TG_HISTORY_FACTOR;
    }
  }
  struct tg_history_value *factors = history == NULL
                                         ? NULL
                                         : realloc(history->factors, (history->num_factors + request->num_factors + 1) *
                                                                         sizeof(struct tg_history_value));
  if (factors == NULL) {
    tg_error_set(err, "%s: out of memory", request->folder);
    tg_cpu_history_free(history);
    return NULL;
  }
  history->factors = factors;
  if (history->profile != report->profile) {
    tg_error_set(err, "%s: the history of \"%.100s\" is of the profile %s, the run of %s; add runs of its profile",
                 request->folder, history->cpu_model, tg_profile_name(history->profile),
                 tg_profile_name(report->profile));
    tg_cpu_history_free(history);
    return NULL;
  }
  return history;
}

static bool decodes(const char *path, struct tg_error *err) {
  struct tg_cpu_history *history = tg_cpu_history_load(path, err);
  const bool ok = history != NULL;
  tg_cpu_history_free(history);
  return ok;
}

// Adds `row`, whose values are the caller's, and writes the file.
static bool add_and_publish(struct tg_staged *staged, struct tg_cpu_history *history,
                            const struct tg_history_request *request, const struct tg_history_row *row, FILE *log,
                            struct tg_error *err) {
  struct tg_history_row dropped;
  const bool apart = row->label != NULL;
  struct tg_history_row *rows = apart ? history->apart : history->rows;
  size_t *num = apart ? &history->num_apart : &history->num_rows;
  insert(rows, num, &dropped, row);
  set_factors(history, request);
  const bool ok = tg_generated_publish(staged, tg_cpu_history_encode(history), decodes, err);
  if (ok) {
    fprintf(log, "%s: run %s %s%s; %zu passing rows, %zu kept apart\n", staged->file, row->id,
            apart ? "kept apart: " : "joins the medians", apart ? row->label : "", history->num_rows,
            history->num_apart);
  }
  if (ok && dropped.id != NULL) {
    fprintf(log, "%s: the row of %s (run %s) went, as the oldest of more than %d\n", staged->file, dropped.date,
            dropped.id, TG_HISTORY_MAX);
  }
  // The row goes back to the caller, and what was dropped goes with the history.
  for (size_t i = 0; i < *num; i++) {
    if (rows[i].values == row->values) {
      rows[i].values = NULL;
    }
  }
  if (dropped.values != row->values) {
    free(dropped.values);
  }
  return ok;
}

bool tg_history_update(const struct tg_history_request *request, FILE *log, struct tg_error *err) {
  char name[256];
  char file[PATH_MAX];
  struct tg_staged staged;
  struct tg_history_value values[TG_GATES_MAX];
  struct tg_history_row row;
  if (!is_welcome(request->report, request->manifest, err)) {
    return false;
  }
  fill_row(&row, values, request);
  if (request->report->kind == TG_REPORT_COMPLETE && row.num_values == 0) {
    tg_error_set(err, "%s: no row has a value", request->report->file);
    return false;
  }
  tg_cpu_history_file(name, sizeof(name), request->report->environment.cpu_model);
  if (snprintf(file, sizeof(file), "%s/%s", request->folder, name) >= (int)sizeof(file)) {
    tg_error_set(err, "%s: the path is too long", request->folder);
    return false;
  }
  if (!tg_staged_reserve(&staged, file, err)) {
    return false;
  }
  struct tg_cpu_history *history = read_previous(request, err);
  if (history == NULL) {
    tg_staged_abandon(&staged);
    return false;
  }
  bool ok = false;
  const struct tg_history_row *twin = find_row(history, row.id);
  if (twin == NULL) {
    ok = add_and_publish(&staged, history, request, &row, log, err);
  } else {
    tg_staged_abandon(&staged);
    ok = same_row(twin, &row);
    if (ok) {
      fprintf(log, "%s: the run %s is there already; it counts once\n", file, row.id);
    } else {
      tg_error_set(err, "%s: the run %s is there already with other figures; one of the two was changed after the run",
                   file, row.id);
    }
  }
  tg_cpu_history_free(history);
  return ok;
}

#include "perf/certify/gates_again.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"
#include "perf/certify/samples_file.h"
#include "perf/verdict/narrow.h"

#define MANIFEST "baselines/gates.json"
#define HOSTS    "baselines/hosts"
#define HISTORY  "baselines/history"

// Numbers of a report have nine significant digits.
#define TOLERANCE 1e-8

static bool load_report(struct tg_gates_again *out, const struct tg_evidence *evidence, struct tg_error *err) {
  char path[PATH_MAX];
  (void)snprintf(path, sizeof(path), "%.4000s/report.json", evidence->folder);
  out->report = tg_report_load(path, err);
  if (out->report == NULL) {
    return false;
  }
  const struct tg_report *report = out->report;
  if (report->environment.commit == NULL || strcmp(report->environment.commit, evidence->source->commit) != 0 ||
      !tg_environment_is_clean(&report->environment)) {
    tg_error_set(err, "%s: is not a run of the clean commit %.12s", path, evidence->source->commit);
    return false;
  }
  if (report->kind == TG_REPORT_COMPLETE && (report->mode != TG_MODE_FULL || !tg_report_is_whole(report))) {
    tg_error_set(err, "%s: is not a whole run in full mode of the server that ships", path);
    return false;
  }
  return true;
}

static bool load_evidence(struct tg_gates_again *out, const struct tg_evidence *evidence, struct tg_error *err) {
  char path[PATH_MAX];
  char *text;
  enum tg_source_found found = tg_source_file(evidence->source, MANIFEST, &text, err);
  if (found != TG_SOURCE_FOUND) {
    if (found == TG_SOURCE_MISSING) {
      tg_error_set(err, "commit %s has no " MANIFEST, evidence->source->commit);
    }
    return false;
  }
  out->manifest = tg_manifest_parse(MANIFEST, text, strlen(text), err);
  free(text);
  (void)snprintf(path, sizeof(path), "%.4000s/samples.json", evidence->folder);
  out->samples = out->manifest != NULL ? tg_samples_load(path, out->report->id, err) : NULL;
  return out->samples != NULL;
}

// Writes a file of the commit into a folder of ours, where the decoders of baselines look for it.
static bool put_file(const struct tg_source *source, const char *folder, const char *path, struct tg_error *err) {
  char to[PATH_MAX];
  char *text;
  enum tg_source_found found = tg_source_file(source, path, &text, err);
  if (found != TG_SOURCE_FOUND) {
    return found == TG_SOURCE_MISSING;
  }
  (void)snprintf(to, sizeof(to), "%.2000s/%.255s", folder, strrchr(path, '/') + 1);
  FILE *file = fopen(to, "we");
  bool ok = file != NULL && fputs(text, file) >= 0;
  ok = (file == NULL || fclose(file) == 0) && ok;
  if (!ok) {
    tg_error_set(err, "%s: %s", to, strerror(errno));
  }
  free(text);
  return ok;
}

static bool find_references(struct tg_gates_again *out, const struct tg_source *source, const char *folder,
                            struct tg_error *err) {
  const struct tg_environment *here = &out->report->environment;
  struct tg_error why = {""};
  char path[PATH_MAX];
  char name[256];
  if (here->label != NULL && tg_label_check(here->label, NULL)) {
    (void)snprintf(path, sizeof(path), HOSTS "/%.100s.json", here->label);
    if (!put_file(source, folder, path, err)) {
      return false;
    }
  }
  out->found = tg_baseline_find(&out->baseline, folder, here->label, here, out->report->profile, &why);
  if (out->found == TG_BASELINE_ERROR) {
    *err = why;
    return false;
  }
  (void)snprintf(out->not_found, sizeof(out->not_found), "%.390s", why.text);
  if (here->cpu_model == NULL) {
    return true;
  }
  tg_cpu_history_file(name, sizeof(name), here->cpu_model);
  (void)snprintf(path, sizeof(path), HISTORY "/%.200s", name);
  why.text[0] = '\0';
  if (!put_file(source, folder, path, err)) {
    return false;
  }
  out->history = tg_cpu_history_find(folder, here->cpu_model, &why);
  if (why.text[0] != '\0') {
    *err = why;
    return false;
  }
  out->has_history = out->history != NULL && out->history->profile == out->report->profile;
  return true;
}

static void fill_row(struct tg_report_row *row, const struct tg_gate_verdict *gate, const struct tg_samples *samples) {
  row->name = gate->gate->name;
  row->unit = gate->gate->unit;
  row->kind = gate->gate->kind;
  row->direction = gate->gate->direction;
  row->status = gate->status;
  row->has_value = gate->has_value;
  row->value = gate->value;
  row->has_bound = gate->has_bound;
  row->bound = gate->bound;
  row->rounds = gate->rounds;
  row->message = gate->message;
  tg_trust_of_series(&row->trust, tg_samples_find(samples, row->name));
}

// A comparison may make a verdict worse, never better, and an unreadable run is not held against it.
static enum tg_status with_comparison(enum tg_status status, const struct tg_comparison *comparison, bool readable) {
  bool decided = status == TG_STATUS_PASS || status == TG_STATUS_FAIL;
  if (!comparison->present || comparison->status == TG_STATUS_PASS || status == TG_STATUS_FAIL ||
      (!readable && decided)) {
    return status;
  }
  return comparison->status;
}

// The exact gates that the run has counted itself; its report has a row of each.
static bool add_exact(struct tg_gates_again *out, const struct tg_evidence *evidence, struct tg_error *err) {
  char path[PATH_MAX];
  (void)snprintf(path, sizeof(path), "%.4000s/exact.json", evidence->folder);
  if (access(path, F_OK) != 0 && errno == ENOENT) {
    return true;
  }
  out->exact = tg_exact_gates_load(path, err);
  if (out->exact == NULL) {
    return false;
  }
  if (!tg_exact_gates_add(out->exact, out->verdict)) {
    tg_error_set(err, "out of memory");
    return false;
  }
  return true;
}

static bool draw(struct tg_gates_again *out, const struct tg_evidence *evidence, struct tg_error *err) {
  const struct tg_report *report = out->report;
  const struct tg_host_view host = {.stall_hidden_by = report->host_stalls ? NULL : report->hidden_by};
  struct tg_report *again = &out->again;
  out->verdict = tg_verdict_judge(out->manifest, out->samples, &host);
  *again = *report;
  again->impl = NULL;
  if (!add_exact(out, evidence, err)) {
    return false;
  }
  again->num_rows = out->verdict->num_gates;
  again->rows = calloc(again->num_rows, sizeof(*again->rows));
  if (again->rows == NULL) {
    tg_error_set(err, "out of memory");
    return false;
  }
  for (size_t i = 0; i < again->num_rows; i++) {
    fill_row(&again->rows[i], &out->verdict->gates[i], out->samples);
  }
  tg_trust_calibration(&again->calibration, out->samples, &out->calibration_values);
  tg_trust_read(again, &out->reasons);
  if (!again->readable) {
    tg_verdict_unreadable(out->verdict, again->reasons[0]);
  }
  struct tg_compared ignored;
  if (out->has_history) {
    tg_history_compare(&ignored, again->rows, again->num_rows, out->manifest, out->history, again->readable);
  }
  if (out->baseline != NULL) {
    tg_baseline_compare(&out->compared, again->rows, again->num_rows, out->manifest, out->baseline, again->readable);
  }
  for (size_t i = 0; i < again->num_rows; i++) {
    struct tg_gate_verdict *gate = &out->verdict->gates[i];
    struct tg_report_row *row = &again->rows[i];
    enum tg_status with_baseline = with_comparison(gate->status, &row->baseline, again->readable);
    row->status = with_comparison(with_baseline, &row->history, again->readable);
    gate->status = with_comparison(gate->status, &row->history, again->readable);
  }
  tg_verdict_recount(out->verdict);
  return true;
}

static bool near(double a, double b) {
  double larger = fmax(fabs(a), fabs(b));
  return fabs(a - b) <= TOLERANCE * (larger > 0 ? larger : 1);
}

static bool same_comparison(const struct tg_comparison *a, const struct tg_comparison *b) {
  return a->present == b->present && (!a->present || (a->status == b->status && near(a->reference, b->reference) &&
                                                      near(a->ratio, b->ratio) && near(a->allowance, b->allowance)));
}

// Returns what of the row is not what the samples come to, or NULL.
static const char *difference(const struct tg_report_row *said, const struct tg_report_row *row) {
  if (said->status != row->status) {
    return "status";
  }
  if (said->has_value != row->has_value || (said->has_value && !near(said->value, row->value))) {
    return "value";
  }
  if (said->has_bound != row->has_bound || (said->has_bound && !near(said->bound, row->bound))) {
    return "bound";
  }
  if (said->rounds != row->rounds) {
    return "number of rounds";
  }
  if (!same_comparison(&said->baseline, &row->baseline)) {
    return "comparison with the baseline";
  }
  return same_comparison(&said->history, &row->history) ? NULL : "comparison with the CPU model's history";
}

static bool agree(const struct tg_gates_again *out, struct tg_error *err) {
  const struct tg_report *report = out->report;
  for (size_t i = 0; i < out->again.num_rows; i++) {
    const struct tg_report_row *row = &out->again.rows[i];
    const struct tg_report_row *said = tg_report_row_named(report, row->name);
    const char *what = said == NULL ? "row" : difference(said, row);
    if (what != NULL) {
      tg_error_set(err, "report.json: the %s of %s is not what samples.json comes to (%s, value %.9g)", what, row->name,
                   tg_status_name(row->status), row->value);
      return false;
    }
  }
  if (report->num_rows != out->again.num_rows) {
    tg_error_set(err, "report.json: has %zu rows, and manifest and exact.json %zu", report->num_rows,
                 out->again.num_rows);
    return false;
  }
  if (report->readable != out->again.readable) {
    tg_error_set(err, "report.json: says that the run is %sreadable, and its samples do not",
                 report->readable ? "" : "not ");
    return false;
  }
  bool enforced = out->found == TG_BASELINE_FOUND && out->compared.enforced;
  if (report->enforced != enforced) {
    tg_error_set(err, "report.json: says that the baseline was %senforced, and commit and samples do not",
                 report->enforced ? "" : "not ");
    return false;
  }
  return true;
}

bool tg_gates_again_draw(struct tg_gates_again *out, const struct tg_evidence *evidence, struct tg_error *err) {
  *out = (struct tg_gates_again){.found = TG_BASELINE_UNENFORCED};
  bool ok = load_report(out, evidence, err);
  if (ok && out->report->kind == TG_REPORT_COMPLETE) {
    char folder[] = "/tmp/tlsgate-verify-XXXXXX";
    ok = load_evidence(out, evidence, err);
    if (ok && mkdtemp(folder) == NULL) {
      tg_error_set(err, "cannot make a folder %s: %s", folder, strerror(errno));
      ok = false;
    } else if (ok) {
      ok = find_references(out, evidence->source, folder, err);
      tg_files_remove_folder(folder);
    }
    ok = ok && draw(out, evidence, err) && agree(out, err);
  }
  if (!ok) {
    tg_gates_again_free(out);
  }
  return ok;
}

void tg_gates_again_free(struct tg_gates_again *again) {
  if (again->again.rows != (again->report != NULL ? again->report->rows : NULL)) {
    free(again->again.rows);
  }
  tg_verdict_free(again->verdict);
  tg_exact_gates_free(again->exact);
  tg_samples_free(again->samples);
  tg_report_free(again->report);
  tg_manifest_free(again->manifest);
  tg_host_baseline_free(again->baseline);
  tg_cpu_history_free(again->history);
  json_decref(again->calibration_values);
  *again = (struct tg_gates_again){.found = TG_BASELINE_UNENFORCED};
}

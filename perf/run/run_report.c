#include "perf/run/run_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/baseline/compare.h"
#include "perf/run/output.h"
#include "perf/verdict/narrow.h"
#include "perf/verdict/table.h"

static void warn(const char *text) {
  fprintf(stderr, "gates: %s\n", text);
}

static bool decode_environment(struct tg_run_report *out, struct tg_error *err) {
  struct tg_json_place place;
  // Only the count of references would change, and it does not.
  return tg_json_open(&place, "provenance", (json_t *)out->config.provenance, err) &&
         tg_environment_decode(&out->report.environment, &place);
}

// What keeps a full run from being enforced is known before it measures. Returns false if the run must fail.
static bool find_baseline(struct tg_run_report *out, struct tg_error *problem) {
  char folder[PATH_MAX];
  problem->text[0] = '\0';
  if (out->config.mode != TG_MODE_FULL) {
    return true;
  }
  struct tg_error why = {"the source tree, where the baselines are, cannot be told; start the gates by ./tlsgate"};
  enum tg_baseline_found found = TG_BASELINE_UNENFORCED;
  if (!tg_report_is_genuine(&out->report)) {
    tg_error_set(&why, "a server with a planted fault has no baseline");
  } else if (out->config.workspace[0] != '\0' &&
             snprintf(folder, sizeof(folder), "%s/baselines/hosts", out->config.workspace) < (int)sizeof(folder)) {
    found = tg_baseline_find(&out->baseline, folder, out->report.environment.label, &out->report.environment,
                             out->config.profile, &why);
  }
  if (found == TG_BASELINE_ERROR) {
    *problem = why;
    return false;
  }
  if (found == TG_BASELINE_UNENFORCED) {
    (void)snprintf(out->unenforced_because, sizeof(out->unenforced_because), "%.390s", why.text);
    out->report.unenforced_because = out->unenforced_because;
  }
  return true;
}

// Only a whole run of the genuine server is held against the history of its CPU model.
static bool find_history(struct tg_run_report *out, struct tg_error *problem) {
  const struct tg_report *report = &out->report;
  char folder[PATH_MAX];
  if (!tg_report_is_genuine(report) || report->profile != TG_PROFILE_SHORT ||
      (report->mode != TG_MODE_GATES && report->mode != TG_MODE_FULL) || report->environment.cpu_model == NULL ||
      out->config.workspace[0] == '\0' ||
      snprintf(folder, sizeof(folder), "%s/baselines/history", out->config.workspace) >= (int)sizeof(folder)) {
    return true;
  }
  problem->text[0] = '\0';
  out->cpu_history = tg_cpu_history_find(folder, report->environment.cpu_model, problem);
  if (out->cpu_history != NULL && out->cpu_history->profile != report->profile) {
    tg_cpu_history_free(out->cpu_history);
    out->cpu_history = NULL;
  }
  return problem->text[0] == '\0';
}

static bool log_start(struct tg_run_report *out, struct tg_error *err) {
  struct tg_error why;
  size_t logged = 0;
  tg_run_logs_find(&out->logs, out->config.workspace, out->config.history);
  if (out->logs.num == 0) {
    tg_error_set(err, "there is no place to log this run: set HOME or XDG_STATE_HOME");
    return false;
  }
  if (tg_run_log_start(&out->logs, &out->report, &logged, &why)) {
    return true;
  }
  // In the sandbox of a test, or with a home that is read-only, one of them is enough.
  if (logged > 0) {
    warn(why.text);
    return true;
  }
  tg_error_set(err, "the run can be logged nowhere: %.400s", why.text);
  return false;
}

static void load_history(struct tg_run_report *out) {
  struct tg_error why;
  if (!tg_run_history_load(&out->logs, &out->history, &why)) {
    warn(why.text);
  } else if (out->history.damaged > 0) {
    fprintf(stderr, "gates: %zu lines of the log of runs are damaged and were left out; the first: %s\n",
            out->history.damaged, out->history.first_damage.text);
  }
  tg_run_history_list(&out->history, &out->report);
}

bool tg_run_report_begin(struct tg_run_report *out, const struct tg_run_report_config *config, struct tg_error *problem,
                         struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  out->config = *config;
  out->report = (struct tg_report){.id = out->id,
                                   .start = out->start,
                                   .finish = out->finish,
                                   .mode = config->mode,
                                   .profile = config->profile,
                                   .server = config->server,
                                   .quickack = config->quickack,
                                   .fault = config->fault,
                                   .evidence = config->evidence,
                                   .partial = config->mode == TG_MODE_ONLY};
  tg_time_text(out->start);
  tg_time_text(out->finish);
  if (!tg_run_id_make(out->id, err) || !decode_environment(out, err) || !log_start(out, err)) {
    return false;
  }
  load_history(out);
  out->load_at_start = tg_load_average();
  if (find_baseline(out, problem)) {
    (void)find_history(out, problem);
  }
  return true;
}

void tg_run_report_fail(struct tg_run_report *out, const struct tg_run_failure *failure) {
  struct tg_report *report = &out->report;
  (void)snprintf(out->message, sizeof(out->message), "%s", failure->error.text);
  report->kind = TG_REPORT_ERROR;
  report->verdict = TG_OUTCOME_ERROR;
  report->enforced = false;
  report->unenforced_because = NULL;
  report->undecided_reported = false;
  report->error_stage = failure->stage;
  report->error_message = out->message;
  report->error_workload = failure->workload;
  report->error_round = (long long)failure->round;
  tg_time_text(out->finish);
  tg_report_conclude(report);
}

// The binary on the disk is what the report's hash must be of, and what ran.
static bool same_binary(struct tg_run_report *out) {
  char now[TG_SHA256_HEX + 1];
  struct tg_run_failure failure = {.stage = "teardown"};
  if (!tg_sha256_of_file(out->config.timed, now, &failure.error)) {
    tg_run_report_fail(out, &failure);
    return false;
  }
  if (strcmp(now, out->report.environment.server_sha256) != 0) {
    tg_error_set(&failure.error, "the server binary %s was replaced while it was measured; run again",
                 out->config.timed);
    tg_run_report_fail(out, &failure);
    return false;
  }
  return true;
}

static void fill_row(struct tg_report_row *row, const struct tg_gate_verdict *gate) {
  row->name = gate->gate->name;
  row->unit = gate->gate->unit;
  row->kind = gate->gate->kind;
  row->direction = gate->gate->direction;
  row->status = gate->status;
  row->has_value = gate->has_value;
  row->value = gate->value;
  row->has_spread = gate->has_value;
  row->spread = gate->spread;
  row->has_bound = gate->has_bound;
  row->bound = gate->bound;
  row->has_distance = gate->has_bound && gate->has_value && gate->bound > 0;
  row->distance = gate->distance;
  row->rounds = gate->rounds;
  row->client_bound_rounds = gate->client_bound;
  row->judged_by_firm = gate->judged_by_firm;
  row->message = gate->message;
}

static void fill_rows(struct tg_report *report, const struct tg_verdict *verdict) {
  for (size_t i = 0; i < verdict->num_gates; i++) {
    fill_row(&report->rows[i], &verdict->gates[i]);
  }
  report->num_rows = verdict->num_gates;
}

// Takes a comparison into the gate's verdict: it may make it worse, never better.
static void take_comparison(struct tg_gate_verdict *gate, const struct tg_comparison *comparison, const char *against,
                            bool readable) {
  bool decided = gate->status == TG_STATUS_PASS || gate->status == TG_STATUS_FAIL;
  bool holds_anyway = !readable && decided;  // physics: what is unreadable has been taken back already
  if (!comparison->present || comparison->status == TG_STATUS_PASS || gate->status == TG_STATUS_FAIL || holds_anyway) {
    return;
  }
  char reference[32];
  bool failed = comparison->status == TG_STATUS_FAIL;
  gate->status = comparison->status;
  (void)snprintf(gate->message, sizeof(gate->message),
                 "%.2f x as bad as %s, %s %s over %zu runs, where %.2f x is allowed; %s", comparison->ratio, against,
                 tg_table_number(reference, comparison->reference), gate->gate->unit, comparison->runs,
                 1 + comparison->allowance,
                 failed ? "find what the change made slower, or record anew in the change that means it"
                        : "its rounds are too noisy to say so: quiet the machine, and run again");
}

static void compare_with_baseline(struct tg_run_report *out) {
  struct tg_compared compared;
  tg_baseline_compare(&compared, out->report.rows, out->report.num_rows, out->config.manifest, out->baseline,
                      out->report.readable);
  out->report.enforced = compared.enforced;
  if (!compared.enforced) {
    (void)snprintf(out->unenforced_because, sizeof(out->unenforced_because), "%s", compared.because);
    out->report.unenforced_because = out->unenforced_because;
  }
}

static void compare(struct tg_run_report *out, struct tg_verdict *verdict) {
  struct tg_report *report = &out->report;
  struct tg_compared compared;
  if (out->cpu_history != NULL) {
    tg_history_compare(&compared, report->rows, report->num_rows, out->config.manifest, out->cpu_history,
                       report->readable);
  }
  if (out->baseline != NULL) {
    compare_with_baseline(out);
  }
  for (size_t i = 0; i < verdict->num_gates; i++) {
    take_comparison(&verdict->gates[i], &report->rows[i].baseline, "recorded of this host", report->readable);
    take_comparison(&verdict->gates[i], &report->rows[i].history, "this CPU model's history", report->readable);
  }
  tg_verdict_recount(verdict);
}

static void fill_context(struct tg_run_report *out, const struct tg_run *run) {
  struct tg_report *report = &out->report;
  report->measured_s = run->measured_s;
  report->budget_extended = run->extended;
  report->has_stolen = isfinite(run->stolen);
  report->stolen = run->stolen;
  report->host_stalls = run->host_stalls;
  report->off_p50_ms[0] = run->off_p50_ms[0];
  report->off_p50_ms[1] = run->off_p50_ms[1];
  report->hidden_by = run->host_stalls ? NULL : run->hidden_by;
  report->commands = run->commands;
  out->diagnosis = tg_diagnosis_json(&run->diagnosis);
  report->diagnosis = out->diagnosis;
  out->background =
      json_pack("{s:O?, s:o, s:o}", "load_average_start", out->load_at_start, "load_average_finish", tg_load_average(),
                "idle_fraction", isfinite(run->idle) ? json_real(run->idle) : json_null());
  report->background = out->background;
}

void tg_run_report_complete(struct tg_run_report *out, struct tg_run *run) {
  struct tg_report *report = &out->report;
  struct tg_verdict *verdict = run->verdict;
  if (!same_binary(out)) {
    return;
  }
  tg_time_text(out->finish);
  fill_context(out, run);
  const bool exact = run->exact == NULL || tg_exact_gates_add(run->exact, verdict);
  report->rows = exact ? calloc(verdict->num_gates, sizeof(*report->rows)) : NULL;
  if (report->rows == NULL) {
    struct tg_run_failure failure = {.stage = "teardown", .error = {"out of memory for the report"}};
    tg_run_report_fail(out, &failure);
    return;
  }
  fill_rows(report, verdict);
  for (size_t i = 0; i < report->num_rows; i++) {
    tg_trust_of_series(&report->rows[i].trust, tg_samples_find(run->samples, report->rows[i].name));
    tg_trust_run_to_run(&report->rows[i], report, &out->history);
  }
  tg_trust_calibration(&report->calibration, run->samples, &out->calibration_values);
  tg_trust_read(report, &out->reasons);
  if (!report->readable) {
    tg_verdict_unreadable(verdict, report->reasons[0]);
  }
  compare(out, verdict);
  fill_rows(report, verdict);
  tg_trust_drift(report);
  report->verdict = tg_report_verdict_of_rows(report);
  report->undecided_reported = report->verdict == TG_OUTCOME_UNDECIDED && out->config.report_undecided &&
                               (report->mode == TG_MODE_GATES || report->mode == TG_MODE_RATIOS_ONLY);
  tg_report_conclude(report);
}

static void log_end(struct tg_run_report *out) {
  struct tg_error why;
  size_t logged = 0;
  if (!tg_run_log_end(&out->logs, &out->report, &logged, &why)) {
    warn(why.text);
  }
}

bool tg_run_report_publish(struct tg_run_report *out, const char *folder, const struct tg_run *run,
                           struct tg_error *err) {
  bool complete = out->report.kind == TG_REPORT_COMPLETE;
  bool ok =
      complete ? tg_output_write(folder, run, &out->report, err) : tg_output_write_failure(folder, &out->report, err);
  if (!ok) {
    struct tg_run_failure failure = {.stage = "teardown", .error = *err};
    tg_run_report_fail(out, &failure);
  }
  log_end(out);
  return ok;
}

void tg_run_report_end(struct tg_run_report *report) {
  free(report->report.rows);
  free(report->report.earlier);
  tg_run_history_free(&report->history);
  tg_host_baseline_free(report->baseline);
  tg_cpu_history_free(report->cpu_history);
  json_decref(report->load_at_start);
  json_decref(report->background);
  json_decref(report->calibration_values);
  json_decref(report->diagnosis);
  memset(report, 0, sizeof(*report));
}

// The timed gates, in full mode; and the recorded baseline of the host, which is judged from the same samples.
#include <string.h>

#include "perf/certify/gates_again.h"
#include "perf/certify/parts_internal.h"
#include "perf/certify/run_history.h"

#define PROGRAM "bazel-bin/perf/gates_run"

// It waits for the host's lock up to ten minutes and measures for some two.
#define GATES_LIMIT_S 2400.0

bool tg_gates_binaries(const struct tg_part_run *run, json_t *paths, struct tg_error *err) {
  static const char *const programs[] = {PROGRAM, "bazel-bin/harness/server/https_server",
                                         "bazel-bin/harness/client/rtt_client",
                                         "bazel-bin/harness/client/handshake_bench"};
  (void)run;
  for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
    if (json_array_append_new(paths, json_string(programs[i])) != 0) {
      tg_error_set(err, "out of memory");
      return false;
    }
  }
  return true;
}

// Earlier values, for the page. They decide nothing: without them the page says that there are none.
static void keep_history(const struct tg_part_run *run) {
  char path[PATH_MAX];
  struct tg_error err;
  tg_raw_path(path, run, "report.json");
  struct tg_report *report = tg_report_load(path, &err);
  json_t *history = report != NULL ? tg_certify_history(run->source->workspace, report, &err) : NULL;
  if (history == NULL || !tg_raw_write(run, "history.json", history, &err)) {
    fprintf(stderr, "certify: no history of the metrics: %s\n", err.text);
  }
  json_decref(history);
  tg_report_free(report);
}

bool tg_gates_run(const struct tg_part_run *run, struct tg_error *err) {
  const char *const argv[] = {PROGRAM, "--full", "--out", run->folder, NULL};
  int status = tg_part_command(run, argv, "gates.log", GATES_LIMIT_S, err);
  // Whatever it came to is in its report; a usage error or a signal has none.
  if (status == TG_EXIT_USAGE || status > TG_EXIT_UNENFORCED) {
    tg_error_set(err, "the gates ended with status %d: gates.log says why", status);
    return false;
  }
  if (status >= 0) {
    keep_history(run);
  }
  return status >= 0;
}

static json_t *earlier_runs(const struct tg_report *report) {
  json_t *runs = json_array();
  for (size_t i = 0; i < report->num_earlier; i++) {
    const struct tg_earlier_run *run = &report->earlier[i];
    (void)json_array_append_new(runs, json_pack("{s:s, s:s, s:s, s:b, s:s}", "id", run->id, "start", run->start, "mode",
                                                tg_mode_name(run->mode), "dirty", run->dirty, "verdict",
                                                run->finished ? tg_outcome_name(run->verdict) : "unfinished"));
  }
  return json_pack("{s:I, s:o}", "total", (json_int_t)report->num_earlier_total, "runs", runs);
}

// Names of the gates with a status, one after another.
static json_t *names_with(const struct tg_verdict *verdict, enum tg_status one, enum tg_status other) {
  json_t *names = json_array();
  for (size_t i = 0; i < verdict->num_gates; i++) {
    enum tg_status status = verdict->gates[i].status;
    if (status == one || status == other) {
      (void)json_array_append_new(names, json_string(verdict->gates[i].gate->name));
    }
  }
  return names;
}

static void judge_error(const struct tg_report *report, struct tg_part_verdict *out) {
  out->outcome = TG_OUTCOME_FAIL;
  (void)snprintf(out->message, sizeof(out->message), "the run failed in its stage %s: %.300s", report->error_stage,
                 report->error_message);
  out->figures =
      json_pack("{s:s, s:s, s:o}", "run", report->id, "error", report->error_message, "earlier", earlier_runs(report));
}

bool tg_gates_judge(const struct tg_part *part, const struct tg_evidence *evidence, struct tg_part_verdict *out,
                    struct tg_error *err) {
  (void)part;
  struct tg_gates_again again;
  if (!tg_gates_again_draw(&again, evidence, err)) {
    return false;
  }
  const struct tg_verdict *verdict = again.verdict;
  if (verdict == NULL) {
    judge_error(again.report, out);
  } else {
    out->outcome = verdict->failed > 0      ? TG_OUTCOME_FAIL
                   : verdict->undecided > 0 ? TG_OUTCOME_UNDECIDED
                                            : TG_OUTCOME_PASS;
    (void)snprintf(out->message, sizeof(out->message), "%zu of %zu gates passed, %zu failed, %zu undecided%s",
                   verdict->passed, verdict->gated, verdict->failed, verdict->undecided,
                   again.again.readable ? "" : "; the run is not readable");
    out->figures =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:b, s:o}", "run", again.report->id, "gates",
                  (json_int_t)verdict->gated, "passed", (json_int_t)verdict->passed, "failed",
                  (json_int_t)verdict->failed, "undecided", (json_int_t)verdict->undecided, "failed_gates",
                  names_with(verdict, TG_STATUS_FAIL, TG_STATUS_FAIL), "undecided_gates",
                  names_with(verdict, TG_STATUS_UNDECIDED, TG_STATUS_CLIENT_BOUND), "readable", again.again.readable,
                  "host_stalls", again.report->host_stalls, "earlier", earlier_runs(again.report));
  }
  tg_gates_again_free(&again);
  return true;
}

bool tg_baseline_judge(const struct tg_part *part, const struct tg_evidence *evidence, struct tg_part_verdict *out,
                       struct tg_error *err) {
  (void)part;
  struct tg_gates_again again;
  if (!tg_gates_again_draw(&again, evidence, err)) {
    return false;
  }
  const struct tg_compared *compared = &again.compared;
  const char *because = again.found == TG_BASELINE_FOUND ? compared->because : again.not_found;
  if (again.verdict == NULL) {
    out->outcome = TG_OUTCOME_UNENFORCED;
    because = "the timed run has no figures to enforce it on";
  } else if (compared->failed > 0) {
    out->outcome = TG_OUTCOME_FAIL;
  } else if (again.found != TG_BASELINE_FOUND || !compared->enforced) {
    out->outcome = TG_OUTCOME_UNENFORCED;
  } else {
    out->outcome = compared->undecided > 0 ? TG_OUTCOME_UNDECIDED : TG_OUTCOME_PASS;
  }
  const char *label = again.report->environment.label;
  if (out->outcome == TG_OUTCOME_UNENFORCED) {
    (void)snprintf(out->message, sizeof(out->message), "NOT ENFORCED: %.380s", because);
  } else {
    (void)snprintf(out->message, sizeof(out->message),
                   "%zu rows as recorded of %.64s, %zu worse, %zu undecided; %zu weak, %zu disabled", compared->passed,
                   label, compared->failed, compared->undecided, compared->wide, compared->disabled);
  }
  out->figures = json_pack("{s:s?, s:b, s:I, s:I, s:I, s:I, s:I}", "label", label, "enforced",
                           again.verdict != NULL && again.found == TG_BASELINE_FOUND && compared->enforced, "passed",
                           (json_int_t)compared->passed, "failed", (json_int_t)compared->failed, "undecided",
                           (json_int_t)compared->undecided, "weak", (json_int_t)compared->wide, "disabled",
                           (json_int_t)compared->disabled);
  tg_gates_again_free(&again);
  return true;
}

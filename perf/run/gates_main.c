// The gates: one run, one verdict. `gates --help` and docs/gates.md say more.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perf/baseline/deposit.h"
#include "perf/report/folder.h"
#include "perf/run/applies.h"
#include "perf/run/exact_check.h"
#include "perf/run/options.h"
#include "perf/run/run.h"
#include "perf/run/run_report.h"
#include "perf/run/session.h"
#include "perf/verdict/narrow.h"
#include "perf/verdict/table.h"

static void choose_folder(const struct tg_gates_options *options, const struct tg_session *session,
                          char out[PATH_MAX]) {
  const char *test_outputs = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (options->out != NULL || test_outputs != NULL) {
    (void)snprintf(out, PATH_MAX, "%s", options->out != NULL ? options->out : test_outputs);
    return;
  }
  time_t now = time(NULL);
  struct tm utc;
  char date[32];
  (void)gmtime_r(&now, &utc);
  (void)strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &utc);
  bool known = session->workspace[0] != '\0';
  (void)snprintf(out, PATH_MAX, "%.3900s%sreports/%s-%ld", known ? session->workspace : "", known ? "/" : "", date,
                 (long)getpid());
}

// The server that is judged, if it is not the project's own.
struct judged {
  struct tg_server_description decoded;
  const struct tg_server_description *description;  // NULL: the project's own
  struct tg_applies applies;
};

// A relative path is the caller's, or else the source tree's: `bazel test` runs far from both.
static void find_file(const char *file, const char *workspace, char out[PATH_MAX]) {
  if (file[0] == '/' || workspace[0] == '\0' || access(file, F_OK) == 0 ||
      snprintf(out, PATH_MAX, "%s/%s", workspace, file) >= PATH_MAX) {
    (void)snprintf(out, PATH_MAX, "%s", file);
  }
}

// Fills in `out`, in which nothing is left to free unless its description is set. What is wrong has been said.
static bool find_judged(const struct tg_gates_options *options, struct tg_session *session, struct judged *out) {
  struct tg_error err;
  char file[PATH_MAX];
  if (options->server != NULL) {
    find_file(options->server, session->workspace, file);
    if (!tg_server_describe(file, &out->decoded, &err)) {
      fprintf(stderr, "gates: --server: %s\n", err.text);
      return false;
    }
    out->description = &out->decoded;
    if (!tg_session_use(session, out->description, &err)) {
      fprintf(stderr, "gates: --server: %s\n", err.text);
      return false;
    }
  }
  if (!tg_applies_fill(&out->applies, session->manifest, out->description, &err)) {
    fprintf(stderr, "gates: --server: %s\n", err.text);
    return false;
  }
  return true;
}

static bool names_are_known(const struct tg_gates_options *options, const struct tg_manifest *manifest,
                            const struct tg_applies *applies) {
  for (const char *const *name = options->only; *name != NULL; name++) {
    if (tg_manifest_gate(manifest, *name) == NULL && strcmp(*name, TG_EXACT_GROUP) != 0) {
      fprintf(stderr, "gates: --only %s: %s has no gate of that name, and it is not " TG_EXACT_GROUP "\n", *name,
              manifest->file);
      return false;
    }
    const struct tg_gate *gate = tg_manifest_gate(manifest, *name);
    const char *why = gate == NULL ? NULL : tg_applies_not(applies, gate);
    if (why != NULL) {
      fprintf(stderr, "gates: --only %s: left out for this server: %s\n", *name, why);
      return false;
    }
  }
  return true;
}

static bool reports_undecided(void) {
  const char *value = getenv("TLSGATE_UNDECIDED");
  return value != NULL && strcmp(value, "report") == 0;
}

static struct tg_verdict *replay_published(const struct tg_manifest *manifest, const struct tg_run *run) {
  struct tg_row_value values[TG_GATES_MAX];
  struct tg_row row = {.name = "this run", .values = values};
  for (size_t i = 0; i < run->verdict->num_gates; i++) {
    const struct tg_gate_verdict *gate = &run->verdict->gates[i];
    if (gate->has_value) {
      values[row.num_values++] = (struct tg_row_value){.name = gate->gate->name, .value = gate->value};
    }
  }
  return tg_verdict_replay(manifest, &row);
}

static void print_reading(const struct tg_report *report) {
  if (!report->readable) {
    printf("NOT READABLE: only physics, exact and counted gates are decided.\n");
    for (size_t i = 0; i < report->num_reasons; i++) {
      printf("  %s\n", report->reasons[i]);
    }
  }
  if (report->drift.rows > 0) {
    printf("drift: %zu rows are at %.2f x the %s in the median, quartiles %.2f x and %.2f x (above 1 is worse)\n",
           report->drift.rows, report->drift.median, report->drift.against, report->drift.lower_quartile,
           report->drift.upper_quartile);
  }
}

// Retrying until a run passes is visible, and is not a fix.
static void print_earlier(const struct tg_report *report) {
  size_t counts[TG_OUTCOME_ERROR + 1] = {0};
  size_t unfinished = 0;
  if (report->num_earlier_total == 0) {
    return;
  }
  for (size_t i = 0; i < report->num_earlier; i++) {
    counts[report->earlier[i].verdict] += report->earlier[i].finished;
    unfinished += !report->earlier[i].finished;
  }
  printf("earlier runs of this revision on this host: %zu;", report->num_earlier_total);
  for (int i = 0; i <= TG_OUTCOME_ERROR; i++) {
    if (counts[i] > 0) {
      printf(" %zu %s", counts[i], tg_outcome_name((enum tg_outcome)i));
    }
  }
  if (unfinished > 0) {
    printf(" %zu unfinished", unfinished);
  }
  printf("\n");
}

static void print_diagnosis(const struct tg_diagnosis *diagnosis) {
  for (size_t i = 0; i < diagnosis->num_lines; i++) {
    printf("%s%s\n", i == 0 ? "diagnosis, by experiment (docs/gates.md):\n  " : "  ", diagnosis->lines[i]);
  }
}

static void print_verdict(const struct tg_report *report, const struct tg_run *run, const char *folder) {
  tg_table_print(stdout, run->verdict, tg_table_wants_colour(stdout));
  if (!run->host_stalls) {
    printf("This host hides the stall: without re-arm a request took %.2f ms. Cause: %s.\n", run->off_p50_ms[0],
           run->hidden_by);
  }
  print_diagnosis(&run->diagnosis);
  print_reading(report);
  printf("measured %.0f s; negative control %.1f ms; stolen CPU %.1f %%; reports in %s\n", run->measured_s,
         run->off_p50_ms[0], run->stolen * 100, folder);
  print_earlier(report);
  if (report->profile == TG_PROFILE_PUBLISHED) {
    printf(
        "plain comparison with bounds of a 12-core machine, as in the original suite: one sample each, and a saturated "
        "client is no excuse\n");
  }
  if (report->unenforced_because != NULL) {
    printf("UNENFORCED: no recorded baseline was enforced: %s\n", report->unenforced_because);
  }
  if (report->partial) {
    printf("PARTIAL: only the gates that were asked for were measured; this is no verdict on the server\n");
  }
  if (report->mode == TG_MODE_RATIOS_ONLY) {
    printf("RATIOS ONLY: what depends on the speed of the machine was not judged; this is no acceptance\n");
  }
  if (report->evidence) {
    printf("EVIDENCE: the exit status says that the report is complete, not that the verdict is pass (it is %s)\n",
           tg_outcome_name(report->verdict));
  }
  if (report->undecided_reported) {
    printf("UNDECIDED, budget extended once, reported and not counted as failed (TLSGATE_UNDECIDED=report)\n");
  }
}

// Leaves the report for recordings. Optional: what goes wrong changes no verdict.
static void deposit(const struct tg_session *session, const struct tg_report *report) {
  char folder[PATH_MAX];
  struct tg_error err;
  if (!tg_report_is_whole(report) || session->workspace[0] == '\0' ||
      snprintf(folder, sizeof(folder), "%s/%s", session->workspace, TG_DEPOSITS_FOLDER) >= (int)sizeof(folder)) {
    return;
  }
  if (!tg_deposit_add(folder, report, &err)) {
    fprintf(stderr, "gates: not deposited, which changes no verdict: %s\n", err.text);
  }
}

// Nothing is said of a verdict whose report cannot be had.
static int finish(struct tg_run_report *report, const struct tg_session *session, const struct tg_run *run,
                  const char *folder) {
  struct tg_error err;
  if (!tg_run_report_publish(report, folder, run, &err)) {
    fprintf(stderr, "gates: %s\n", err.text);
    return TG_EXIT_FAIL;
  }
  if (report->report.kind == TG_REPORT_ERROR || run == NULL) {
    fprintf(stderr, "gates: %s\n", report->report.error_message);
    return TG_EXIT_FAIL;
  }
  deposit(session, &report->report);
  print_verdict(&report->report, run, folder);
  if (fflush(stdout) != 0) {
    perror("gates: cannot print the verdict");
    return TG_EXIT_FAIL;
  }
  return (int)report->report.exit_status;
}

// The exact gates count the server that ships, and the published suite has none.
static bool counts(const struct tg_gates_options *options) {
  bool wanted = options->only[0] == NULL;
  for (const char *const *name = options->only; *name != NULL; name++) {
    wanted = wanted || strcmp(*name, TG_EXACT_GROUP) == 0;
  }
  return wanted && options->size != TG_SIZE_PUBLISHED && tg_options_are_genuine(options);
}

// Leaves *out NULL if these options do not ask for exact gates.
static bool count(const struct tg_gates_options *options, const char *folder, struct tg_exact_gates **out,
                  struct tg_run_failure *failure) {
  struct tg_exact_check check;
  *failure = (struct tg_run_failure){.stage = "exact"};
  *out = NULL;
  if (!counts(options)) {
    return true;
  }
  if (!tg_exact_check_find(&check, &failure->error)) {
    return false;
  }
  if (!options->quiet) {
    fprintf(stderr, "gates: counting calls, memory and instructions\n");
  }
  *out = tg_exact_check_run(&check, folder, failure);
  return *out != NULL;
}

static int measure(const struct tg_gates_options *options, struct tg_session *session, const struct judged *judged,
                   struct tg_run_report *report, const char *folder) {
  struct tg_run_config config = {
      .applies = &judged->applies,
      .fleet = {.description = judged->description,
                .server = judged->description != NULL ? session->server : tg_session_timed(session),
                .quickack = options->quickack,
                .fault = options->fault},
      .off_server = session->server,
      .manifest = session->manifest,
      .only = options->only[0] != NULL ? options->only : NULL,
      .budget_s = options->budget_s,
      .extend_once = report->config.report_undecided,
      .size = options->size,
      .diagnose = options->size != TG_SIZE_PUBLISHED,
      .ratios_only = options->mode == TG_MODE_RATIOS_ONLY,
      .quiet = options->quiet,
  };
  struct tg_run run;
  struct tg_run_failure failure;
  struct tg_exact_gates *exact;
  if (!count(options, folder, &exact, &failure) || !tg_run_measure(&config, &run, &failure)) {
    tg_exact_gates_free(exact);
    tg_run_report_fail(report, &failure);
    return finish(report, session, NULL, folder);
  }
  run.exact = exact;
  if (options->size == TG_SIZE_PUBLISHED) {
    struct tg_verdict *verdict = replay_published(session->manifest, &run);
    tg_verdict_free(run.verdict);
    run.verdict = verdict;
    tg_verdict_hide(verdict, run.host_stalls ? NULL : run.hidden_by);
  }
  tg_run_report_complete(report, &run);
  int status = finish(report, session, &run, folder);
  tg_run_free(&run);
  return status;
}

// One run, from the marker that it exists to its report.
static int run_once(const struct tg_gates_options *options, struct tg_session *session, const struct judged *judged,
                    const char *folder) {
  struct tg_run_failure failure = {.stage = "setup"};
  bool locked = tg_session_lock(session, &failure.error);
  struct tg_run_report_config config = {
      .mode = options->mode,
      .profile = options->size == TG_SIZE_PUBLISHED ? TG_PROFILE_PUBLISHED : TG_PROFILE_SHORT,
      .server = judged->description != NULL ? judged->description->name : NULL,
      .quickack = options->quickack,
      .fault = options->fault,
      .evidence = options->evidence,
      .report_undecided = reports_undecided(),
      .history = options->history,
      .workspace = session->workspace,
      .timed = tg_session_timed(session),
      .provenance = session->provenance,
      .manifest = session->manifest,
  };
  struct tg_run_report report;
  struct tg_error problem;
  struct tg_error err;
  if (!tg_run_report_begin(&report, &config, &problem, &err)) {
    fprintf(stderr, "gates: report unavailable: %s\n", err.text);
    tg_run_report_end(&report);
    return TG_EXIT_FAIL;
  }
  if (locked && problem.text[0] != '\0') {
    failure.error = problem;
  }
  int status = TG_EXIT_FAIL;
  if (!locked || problem.text[0] != '\0') {
    tg_run_report_fail(&report, &failure);
    status = finish(&report, session, NULL, folder);
  } else {
    if (report.report.unenforced_because != NULL) {
      fprintf(stderr, "gates: this run will be UNENFORCED: %s\n", report.report.unenforced_because);
    }
    status = measure(options, session, judged, &report, folder);
  }
  tg_run_report_end(&report);
  return status;
}

int main(int argc, char **argv) {
  struct tg_gates_options options;
  switch (tg_gates_options_parse(&options, argc, argv)) {
    case TG_OPTIONS_DONE:
      return TG_EXIT_PASS;
    case TG_OPTIONS_USAGE:
      return TG_EXIT_USAGE;
    case TG_OPTIONS_RUN:
      break;
  }
  struct tg_session session;
  struct tg_error err;
  const char *manifest = options.size == TG_SIZE_PUBLISHED ? "baselines/published.json" : "baselines/gates.json";
  if (!tg_session_find(&session, manifest, options.fault != NULL, &err)) {
    fprintf(stderr, "gates: report unavailable: %s\n", err.text);
    return TG_EXIT_FAIL;
  }
  int status = TG_EXIT_USAGE;
  static struct judged judged;
  if (find_judged(&options, &session, &judged) && names_are_known(&options, session.manifest, &judged.applies)) {
    char folder[PATH_MAX];
    choose_folder(&options, &session, folder);
    if (tg_folder_make(folder, &err)) {
      status = run_once(&options, &session, &judged, folder);
    } else {
      fprintf(stderr, "gates: --out: %s\n", err.text);
    }
  }
  if (judged.description != NULL) {
    tg_server_description_free(&judged.decoded);
  }
  tg_session_close(&session);
  return status;
}

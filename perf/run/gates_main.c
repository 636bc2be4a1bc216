// The gates: one run, one verdict. `gates --help` and docs/gates.md say more.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perf/run/options.h"
#include "perf/run/output.h"
#include "perf/run/run.h"
#include "perf/run/session.h"
#include "perf/verdict/table.h"

enum { EXIT_PASS = 0, EXIT_FAIL = 1, EXIT_USAGE = 2, EXIT_UNDECIDED = 3 };

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

static bool names_are_known(const struct tg_gates_options *options, const struct tg_manifest *manifest) {
  for (const char *const *name = options->only; *name != NULL; name++) {
    if (tg_manifest_gate(manifest, *name) == NULL) {
      fprintf(stderr, "gates: --only %s: %s has no gate of that name\n", *name, manifest->file);
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

static int conclude(const struct tg_gates_options *options, const struct tg_run *run, const char *folder) {
  tg_table_print(stdout, run->verdict, tg_table_wants_colour(stdout));
  if (!run->host_stalls) {
    printf("This host hides the stall: without re-arm a request took %.2f ms. Cause: %s.\n", run->off_p50_ms[0],
           run->hidden_by);
  }
  printf("measured %.0f s; negative control %.1f ms; stolen CPU %.1f %%; reports in %s\n", run->measured_s,
         run->off_p50_ms[0], run->stolen * 100, folder);
  int status = tg_verdict_exit_code(run->verdict);
  if (options->size == TG_SIZE_PUBLISHED) {
    printf(
        "plain comparison with bounds of a 12-core machine, as in the original suite: one sample each, and a saturated "
        "client is no excuse\n");
    if (!run->host_stalls && status == EXIT_PASS) {
      status = EXIT_UNDECIDED;
    }
  }
  if (options->only[0] != NULL) {
    printf("PARTIAL: only the gates that were asked for were measured; this is no verdict on the server\n");
    return status == EXIT_PASS ? EXIT_UNDECIDED : status;
  }
  if (status == EXIT_UNDECIDED && reports_undecided()) {
    printf("UNDECIDED, budget extended once, reported and not counted as failed (TLSGATE_UNDECIDED=report)\n");
    return EXIT_PASS;
  }
  return status;
}

static int measure(const struct tg_gates_options *options, struct tg_session *session, const char *folder) {
  struct tg_run_config config = {
      .fleet = {.server = options->fault != NULL ? session->faulty_server : session->server,
                .quickack = options->quickack,
                .fault = options->fault},
      .off_server = session->server,
      .manifest = session->manifest,
      .only = options->only[0] != NULL ? options->only : NULL,
      .budget_s = options->budget_s,
      .extend_once = reports_undecided(),
      .size = options->size,
      .quiet = options->quiet,
  };
  struct tg_run run;
  struct tg_error err;
  struct tg_error write_err;
  if (!tg_run_measure(&config, &run, &err)) {
    fprintf(stderr, "gates: %s\n", err.text);
    if (!tg_output_write_failure(folder, err.text, session->provenance, &write_err)) {
      fprintf(stderr, "gates: %s\n", write_err.text);
    }
    return EXIT_FAIL;
  }
  if (options->size == TG_SIZE_PUBLISHED) {
    struct tg_verdict *verdict = replay_published(session->manifest, &run);
    tg_verdict_free(run.verdict);
    run.verdict = verdict;
  }
  int status = EXIT_FAIL;
  if (tg_output_write(folder, &run, session->provenance, &write_err)) {
    status = conclude(options, &run, folder);
    if (fflush(stdout) != 0) {
      perror("gates: cannot print the verdict");
      status = EXIT_FAIL;
    }
  } else {
    fprintf(stderr, "gates: %s\n", write_err.text);
  }
  tg_run_free(&run);
  return status;
}

int main(int argc, char **argv) {
  struct tg_gates_options options;
  switch (tg_gates_options_parse(&options, argc, argv)) {
    case TG_OPTIONS_DONE:
      return EXIT_PASS;
    case TG_OPTIONS_USAGE:
      return EXIT_USAGE;
    case TG_OPTIONS_RUN:
      break;
  }
  struct tg_session session;
  struct tg_error err;
  const char *manifest = options.size == TG_SIZE_PUBLISHED ? "baselines/published.json" : "baselines/gates.json";
  if (!tg_session_open(&session, manifest, &err)) {
    fprintf(stderr, "gates: %s\n", err.text);
    return EXIT_FAIL;
  }
  int status = EXIT_USAGE;
  if (names_are_known(&options, session.manifest)) {
    char folder[PATH_MAX];
    choose_folder(&options, &session, folder);
    if (tg_output_prepare(folder, &err)) {
      status = measure(&options, &session, folder);
    } else {
      fprintf(stderr, "gates: --out: %s\n", err.text);
    }
  }
  tg_session_close(&session);
  return status;
}

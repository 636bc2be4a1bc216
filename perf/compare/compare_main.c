// Candidate against base, as a program. `ab --help` and docs/gates.md say more.
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perf/compare/compare.h"
#include "perf/compare/options.h"
#include "perf/compare/report.h"
#include "perf/compare/series.h"
#include "perf/host/provenance.h"
#include "perf/process/runfiles.h"
#include "perf/report/folder.h"
#include "perf/run/output.h"
#include "perf/run/session.h"

enum { EXIT_PASS = 0, EXIT_FAIL = 1, EXIT_USAGE = 2, EXIT_UNDECIDED = 3 };

struct program {
  struct tg_compare_options options;
  struct tg_session session;
  char rtt_client[PATH_MAX];
  char folder[PATH_MAX];
  struct tg_compare_identity sides[TG_COMPARE_SIDES];
};

static int complain(const char *text) {
  fprintf(stderr, "ab: %s\n", text);
  return EXIT_FAIL;
}

static int failed(const struct program *program, const char *stage, const char *message) {
  struct tg_error err;
  (void)complain(message);
  if (!tg_output_publish(program->folder, "report.json",
                         tg_compare_report_failure(stage, message, program->sides, program->session.provenance),
                         &err)) {
    (void)complain(err.text);
  }
  return EXIT_FAIL;
}

static int exit_code(enum tg_status status) {
  return status == TG_STATUS_PASS ? EXIT_PASS : status == TG_STATUS_FAIL ? EXIT_FAIL : EXIT_UNDECIDED;
}

// Writes the rounds of the first set where --record says.
static bool record(const struct program *program, const struct tg_compare_result *result, struct tg_error *err) {
  const char *path = program->options.record;
  if (path == NULL) {
    return true;
  }
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  (void)snprintf(folder, sizeof(folder), "%.*s",
                 slash == NULL   ? 1
                 : slash == path ? 1
                                 : (int)(slash - path),
                 slash == NULL ? "." : path);
  return tg_output_publish(folder, slash == NULL ? path : slash + 1,
                           tg_compare_record_json(&result->sets[0], program->session.provenance), err);
}

static int compare(struct program *program) {
  const struct tg_compare_options *options = &program->options;
  struct tg_compare_config config = {
      .servers = {{.program = options->programs[TG_BASE]}, {.program = options->programs[TG_CANDIDATE]}},
      .rtt_client = program->rtt_client,
      .rounds = options->rounds,
      .budget_s = options->budget_s,
      .allow = options->allow,
      .what = options->quiet ? NULL : "ab",
  };
  struct tg_compare_result result;
  struct tg_error err;
  if (!tg_compare_run(&config, &result, &err)) {
    return failed(program, "measure", err.text);
  }
  int status = EXIT_FAIL;
  if (!tg_output_publish(program->folder, "report.json",
                         tg_compare_report(&result, &config, program->sides, program->session.provenance), &err) ||
      !record(program, &result, &err)) {
    (void)complain(err.text);
  } else {
    tg_compare_print(stdout, &result.verdict);
    printf("measured %.0f s%s; stolen CPU %.1f %%; report in %s\n", result.measured_s,
           result.has_second ? ", a second set of rounds included" : "", 100 * result.stolen, program->folder);
    status = fflush(stdout) == 0 ? exit_code(result.verdict.status) : complain("cannot print the verdict");
  }
  tg_compare_result_free(&result);
  return status;
}

static int series(struct program *program) {
  struct tg_error err;
  json_t *report = NULL;
  int status = tg_series_run(program->session.faulty_server, program->rtt_client, &program->options, &report, &err);
  if (status < 0) {
    return failed(program, "series", err.text);
  }
  (void)json_object_set(report, "provenance", program->session.provenance);
  if (!tg_output_publish(program->folder, "series.json", report, &err)) {
    return complain(err.text);
  }
  printf("every sample in %s/series.json\n", program->folder);
  return status;
}

static bool choose_folder(struct program *program, struct tg_error *err) {
  time_t now = time(NULL);
  struct tm utc;
  char date[32];
  (void)gmtime_r(&now, &utc);
  (void)strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &utc);
  const char *workspace = program->session.workspace;
  const char *out = program->options.out;
  if (out != NULL) {
    (void)snprintf(program->folder, sizeof(program->folder), "%s", out);
  } else {
    (void)snprintf(program->folder, sizeof(program->folder), "%.3900s%sreports/ab-%s-%ld", workspace,
                   workspace[0] != '\0' ? "/" : "", date, (long)getpid());
  }
  return tg_folder_make(program->folder, err);
}

// What a report says of a side. For the series both are the planted-fault server.
static bool identify(struct program *program, struct tg_error *err) {
  const struct tg_compare_options *options = &program->options;
  for (int side = 0; side < TG_COMPARE_SIDES; side++) {
    struct tg_compare_identity *identity = &program->sides[side];
    const char *path = options->series ? program->session.faulty_server : options->programs[side];
    identity->commit = options->commits[side];
    identity->name = identity->commit != NULL ? identity->commit : options->series ? "faulty_server" : path;
    if (!tg_sha256_of_file(path, identity->sha256, err)) {
      return false;
    }
  }
  return true;
}

static int run(struct program *program) {
  struct tg_error err;
  // Whatever can be said before the wait for the host's lock.
  if (program->options.out != NULL && !tg_folder_make(program->options.out, &err)) {
    (void)complain(err.text);
    return EXIT_USAGE;
  }
  if (!tg_session_open(&program->session, "baselines/gates.json", &err)) {
    return complain(err.text);
  }
  int status = EXIT_FAIL;
  if (!choose_folder(program, &err) || !tg_runfile("harness/client/rtt_client", program->rtt_client, &err) ||
      !identify(program, &err)) {
    (void)complain(err.text);
  } else {
    status = program->options.series ? series(program) : compare(program);
  }
  tg_session_close(&program->session);
  return status;
}

int main(int argc, char **argv) {
  static struct program program;
  switch (tg_compare_options_parse(&program.options, argc, argv)) {
    case TG_COMPARE_HELPED:
      return EXIT_PASS;
    case TG_COMPARE_WRONG:
      return EXIT_USAGE;
    case TG_COMPARE_GO:
      break;
  }
  return run(&program);
}

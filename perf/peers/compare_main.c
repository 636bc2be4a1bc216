// Servers compared. `compare --help` and docs/performance.md say more.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perf/host/provenance.h"
#include "perf/peers/page.h"
#include "perf/peers/run.h"
#include "perf/peers/table.h"
#include "perf/process/child.h"
#include "perf/process/runfiles.h"
#include "perf/report/folder.h"
#include "perf/run/output.h"
#include "perf/run/session.h"

enum { EXIT_COMPARED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNDECIDED = 3 };

#define OWN_DESCRIPTION "perf/servers/own.json"

struct program {
  struct tg_peers_options options;
  struct tg_session session;
  struct tg_peers_contest contest;
  struct tg_peers_bar bars[TG_PEERS_BARS];
  char rtt_client[PATH_MAX];
  char handshake_bench[PATH_MAX];
  char shipped[PATH_MAX];
  char exact[PATH_MAX];
  char folder[PATH_MAX];
};

static int complain(const struct tg_error *err) {
  fprintf(stderr, "compare: %s\n", err->text);
  return EXIT_FAILED;
}

static void choose_folder(struct program *program) {
  time_t now = time(NULL);
  struct tm utc;
  char date[32];
  char workspace[PATH_MAX];
  const char *test_outputs = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  const char *asked = program->options.out;
  if (asked != NULL || test_outputs != NULL) {
    (void)snprintf(program->folder, sizeof(program->folder), "%s", asked != NULL ? asked : test_outputs);
    return;
  }
  (void)gmtime_r(&now, &utc);
  (void)strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &utc);
  bool known = tg_workspace(OWN_DESCRIPTION, workspace);
  (void)snprintf(program->folder, sizeof(program->folder), "%.3900s%sreports/compare-%s-%ld", known ? workspace : "",
                 known ? "/" : "", date, (long)getpid());
}

static bool find_files(struct program *program, struct tg_error *err) {
  if (!tg_runfile("harness/client/rtt_client", program->rtt_client, err) ||
      !tg_runfile("harness/client/handshake_bench", program->handshake_bench, err) ||
      !tg_runfile("baselines/exact.json", program->exact, err) || !tg_runfile(OWN_DESCRIPTION, program->shipped, err)) {
    return false;
  }
  *strrchr(program->shipped, '/') = '\0';
  return true;
}

static bool publish(const struct program *program, const struct tg_peers_run_facts *facts, struct tg_error *err) {
  char path[PATH_MAX + 16];
  (void)snprintf(path, sizeof(path), "%s/compare.html", program->folder);
  return tg_peers_page(path, &program->contest.result, program->bars, facts, err) &&
         tg_output_publish(program->folder, "report.json",
                           tg_peers_report(&program->contest.result, program->bars, facts), err);
}

// The last of it: the report first, for nothing is said of a run whose report cannot be had.
static int conclude(struct program *program, double took_s, double stolen) {
  const struct tg_peers_result *result = &program->contest.result;
  struct tg_error err;
  char date[32];
  time_t now = time(NULL);
  struct tm utc;
  (void)gmtime_r(&now, &utc);
  (void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
  const struct tg_peers_run_facts facts = {.date = date,
                                           .workers = program->options.workers,
                                           .took_s = took_s,
                                           .stolen = stolen,
                                           .provenance = program->session.provenance};
  tg_peers_bars(result, program->bars);
  if (!publish(program, &facts, &err)) {
    return complain(&err);
  }
  tg_peers_table(stdout, result);
  fputc('\n', stdout);
  tg_peers_bars_table(stdout, program->bars);
  printf("measured %.0f s; stolen CPU %.1f %%; report.json and compare.html in %s\n", took_s, 100 * stolen,
         program->folder);
  if (fflush(stdout) != 0) {
    perror("compare: cannot print the table");
    return EXIT_FAILED;
  }
  if (tg_peers_undecided(result)) {
    return EXIT_UNDECIDED;
  }
  bool all = tg_peers_bars_with(program->bars, TG_PEERS_REACHED) == TG_PEERS_BARS;
  return program->options.bars && !all ? EXIT_FAILED : EXIT_COMPARED;
}

static int measure(struct program *program) {
  struct tg_error err;
  struct tg_cpu_times from;
  struct tg_cpu_times to;
  struct tg_peers_plan plan = {
      .launch = {.https_server = program->session.server, .workers = program->options.workers},
      .rtt_client = program->rtt_client,
      .handshake_bench = program->handshake_bench,
      .amounts = tg_peers_usual,
      .quiet = program->options.quiet,
  };
  memcpy(plan.wanted, program->options.wanted, sizeof(plan.wanted));
  program->contest.result.exact_calls = plan.wanted[TG_PEERS_CALLS] ? tg_peers_exact_calls(program->exact) : 0;
  bool known = tg_cpu_times_read(&from);
  double begun = tg_now_s();
  if (!tg_peers_run(&program->contest, &plan, &err)) {
    return complain(&err);
  }
  double took_s = tg_now_s() - begun;
  known = known && tg_cpu_times_read(&to);
  return conclude(program, took_s, known ? tg_stolen_fraction(&from, &to) : (double)NAN);
}

// Names what is skipped. Returns false with `err` filled in if nothing is left.
static bool any_installed(const struct program *program, struct tg_error *err) {
  const struct tg_peers_result *result = &program->contest.result;
  for (size_t i = 0; i < result->num_absent; i++) {
    fprintf(stderr, "compare: skipped: %s\n", result->absent[i]);
  }
  if (result->num_servers == 0) {
    tg_error_set(err, "none of the servers is installed: there is nothing to compare");
  }
  return result->num_servers > 0;
}

static int run(struct program *program) {
  struct tg_error err;
  if (!find_files(program, &err)) {
    return complain(&err);
  }
  // Whatever can be said before the wait for the host's lock.
  if (!tg_peers_describe(&program->contest, &program->options, program->shipped, &err)) {
    (void)complain(&err);
    return EXIT_USAGE;
  }
  choose_folder(program);
  int status = EXIT_USAGE;
  if (!tg_folder_make(program->folder, &err)) {
    fprintf(stderr, "compare: --out: %s\n", err.text);
  } else if (!any_installed(program, &err) || !tg_session_open(&program->session, "baselines/gates.json", &err)) {
    status = complain(&err);
  } else {
    status = measure(program);
    tg_session_close(&program->session);
  }
  tg_peers_free(&program->contest);
  return status;
}

int main(int argc, char **argv) {
  static struct program program;
  switch (tg_peers_options_parse(&program.options, argc, argv)) {
    case TG_PEERS_DONE:
      return EXIT_COMPARED;
    case TG_PEERS_WRONG:
      return EXIT_USAGE;
    case TG_PEERS_GO:
      break;
  }
  return run(&program);
}

// Black-box robustness probes against a described server. `probe --help` and docs/servers.md say more.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/client/json_file.h"
#include "perf/host/lock.h"
#include "perf/probe/options.h"
#include "perf/probe/report.h"
#include "perf/process/runfiles.h"
#include "perf/report/folder.h"

enum { EXIT_PASS = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNDECIDED = 3 };

#define OWN_DESCRIPTION "perf/servers/own.json"
#define LOCK_TIMEOUT_MS 600000
#define OWN_SERVER      "harness/server/https_server"

static int complain(const struct tg_error *err) {
  fprintf(stderr, "probe: %s\n", err->text);
  return EXIT_FAILED;
}

static void choose_folder(const char *asked, char out[PATH_MAX]) {
  char workspace[PATH_MAX];
  const char *test_outputs = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (asked != NULL || test_outputs != NULL) {
    (void)snprintf(out, PATH_MAX, "%s", asked != NULL ? asked : test_outputs);
    return;
  }
  time_t now = time(NULL);
  struct tm utc;
  char date[32];
  (void)gmtime_r(&now, &utc);
  (void)strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &utc);
  bool known = tg_workspace(OWN_DESCRIPTION, workspace);
  (void)snprintf(out, PATH_MAX, "%.3900s%sreports/probe-%s-%ld", known ? workspace : "", known ? "/" : "", date,
                 (long)getpid());
}

static int run(const struct tg_probe_options *options, const struct tg_server_description *description,
               const char *https_server, const char *folder) {
  static struct tg_probe_run run;
  struct tg_error err;
  char path[PATH_MAX + 16];
  struct tg_probe_config config = {
      .description = description,
      .launch = {.https_server = https_server, .workers = options->workers},
      .limit_s = options->limit_s,
      .late_s = TG_PROBE_LATE_S,
      .watched_s = TG_PROBE_WATCHED_S,
      .settle_s = options->settle_s,
      .connections = options->connections,
      .quiet = options->quiet,
  };
  memcpy(config.wanted, options->wanted, sizeof(config.wanted));
  if (!tg_probe_run_all(&config, &run, &err)) {
    return complain(&err);
  }
  // Nothing is said of probes whose report cannot be had.
  (void)snprintf(path, sizeof(path), "%s/report.json", folder);
  if (!tg_json_write(tg_probe_report(&config, &run), path, &err)) {
    return complain(&err);
  }
  tg_probe_table(stdout, &run);
  printf("server %s: %s\nreport in %s\n", description->name, run.command, path);
  if (fflush(stdout) != 0) {
    perror("probe: cannot print the table");
    return EXIT_FAILED;
  }
  switch (tg_probe_run_outcome(&run)) {
    case TG_PROBE_PASS:
      return EXIT_PASS;
    case TG_PROBE_UNDECIDED:
      return EXIT_UNDECIDED;
    case TG_PROBE_FAILED:
      break;
  }
  return EXIT_FAILED;
}

int main(int argc, char **argv) {
  struct tg_probe_options options;
  struct tg_server_description description;
  struct tg_error err;
  char own[PATH_MAX];
  char server[PATH_MAX];
  char folder[PATH_MAX];
  switch (tg_probe_options_parse(&options, argc, argv)) {
    case TG_PROBE_DONE:
      return EXIT_PASS;
    case TG_PROBE_WRONG:
      return EXIT_USAGE;
    case TG_PROBE_GO:
      break;
  }
  if (!tg_runfile(OWN_DESCRIPTION, own, &err) || !tg_runfile(OWN_SERVER, server, &err)) {
    return complain(&err);
  }
  if (!tg_server_describe(options.server != NULL ? options.server : own, &description, &err)) {
    fprintf(stderr, "probe: --server: %s\n", err.text);
    return EXIT_USAGE;
  }
  choose_folder(options.out, folder);
  int status = EXIT_USAGE;
  if (tg_folder_make(folder, &err)) {
    // Others are to be served within a second, which a build beside it would make them miss.
    char workspace[PATH_MAX];
    const bool known = tg_workspace(OWN_DESCRIPTION, workspace);
    const int lock = tg_measure_lock(known ? workspace : NULL, LOCK_TIMEOUT_MS, &err);
    status = lock < 0 ? complain(&err) : run(&options, &description, server, folder);
    if (lock >= 0) {
      close(lock);
    }
  } else {
    fprintf(stderr, "probe: --out: %s\n", err.text);
  }
  tg_server_description_free(&description);
  return status;
}

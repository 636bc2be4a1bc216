// stages: a full TLS 1.3 connection by the stages of its path. docs/performance.md says how to read it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/exact/options.h"
#include "perf/exact/run.h"
#include "perf/exact/stages.h"

#define PARTS_MAX 512

static const char kLines[] =
    "Prints what a full TLS 1.3 connection (scenario " TG_STAGES_SCENARIO
    ") costs by the stages of its path: instructions under\n"
    "callgrind, system calls. Takes --measure and --scenarios alone. Exit status: 0, 1 it could not be measured, 2 "
    "usage.\n";

// A folder that has the one scenario: what is measured is all that a folder has.
static bool make_folder(const char *scenarios, char folder[64], char link_path[128], struct tg_error *err) {
  char from[PATH_MAX];
  char real[PATH_MAX];
  (void)snprintf(from, sizeof(from), "%.4000s/" TG_STAGES_SCENARIO ".txt", scenarios);
  (void)snprintf(folder, 64, "/tmp/tlsgate-stages-XXXXXX");
  if (realpath(from, real) == NULL || mkdtemp(folder) == NULL) {
    tg_error_set(err, "%s is not there, or no folder can be made in /tmp", from);
    return false;
  }
  (void)snprintf(link_path, 128, "%s/" TG_STAGES_SCENARIO ".txt", folder);
  if (symlink(real, link_path) != 0) {
    tg_error_set(err, "%s cannot be made", link_path);
    (void)rmdir(folder);
    return false;
  }
  return true;
}

int main(int argc, char **argv) {
  static struct tg_callgrind_part parts[PARTS_MAX];
  struct tg_exact_options options;
  struct tg_stage_cost stages[TG_STAGES];
  struct tg_error err;
  char folder[64];
  char link_path[128];
  size_t num = 0;
  const int status = tg_exact_options_parse("stages", kLines, argc, argv, &options);
  if (status >= 0) {
    return status;
  }
  bool ok = make_folder(options.scenarios, folder, link_path, &err);
  if (ok) {
    ok = tg_exact_parts(options.measure, folder, tg_stages_cuts(), parts, PARTS_MAX, &num, &err) &&
         tg_stages_add_up(parts, num, stages, &err);
    (void)unlink(link_path);
    (void)rmdir(folder);
  }
  if (!ok) {
    fprintf(stderr, "stages: %s\n", err.text);
    return TG_EXACT_EXIT_FAIL;
  }
  tg_stages_print(stdout, stages);
  return fflush(stdout) == 0 ? TG_EXACT_EXIT_PASS : TG_EXACT_EXIT_FAIL;
}

#include "fuzz/launcher/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perf/process/runfiles.h"

#define PROGRESS_S 5.0
#define TAIL_BYTES 4000

bool tg_engine_runfile(const char *path, char out[PATH_MAX], struct tg_error *err) {
  setenv("UBSAN_OPTIONS", "print_stacktrace=1", 0);
  return tg_runfile(path, out, err);
}

bool tg_engine_seeds(const struct tg_fuzz_target *target, char out[PATH_MAX], struct tg_error *err) {
  // Runfiles have files only: a folder without any is not there.
  if (!tg_engine_runfile(target->corpus, out, NULL)) {
    tg_error_set(err, "%s has no seed: put at least one input into %s/", target->name, target->corpus);
    return false;
  }
  return true;
}

void tg_engine_progress(struct tg_engine_progress *progress, const struct tg_engine_run *run, double elapsed_s,
                        uint64_t executions, uint64_t edges, uint64_t corpus) {
  if (!run->show_progress || elapsed_s - progress->printed_s < PROGRESS_S) {
    return;
  }
  progress->printed_s = elapsed_s;
  printf("%6.0f s  %6" PRIu64 " inputs", elapsed_s, corpus);
  if (executions > progress->executions) {
    double seconds = elapsed_s - progress->told_s;
    printf("  %12" PRIu64 " executions  %8.0f/s  %6" PRIu64 " edges", executions,
           (double)(executions - progress->executions) / seconds, edges);
    progress->executions = executions;
    progress->told_s = elapsed_s;
  }
  printf("\n");
  fflush(stdout);
}

void tg_engine_print_tail(const char *log_path) {
  FILE *log = fopen(log_path, "re");
  if (log == NULL) {
    return;
  }
  char tail[TAIL_BYTES];
  if (fseek(log, -(long)sizeof(tail), SEEK_END) != 0) {
    rewind(log);
  }
  size_t len = fread(tail, 1, sizeof(tail), log);
  fwrite(tail, 1, len, stderr);
  fputc('\n', stderr);
  fclose(log);
}

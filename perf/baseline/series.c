#include "perf/baseline/series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "perf/report/folder.h"
#include "perf/report/report.h"

// Runs the program with this process's terminal. Returns its exit status, 128 + the signal that ended it, or -1.
static int run(const struct tg_run_series *series, const char *folder) {
  const pid_t pid = fork();
  if (pid == 0) {
    char *argv[] = {strdup(series->program), strdup("--full"), strdup("--out"), strdup(folder), NULL};
    if (setenv("TLSGATE_PERF_HOST", series->label, 1) == 0) {
      execv(series->program, argv);
    }
    fprintf(stderr, "record: %s: cannot be started: %s\n", series->program, strerror(errno));
    _exit(127);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) {
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void idle(unsigned seconds) {
  struct timespec left = {.tv_sec = (time_t)seconds};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

bool tg_run_series_measure(const struct tg_run_series *series, char reports[][PATH_MAX], struct tg_error *err) {
  char folder[PATH_MAX];
  if (!tg_folder_make(series->folder, err)) {
    return false;
  }
  for (size_t i = 0; i < series->runs; i++) {
    if (i > 0 && series->gap_s > 0) {
      fprintf(stderr, "record: idle for %u s before the next run\n", series->gap_s);
      idle(series->gap_s);
    }
    if (snprintf(folder, sizeof(folder), "%s/%zu", series->folder, i + 1) >= (int)sizeof(folder) ||
        snprintf(reports[i], PATH_MAX, "%s/report.json", folder) >= PATH_MAX) {
      tg_error_set(err, "%s: the path is too long", series->folder);
      return false;
    }
    fprintf(stderr, "record: run %zu of %zu\n", i + 1, series->runs);
    const int status = run(series, folder);
    if (status < 0 || status == TG_EXIT_USAGE || status > TG_EXIT_UNENFORCED || access(reports[i], R_OK) != 0) {
      tg_error_set(err, "run %zu of the series ended with status %d and %s; the series ends here", i + 1, status,
                   access(reports[i], R_OK) == 0 ? "is not to be believed" : "no report");
      return false;
    }
  }
  return true;
}

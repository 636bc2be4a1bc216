// The exact gates of a run: //perf/exact:check as a child, and what it found (docs/exact.md).
#ifndef TLSGATE_PERF_RUN_EXACT_CHECK_H
#define TLSGATE_PERF_RUN_EXACT_CHECK_H

#include <limits.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/exact/gates.h"
#include "perf/run/run.h"

// What is run, on which files: absolute paths.
struct tg_exact_check {
  char program[PATH_MAX];
  char measure[PATH_MAX];
  char scenarios[PATH_MAX];
  char baseline[PATH_MAX];
};

// The check's own file in the folder of a run.
#define TG_EXACT_CHECK_FILE "exact.json"

// tg_exact_check_find fills in the paths from the program's runfiles.
bool tg_exact_check_find(struct tg_exact_check *out, struct tg_error *err);

// tg_exact_check_run runs the check, which writes exact.json into `folder`, and reads that back. Nothing is to run
// beside it that is timed. Returns gates to be released with tg_exact_gates_free, or NULL with `failure` filled in,
// stage "exact": the check could not be run, crashed, came to no verdict, or said two different things.
struct tg_exact_gates *tg_exact_check_run(const struct tg_exact_check *check, const char *folder,
                                          struct tg_run_failure *failure);

#endif

// Where the files are that a program was built with.
#ifndef TLSGATE_PERF_PROCESS_RUNFILES_H
#define TLSGATE_PERF_PROCESS_RUNFILES_H

#include <limits.h>
#include <stdbool.h>

#include "harness/base/error.h"

// tg_runfile writes to `out` the absolute path of a file that is `data` of this program; `path` is its path in the
// workspace. It works under `bazel test` (TEST_SRCDIR), under `bazel run` and when the program is started by hand
// (the folder PROGRAM.runfiles beside it). Returns false with `err` filled in when the file is not there.
bool tg_runfile(const char *path, char out[PATH_MAX], struct tg_error *err);

// tg_workspace writes to `out` the source tree that this program was built from, found by following the link of the
// runfile `path`, a source file. Returns false when it cannot be told.
bool tg_workspace(const char *path, char out[PATH_MAX]);

#endif

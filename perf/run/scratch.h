// A private folder in /tmp for a run's certificate and the tools' exports, which does not outlive the run: it goes when
// it is removed, and when SIGINT, SIGTERM or SIGHUP ends the process. One at a time.
#ifndef TLSGATE_PERF_RUN_SCRATCH_H
#define TLSGATE_PERF_RUN_SCRATCH_H

#include <stdbool.h>

#include "harness/base/error.h"

// The files that a scratch folder may hold.
enum tg_scratch_file {
  TG_SCRATCH_CLIENT_CERT,
  TG_SCRATCH_CLIENT_KEY,
  TG_SCRATCH_HYPERFINE_JSON,
  TG_SCRATCH_AB_OUT,
  TG_SCRATCH_FILES,
};

// tg_scratch_make makes the folder. Returns false with `err` filled in.
bool tg_scratch_make(struct tg_error *err);

// tg_scratch_path returns the absolute path of a file in the folder; it is the folder's, and lives as long.
const char *tg_scratch_path(enum tg_scratch_file file);

// tg_scratch_remove removes the folder and its files. Ignored if there is none.
void tg_scratch_remove(void);

#endif

// What `hyperfine --export-json` wrote: hyperfine 1.15, fixed work timed from the outside.
#ifndef TLSGATE_PERF_TOOLS_HYPERFINE_H
#define TLSGATE_PERF_TOOLS_HYPERFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/tools/lines.h"

// One timed command.
struct tg_hyperfine_result {
  char *command;
  double *times_s;  // wall time of each run, in the order they were made
  size_t num_times;
  double user_s;    // mean user CPU time of a run, its children included
  double system_s;  // likewise in the kernel
};

struct tg_hyperfine {
  struct tg_hyperfine_result *results;
  size_t num_results;
};

// tg_hyperfine_parse reads an export. Returns false with `err` filled in if it is not JSON, a key is doubled, missing
// or of the wrong type, a time is negative, there is no result or no run, or a run's exit code is not 0; then there is
// nothing to free. Keys that it does not need are ignored: newer versions add some. On success the caller frees `out`
// with tg_hyperfine_free. The text need not end in a NUL.
bool tg_hyperfine_parse(struct tg_text json, struct tg_hyperfine *out, struct tg_error *err);

// tg_hyperfine_free frees what tg_hyperfine_parse allocated.
void tg_hyperfine_free(struct tg_hyperfine *run);

#endif

// Short runs of a target, as the service's build check does them.
#ifndef TLSGATE_FUZZ_OSS_FUZZ_CHECK_TRIAL_H
#define TLSGATE_FUZZ_OSS_FUZZ_CHECK_TRIAL_H

#include <stdbool.h>

#include "fuzz/oss-fuzz/check/combination.h"
#include "fuzz/oss-fuzz/check/options_file.h"
#include "harness/base/error.h"

// How many executions beyond the seeds are asked for.
#define TG_TRIAL_RUNS 300

struct tg_trial {
  const struct tg_combination *combination;
  const char *out;    // the folder of the target
  const char *name;   // of the target
  const char *seeds;  // folder of its seeds
  size_t num_seeds;
  const char *scratch;  // an empty folder for what the engine writes; also its working folder
  const struct tg_options_file *options;
  const char *llvm_cov;       // for "coverage"
  const char *llvm_profdata;  // likewise
};

// tg_trial_start runs the target without seeds, 4 times as bad_build_check does; with AFL++, once on each seed. False
// with `err` quoting what it said when it crashes or ends early.
bool tg_trial_start(const struct tg_trial *trial, struct tg_error *err);

// tg_trial_fuzz runs the engine on the seeds and TG_TRIAL_RUNS inputs beyond. For "coverage" it replays the seeds, and
// sees that a report can be made: with every source file below `out`, and lines of this project that were run. False
// with `err` filled in when it finds something, or cannot run.
bool tg_trial_fuzz(const struct tg_trial *trial, struct tg_error *err);

#endif

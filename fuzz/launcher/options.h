// The launcher's command line.
#ifndef TLSGATE_FUZZ_LAUNCHER_OPTIONS_H
#define TLSGATE_FUZZ_LAUNCHER_OPTIONS_H

#include <limits.h>
#include <stdbool.h>

#include "harness/base/error.h"

enum tg_fuzz_engine { TG_ENGINE_LIBFUZZER, TG_ENGINE_AFL };

enum tg_fuzz_mode {
  TG_MODE_FUZZ,        // fuzz for some time, keep what is new
  TG_MODE_REGRESSION,  // replay the corpus, or the files that are named
  TG_MODE_TEST,        // a short run with a fixed seed that must reach the target's floor
  TG_MODE_HELP,
};

struct tg_fuzz_options {
  enum tg_fuzz_mode mode;
  enum tg_fuzz_engine engine;
  unsigned timeout_secs;
  char corpus_dir[PATH_MAX];  // absolute
  char summary[PATH_MAX];     // absolute; empty: none is asked for
  char *const *files;         // to replay; NULL-terminated, in argv
  int num_files;
};

// tg_fuzz_options_parse reads the command line of the launcher of target `name`. Relative paths are those of the
// caller's folder (under `bazel run`, BUILD_WORKING_DIRECTORY). Returns false with `err` filled in.
bool tg_fuzz_options_parse(const char *name, int argc, char *const argv[], struct tg_fuzz_options *out,
                           struct tg_error *err);

// tg_fuzz_options_help prints the options.
void tg_fuzz_options_help(const char *name);

#endif

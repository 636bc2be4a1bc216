// What the service builds: a sanitizer and an engine, and the environment that it calls build.sh with.
#ifndef TLSGATE_FUZZ_OSS_FUZZ_CHECK_COMBINATION_H
#define TLSGATE_FUZZ_OSS_FUZZ_CHECK_COMBINATION_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

// One build of every target.
struct tg_combination {
  const char *sanitizer;  // SANITIZER: "address", "undefined", "memory" or "coverage"
  const char *engine;     // FUZZING_ENGINE: "libfuzzer" or "afl"
};

// All that are supported: those that OSS-Fuzz offers for libFuzzer and AFL++ (its project.yaml reference).
extern const struct tg_combination tg_combinations[];
extern const size_t tg_num_combinations;

// Where one build is.
struct tg_build_folders {
  const char *source;   // the workspace
  const char *work;     // WORK
  const char *out;      // OUT
  const char *afl_dir;  // of AFL++'s libAFLDriver.a
};

// tg_combination_build calls fuzz/oss-fuzz/build.sh of `folders->source` with the environment that the service's images
// give it (google/oss-fuzz, infra/base-images/base-builder: Dockerfile, compile, compile_libfuzzer, compile_afl), but
// for libc++, which Debian's clang does not bring. Both outputs go to the file `log`. Returns false with `err` filled
// in when it fails.
bool tg_combination_build(const struct tg_combination *combination, const struct tg_build_folders *folders,
                          const char *log, struct tg_error *err);

#endif

#include "fuzz/oss-fuzz/check/combination.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/launcher/files.h"
#include "fuzz/launcher/process.h"

// BoringSSL is compiled once or twice, on as few as two cores that others use as well.
#define BUILD_TIMEOUT_S 5400.0

const struct tg_combination tg_combinations[] = {
    {"address", "libfuzzer"},  {"undefined", "libfuzzer"}, {"memory", "libfuzzer"},
    {"coverage", "libfuzzer"}, {"address", "afl"},
};
const size_t tg_num_combinations = sizeof(tg_combinations) / sizeof(tg_combinations[0]);

static const char base_flags[] =
    "-O1 -fno-omit-frame-pointer -gline-tables-only -Wno-error -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION";

#define UNDEFINED                                                                           \
  "array-bounds,bool,builtin,enum,function,integer-divide-by-zero,null,object-size,return," \
  "returns-nonnull-attribute,shift,signed-integer-overflow,unreachable,vla-bound,vptr"

// SANITIZER_FLAGS_... and COVERAGE_FLAGS.
static const struct {
  const char *sanitizer;
  const char *flags;
  const char *coverage;
} flags_of[] = {
    {"address", "-fsanitize=address -fsanitize-address-use-after-scope", "-fsanitize=fuzzer-no-link"},
    {"undefined", "-fsanitize=" UNDEFINED ",unsigned-integer-overflow -fno-sanitize-recover=" UNDEFINED,
     "-fsanitize=fuzzer-no-link"},
    {"memory", "-fsanitize=memory -fsanitize-memory-track-origins", "-fsanitize=fuzzer-no-link"},
    {"coverage", "",
     "-fprofile-instr-generate -fcoverage-mapping -pthread -Wl,--no-as-needed -Wl,-ldl -Wl,-lm "
     "-Wno-unused-command-line-argument"},
};

static bool set_flags(const struct tg_combination *combination, bool afl) {
  for (size_t i = 0; i < sizeof(flags_of) / sizeof(flags_of[0]); i++) {
    if (strcmp(flags_of[i].sanitizer, combination->sanitizer) == 0) {
      char flags[1024];
      // AFL++'s compiler instruments by itself.
      (void)snprintf(flags, sizeof(flags), "%s %s %s", base_flags, flags_of[i].flags, afl ? "" : flags_of[i].coverage);
      return setenv("CFLAGS", flags, 1) == 0 && setenv("CXXFLAGS", flags, 1) == 0;
    }
  }
  return false;
}

static bool set_engine(bool afl, const struct tg_build_folders *folders) {
  if (!afl) {
    return setenv("CC", "clang", 1) == 0 && setenv("CXX", "clang++", 1) == 0 &&
           setenv("LIB_FUZZING_ENGINE", "-fsanitize=fuzzer", 1) == 0;
  }
  char library[PATH_MAX];
  tg_path(library, "%s/libAFLDriver.a", folders->afl_dir);
  return setenv("CC", "afl-clang-fast", 1) == 0 && setenv("CXX", "afl-clang-fast++", 1) == 0 &&
         setenv("LIB_FUZZING_ENGINE", library, 1) == 0 && setenv("AFL_QUIET", "1", 1) == 0;
}

bool tg_combination_build(const struct tg_combination *combination, const struct tg_build_folders *folders,
                          const char *log, struct tg_error *err) {
  bool afl = strcmp(combination->engine, "afl") == 0;
  (void)unsetenv("AFL_QUIET");
  char script[PATH_MAX];
  tg_path(script, "%s/fuzz/oss-fuzz/build.sh", folders->source);
  tg_error_set(err, "cannot set the environment of build.sh: %s", strerror(errno));
  if (!tg_files_make_folder(folders->work, err) || !set_flags(combination, afl) || !set_engine(afl, folders) ||
      setenv("SANITIZER", combination->sanitizer, 1) != 0 || setenv("FUZZING_ENGINE", combination->engine, 1) != 0 ||
      setenv("ARCHITECTURE", "x86_64", 1) != 0 || setenv("SRC", folders->source, 1) != 0 ||
      setenv("WORK", folders->work, 1) != 0 || setenv("OUT", folders->out, 1) != 0) {
    return false;
  }
  const char *argv[] = {"bash", script, NULL};
  int status = tg_process_run(argv, log, BUILD_TIMEOUT_S, NULL, NULL, err);
  if (status > 0) {
    tg_error_set(err, "build.sh failed for SANITIZER=%s FUZZING_ENGINE=%s (exit status %d): %s says why",
                 combination->sanitizer, combination->engine, status, log);
  }
  return status == 0;
}

// The fuzz targets that a program was built with. The table is written by fuzz/defs.bzl.
#ifndef TLSGATE_FUZZ_LAUNCHER_TARGETS_H
#define TLSGATE_FUZZ_LAUNCHER_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a short run of one engine must reach.
struct tg_fuzz_floor {
  uint64_t executions;  // the run is this long
  uint64_t edges;       // at least so many are covered after it
};

// Paths are those of runfiles, from the workspace's root.
struct tg_fuzz_target {
  const char *name;
  const char *replayer;    // what replays an input: `libfuzzer`, or the target under another sanitizer
  const char *replay;      // the command that has it replay the file that follows: "bazel run //fuzz:X_run -- ..."
  const char *libfuzzer;   // the target with libFuzzer, ASan and UBSan; NULL, as the next two, where one only replays
  const char *afl;         // with AFL++
  const char *afl_cmplog;  // for AFL++'s -c
  const char *coverage;    // with clang's source-based coverage; NULL in programs that were built without it
  const char *mutator;     // shared library with AFL++'s custom mutator; NULL if the target has none
  const char *dictionary;  // NULL if the target has none
  const char *corpus;      // folder of seeds; its subfolder regressions/ has one file for each bug that was fixed
  unsigned max_len;        // of an input, in bytes
  bool detect_leaks;       // libFuzzer looks for leaks after inputs: not where the simulated kernel's books do
  struct tg_fuzz_floor libfuzzer_floor;
  struct tg_fuzz_floor afl_floor;
};

extern const struct tg_fuzz_target tg_fuzz_targets[];
extern const size_t tg_num_fuzz_targets;

// This machine's llvm-cov and llvm-profdata, of the compiler's version.
extern const char *const tg_llvm_cov;
extern const char *const tg_llvm_profdata;

#endif

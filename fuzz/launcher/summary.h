// What came of one run of the launcher, as a file for programs (--summary). docs/certification.md lists its keys.
#ifndef TLSGATE_FUZZ_LAUNCHER_SUMMARY_H
#define TLSGATE_FUZZ_LAUNCHER_SUMMARY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"

// The version of the file ("schema").
#define TG_FUZZ_SUMMARY_SCHEMA 1

struct tg_fuzz_summary {
  char target[64];
  char engine[16];       // "libfuzzer" or "afl"
  uint64_t asked_s;      // --timeout_secs
  double elapsed_s;      // that the engine ran, its start included
  uint64_t executions;   // 0 only if a seed is a finding
  uint64_t edges;        // covered at the end; each engine counts its own
  uint64_t new_entries;  // that the corpus has more
  bool has_finding;
  char finding[NAME_MAX + 1];  // the input's file name in the folder of findings; empty without a finding
};

// tg_fuzz_summary_write writes the file beside its place and renames it. Returns false with `err` filled in.
bool tg_fuzz_summary_write(const char *path, const struct tg_fuzz_summary *summary, struct tg_error *err);

// tg_fuzz_summary_load decodes a file strictly. Returns false with `err` filled in: file, place, what is expected.
bool tg_fuzz_summary_load(const char *path, struct tg_fuzz_summary *out, struct tg_error *err);

#endif

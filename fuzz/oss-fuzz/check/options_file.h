// X.options: what ClusterFuzz is to start X with.
#ifndef TLSGATE_FUZZ_OSS_FUZZ_CHECK_OPTIONS_FILE_H
#define TLSGATE_FUZZ_OSS_FUZZ_CHECK_OPTIONS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

#define TG_OPTIONS_ARGS_MAX 16

struct tg_options_file {
  char args[TG_OPTIONS_ARGS_MAX][64];  // of [libfuzzer], as "-name=value", without dict
  size_t num_args;
  unsigned max_len;  // bytes; 0: not said
  char dict[64];     // the dictionary's file name; "": none
};

// tg_options_file_read reads an ini file with the sections libfuzzer, asan, ubsan, msan and env, each with keys that
// ClusterFuzz, or the runtime that gets them, knows. Returns false with `err` naming the line of what it does not know.
bool tg_options_file_read(const char *path, struct tg_options_file *out, struct tg_error *err);

#endif

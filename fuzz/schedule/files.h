// Whole files: read with a bound, written so that no reader sees a part.
#ifndef TLSGATE_FUZZ_SCHEDULE_FILES_H
#define TLSGATE_FUZZ_SCHEDULE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"

#define TG_WHOLE_FILE_MAX (1u << 20)

struct tg_whole_file {
  uint8_t *bytes;  // owned; tg_whole_file_free
  size_t len;
};

// tg_whole_file_read reads a file of at most TG_WHOLE_FILE_MAX bytes, or standard input for "-". Returns false with
// `err` filled in.
bool tg_whole_file_read(const char *path, struct tg_whole_file *out, struct tg_error *err);
void tg_whole_file_free(struct tg_whole_file *file);

// tg_whole_file_write writes beside `path` and renames, so that `path` holds all of it or what it held before; "-" is
// standard output, and what is there and no regular file is written to as it is. Returns false with `err` filled in.
bool tg_whole_file_write(const char *path, const uint8_t *bytes, size_t len, struct tg_error *err);

#endif

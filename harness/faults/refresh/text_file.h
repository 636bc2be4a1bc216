// Whole text files.
#ifndef TLSGATE_HARNESS_FAULTS_REFRESH_TEXT_FILE_H
#define TLSGATE_HARNESS_FAULTS_REFRESH_TEXT_FILE_H

#include <stdbool.h>

#include "harness/base/error.h"

// tg_text_read returns the text of a file, to be freed, or NULL with `err` filled in.
char *tg_text_read(const char *file, struct tg_error *err);

// tg_text_write writes a file and, before it, the folders on its path below `root` (`file` begins with it). Returns
// false with `err` filled in.
bool tg_text_write(const char *root, const char *file, const char *text, struct tg_error *err);

// tg_text_replace writes a file beside `file` and renames it. Returns false with `err` filled in.
bool tg_text_replace(const char *file, const char *text, struct tg_error *err);

#endif

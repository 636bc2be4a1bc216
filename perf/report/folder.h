// Folders for what a run leaves.
#ifndef TLSGATE_PERF_REPORT_FOLDER_H
#define TLSGATE_PERF_REPORT_FOLDER_H

#include <stdbool.h>

#include "harness/base/error.h"

// tg_folder_make makes `folder` and those above it that are missing, and says whether files can be written there.
// Returns false with `err` filled in if not.
bool tg_folder_make(const char *folder, struct tg_error *err);

// tg_folder_of_file_make is tg_folder_make for the folder that the file `path` is to be in.
bool tg_folder_of_file_make(const char *path, struct tg_error *err);

#endif

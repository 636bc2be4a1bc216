// The raw files of an attempt: which there are, and their hashes.
#ifndef TLSGATE_PERF_CERTIFY_FOLDER_H
#define TLSGATE_PERF_CERTIFY_FOLDER_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"

// The most files of a folder, and the deepest that one may lie in it.
#define TG_FOLDER_FILES_MAX 20000
#define TG_FOLDER_DEPTH_MAX 8

// tg_folder_hash returns a new object: path from `folder` -> {"sha256": ..., "size": ...} of every file below it. What
// is neither file nor folder is an error: a link would lead out. Returns NULL with `err` filled in.
json_t *tg_folder_hash(const char *folder, struct tg_error *err);

// tg_folder_compare says whether the files of `folder` are those of `recorded`, which is such an object. If not, `err`
// names the first one that differs, is missing, or is not recorded.
bool tg_folder_compare(const char *folder, const json_t *recorded, struct tg_error *err);

#endif

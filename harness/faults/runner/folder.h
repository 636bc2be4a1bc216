// A temporary folder of the runner's own.
#ifndef TLSGATE_HARNESS_FAULTS_RUNNER_FOLDER_H
#define TLSGATE_HARNESS_FAULTS_RUNNER_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

struct tg_folder {
  char path[64];
};

// tg_folder_make makes an empty folder. Returns false with `err` filled in.
bool tg_folder_make(struct tg_folder *out, struct tg_error *err);

// tg_folder_remove removes it with all that is in it.
void tg_folder_remove(const struct tg_folder *folder);

// tg_folder_link makes NAME in the folder a link to each of `paths`, NAME being its number. Returns false with `err`
// filled in.
bool tg_folder_link(const struct tg_folder *folder, const char *const *paths, size_t num_paths, struct tg_error *err);

// tg_folder_find writes to `out` the path of the first entry, by name, that begins with `prefix`. Returns false if
// there is none.
bool tg_folder_find(const struct tg_folder *folder, const char *prefix, char *out, size_t size);

#endif

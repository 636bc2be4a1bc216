// Folders of inputs.
#ifndef TLSGATE_FUZZ_LAUNCHER_FILES_H
#define TLSGATE_FUZZ_LAUNCHER_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

// Paths, sorted.
struct tg_file_list {
  char **paths;
  size_t num;
  size_t capacity;
};

// tg_files_add adds every regular file below `path`, or `path` itself if it is one. A folder that does not exist adds
// nothing. Returns false with `err` filled in when something cannot be read.
bool tg_files_add(struct tg_file_list *list, const char *path, struct tg_error *err);
void tg_files_free(struct tg_file_list *list);

// tg_files_make_folder makes a folder and those above it.
bool tg_files_make_folder(const char *path, struct tg_error *err);

// tg_files_copy copies a file, beside its name first and then into place.
bool tg_files_copy(const char *from, const char *to, struct tg_error *err);

// tg_files_copy_all copies files into a folder, numbered so that equal names do not meet.
bool tg_files_copy_all(const struct tg_file_list *list, const char *folder, struct tg_error *err);

// tg_files_remove_folder removes a folder and what is in it; what cannot be removed stays.
void tg_files_remove_folder(const char *path);

// tg_path formats a path; it aborts if the result does not fit, which bounded parts rule out.
void tg_path(char out[PATH_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

// tg_path_of_caller makes a path of the caller absolute: under `bazel run`, BUILD_WORKING_DIRECTORY is the caller's
// folder.
void tg_path_of_caller(const char *path, char out[PATH_MAX]);

#endif

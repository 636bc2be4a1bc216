#include "fuzz/record/seeds.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/launcher/files.h"
#include "fuzz/schedule/files.h"

static const struct tg_seed *find(const struct tg_seeds *seeds, enum tg_record_target target, const char *name) {
  for (size_t i = 0; i < seeds->num; i++) {
    if (seeds->all[i].target == target && strcmp(seeds->all[i].name, name) == 0) {
      return &seeds->all[i];
    }
  }
  return NULL;
}

static bool has_contents(const struct tg_seeds *seeds, enum tg_record_target target, const uint8_t *bytes, size_t len) {
  for (size_t i = 0; i < seeds->num; i++) {
    const struct tg_seed *seed = &seeds->all[i];
    if (seed->target == target && seed->len == len && memcmp(seed->bytes, bytes, len) == 0) {
      return true;
    }
  }
  return false;
}

bool tg_seeds_add(struct tg_seeds *seeds, enum tg_record_target target, const char *name, const uint8_t *bytes,
                  size_t len, struct tg_error *err) {
  if (has_contents(seeds, target, bytes, len)) {
    return true;
  }
  if (find(seeds, target, name) != NULL) {
    tg_error_set(err, "%s has two seeds named %s: rename one of the exchanges or requests",
                 tg_record_target_name(target), name);
    return false;
  }
  if (seeds->num == seeds->capacity) {
    const size_t capacity = seeds->capacity == 0 ? 256 : seeds->capacity * 2;
    struct tg_seed *all = realloc(seeds->all, capacity * sizeof(*all));
    if (all == NULL) {
      tg_error_set(err, "out of memory");
      return false;
    }
    seeds->all = all;
    seeds->capacity = capacity;
  }
  struct tg_seed *seed = &seeds->all[seeds->num];
  *seed = (struct tg_seed){.target = target, .bytes = malloc(len + 1), .len = len};
  if (seed->bytes == NULL || (size_t)snprintf(seed->name, sizeof(seed->name), "%s", name) >= sizeof(seed->name)) {
    free(seed->bytes);
    tg_error_set(err, "%s: out of memory, or the name is too long", name);
    return false;
  }
  memcpy(seed->bytes, bytes, len);
  seeds->num++;
  return true;
}

void tg_seeds_free(struct tg_seeds *seeds) {
  for (size_t i = 0; i < seeds->num; i++) {
    free(seeds->all[i].bytes);
  }
  free(seeds->all);
  *seeds = (struct tg_seeds){.all = NULL};
}

enum { SAME, MISSING, DIFFERENT };

static int compare(const struct tg_seed *seed, const char *path) {
  struct tg_whole_file file;
  if (!tg_whole_file_read(path, &file, NULL)) {
    return MISSING;
  }
  const bool same = file.len == seed->len && memcmp(file.bytes, seed->bytes, seed->len) == 0;
  tg_whole_file_free(&file);
  return same ? SAME : DIFFERENT;
}

bool tg_seeds_write(const struct tg_seeds *seeds, const char *folder, size_t *out_written, struct tg_error *err) {
  *out_written = 0;
  for (size_t i = 0; i < seeds->num; i++) {
    const struct tg_seed *seed = &seeds->all[i];
    char target[PATH_MAX];
    char path[PATH_MAX];
    tg_path(target, "%s/%s", folder, tg_record_target_name(seed->target));
    tg_path(path, "%s/%s", target, seed->name);
    if (compare(seed, path) == SAME) {
      continue;
    }
    if (!tg_files_make_folder(target, err) || !tg_whole_file_write(path, seed->bytes, seed->len, err)) {
      return false;
    }
    (*out_written)++;
  }
  return true;
}

// Files that no exchange makes any more.
static int stale(const struct tg_seeds *seeds, const char *folder, enum tg_record_target target, struct tg_error *err) {
  char path[PATH_MAX];
  tg_path(path, "%s/%s", folder, tg_record_target_name(target));
  struct dirent **entries;
  const int num = scandir(path, &entries, NULL, alphasort);
  if (num < 0) {
    tg_error_set(err, "%s: %s", path, strerror(errno));
    return -1;
  }
  int count = 0;
  for (int i = 0; i < num; i++) {
    char file[PATH_MAX];
    struct stat status;
    tg_path(file, "%s/%s", path, entries[i]->d_name);
    if (stat(file, &status) == 0 && S_ISREG(status.st_mode) && find(seeds, target, entries[i]->d_name) == NULL) {
      fprintf(stderr, "%s: nothing records it any more; remove it\n", file);
      count++;
    }
    free(entries[i]);
  }
  free(entries);
  return count;
}

int tg_seeds_differences(const struct tg_seeds *seeds, const char *folder, struct tg_error *err) {
  int count = 0;
  for (size_t i = 0; i < seeds->num; i++) {
    const struct tg_seed *seed = &seeds->all[i];
    char path[PATH_MAX];
    tg_path(path, "%s/%s/%s", folder, tg_record_target_name(seed->target), seed->name);
    const int how = compare(seed, path);
    if (how != SAME) {
      fprintf(stderr, "%s: %s\n", path, how == MISSING ? "is not there" : "differs from what is recorded");
      count++;
    }
  }
  for (int target = 0; target < TG_RECORD_TARGETS_COUNT; target++) {
    const int more = stale(seeds, folder, (enum tg_record_target)target, err);
    if (more < 0) {
      return -1;
    }
    count += more;
  }
  return count;
}

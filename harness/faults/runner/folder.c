#include "harness/faults/runner/folder.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tg_folder_make(struct tg_folder *out, struct tg_error *err) {
  (void)snprintf(out->path, sizeof(out->path), "/tmp/tlsgate-fault-XXXXXX");
  if (mkdtemp(out->path) == NULL) {
    tg_error_set(err, "cannot make a folder %s: %s", out->path, strerror(errno));
    return false;
  }
  return true;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place) {
  (void)info;
  (void)type;
  (void)place;
  return remove(path);
}

void tg_folder_remove(const struct tg_folder *folder) {
  (void)nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

bool tg_folder_link(const struct tg_folder *folder, const char *const *paths, size_t num_paths, struct tg_error *err) {
  for (size_t i = 0; i < num_paths; i++) {
    char target[PATH_MAX];
    char link[128];
    (void)snprintf(link, sizeof(link), "%s/%05zu", folder->path, i);
    if (realpath(paths[i], target) == NULL || symlink(target, link) != 0) {
      tg_error_set(err, "cannot use %s: %s", paths[i], strerror(errno));
      return false;
    }
  }
  return true;
}

bool tg_folder_find(const struct tg_folder *folder, const char *prefix, char *out, size_t size) {
  struct dirent **entries;
  int num = scandir(folder->path, &entries, NULL, alphasort);
  bool found = false;
  for (int i = 0; i < num; i++) {
    if (!found && strncmp(entries[i]->d_name, prefix, strlen(prefix)) == 0) {
      found = (size_t)snprintf(out, size, "%s/%s", folder->path, entries[i]->d_name) < size;
    }
    free(entries[i]);
  }
  if (num >= 0) {
    free(entries);
  }
  return found;
}

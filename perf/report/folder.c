#include "perf/report/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool tg_folder_make(const char *folder, struct tg_error *err) {
  char path[PATH_MAX];
  if (folder[0] == '\0') {
    tg_error_set(err, "the folder for the reports has no name");
    return false;
  }
  if (snprintf(path, sizeof(path), "%s", folder) >= (int)sizeof(path)) {
    tg_error_set(err, "%s: the path is too long", folder);
    return false;
  }
  for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (slash != NULL) {
      *slash = '\0';
    }
    struct stat there;
    if (mkdir(path, 0777) != 0 && (errno != EEXIST || (stat(path, &there) == 0 && !S_ISDIR(there.st_mode)))) {
      tg_error_set(err, "cannot make the folder %s: %s", path, strerror(errno));
      return false;
    }
    if (slash == NULL) {
      break;
    }
    *slash = '/';
  }
  if (access(folder, W_OK | X_OK) != 0) {
    tg_error_set(err, "cannot write in the folder %s: %s", folder, strerror(errno));
    return false;
  }
  return true;
}

bool tg_folder_of_file_make(const char *path, struct tg_error *err) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  if (slash == NULL) {
    return true;
  }
  (void)snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
  return tg_folder_make(folder, err);
}

#include "perf/process/runfiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORKSPACE_NAME "tlsgate"

static bool runfiles_root(char out[PATH_MAX]) {
  const char *test_root = getenv("TEST_SRCDIR");
  if (test_root != NULL) {
    return snprintf(out, PATH_MAX, "%s", test_root) < PATH_MAX;
  }
  char exe[PATH_MAX];
  ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
  if (len < 0) {
    return false;
  }
  exe[len] = '\0';
  return snprintf(out, PATH_MAX, "%s.runfiles", exe) < PATH_MAX;
}

bool tg_runfile(const char *path, char out[PATH_MAX], struct tg_error *err) {
  char root[PATH_MAX];
  if (!runfiles_root(root) || snprintf(out, PATH_MAX, "%s/" WORKSPACE_NAME "/%s", root, path) >= PATH_MAX ||
      access(out, R_OK) != 0) {
    tg_error_set(err, "%s is not among the files of this program: build and start it with Bazel or ./tlsgate", path);
    return false;
  }
  return true;
}

bool tg_workspace(const char *path, char out[PATH_MAX]) {
  char link[PATH_MAX];
  if (!tg_runfile(path, link, NULL) || realpath(link, out) == NULL) {
    return false;
  }
  size_t len = strlen(out);
  size_t tail = strlen(path);
  if (len <= tail + 1 || strcmp(out + len - tail, path) != 0) {
    return false;
  }
  out[len - tail - 1] = '\0';
  return true;
}

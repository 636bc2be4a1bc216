#include "harness/client/json_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Times in milliseconds to the nanosecond, up to a second.
static const size_t tg_json_flags = JSON_REAL_PRECISION(9) | JSON_INDENT(1) | JSON_ENSURE_ASCII;

static bool dump(const json_t *json, FILE *to) {
  return json_dumpf(json, to, tg_json_flags) == 0 && fputc('\n', to) != EOF && fflush(to) == 0;
}

static bool write_file(const json_t *json, const char *path, struct tg_error *err) {
  struct stat status;
  const bool replace = stat(path, &status) != 0 || S_ISREG(status.st_mode);
  char suffix[24] = "";
  if (replace) {
    (void)snprintf(suffix, sizeof(suffix), ".%ld", (long)getpid());
  }
  char beside[PATH_MAX];
  if ((size_t)snprintf(beside, sizeof(beside), "%s%s", path, suffix) >= sizeof(beside)) {
    tg_error_set(err, "--json %.100s...: the path is too long", path);
    return false;
  }
  FILE *file = fopen(beside, "we");
  bool ok = file != NULL && dump(json, file);
  if (file != NULL) {
    ok = fclose(file) == 0 && ok;
  }
  ok = ok && (!replace || rename(beside, path) == 0);
  if (!ok) {
    tg_error_set(err, "--json %.300s: cannot be written: %s", path, strerror(errno));
    if (file != NULL && replace) {
      (void)unlink(beside);
    }
  }
  return ok;
}

bool tg_json_write(json_t *json, const char *path, struct tg_error *err) {
  if (json == NULL) {
    tg_error_set(err, "out of memory");
    return false;
  }
  bool ok;
  if (strcmp(path, "-") == 0) {
    ok = dump(json, stdout);
    if (!ok) {
      tg_error_set(err, "--json -: cannot be written: %s", strerror(errno));
    }
  } else {
    ok = write_file(json, path, err);
  }
  json_decref(json);
  return ok;
}

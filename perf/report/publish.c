#include "perf/report/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/manifest/strict_json.h"
#include "perf/report/report.h"

bool tg_publish_report_check(const char *file, struct tg_error *err) {
  struct tg_report *report = tg_report_load(file, err);
  bool ok = report != NULL;
  tg_report_free(report);
  return ok;
}

static bool parses(const char *file, struct tg_error *err) {
  json_t *value = tg_json_load(file, err);
  bool ok = value != NULL;
  json_decref(value);
  return ok;
}

// The permissions that open(2) would give a new file; mkstemp(3) gives the owner alone any. umask(2) can only be read
// by setting it: these programs have one thread here.
static mode_t usual_mode(void) {
  mode_t mask = umask(077);
  (void)umask(mask);
  return 0666 & ~mask;
}

// Writes everything and has it on the disk, so that a crash after the rename does not leave an empty file.
static bool write_whole(int fd, const json_t *value, int digits, struct tg_error *err) {
  bool ok = json_dumpfd(value, fd, JSON_INDENT(2) | JSON_REAL_PRECISION(digits)) == 0 && write(fd, "\n", 1) == 1 &&
            fchmod(fd, usual_mode()) == 0 && fsync(fd) == 0;
  if (!ok) {
    tg_error_set(err, "%s", errno != 0 ? strerror(errno) : "a value that is not JSON");
  }
  return ok;
}

static bool publish(const char *path, char *beside, const json_t *value, int digits, tg_publish_check *check,
                    struct tg_error *err) {
  int fd = mkostemp(beside, O_CLOEXEC);
  if (fd < 0) {
    tg_error_set(err, "%s", strerror(errno));
    return false;
  }
  errno = 0;
  bool ok = write_whole(fd, value, digits, err);
  if (close(fd) != 0 && ok) {
    tg_error_set(err, "%s", strerror(errno));
    ok = false;
  }
  ok = ok && (check != NULL ? check : parses)(beside, err);
  if (ok && rename(beside, path) != 0) {
    tg_error_set(err, "%s", strerror(errno));
    ok = false;
  }
  if (!ok) {
    (void)unlink(beside);
  }
  return ok;
}

bool tg_publish(const char *path, const json_t *value, int digits, tg_publish_check *check, struct tg_error *err) {
  char beside[PATH_MAX];
  struct tg_error why;
  const char *slash = strrchr(path, '/');
  int folder = slash == NULL ? 0 : (int)(slash + 1 - path);
  if (value == NULL) {
    tg_error_set(&why, "out of memory");
  } else if (snprintf(beside, sizeof(beside), "%.*s.%s.XXXXXX", folder, path, path + folder) >= (int)sizeof(beside)) {
    tg_error_set(&why, "the path is too long");
  } else if (publish(path, beside, value, digits, check, &why)) {
    return true;
  }
  tg_error_set(err, "report unavailable: cannot publish %.200s: %.250s", path, why.text);
  return false;
}

#include "fuzz/schedule/files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(FILE *from, const char *path, struct tg_whole_file *out, struct tg_error *err) {
  out->bytes = malloc(TG_WHOLE_FILE_MAX + 1);
  if (out->bytes == NULL) {
    tg_error_set(err, "out of memory");
    return false;
  }
  out->len = fread(out->bytes, 1, TG_WHOLE_FILE_MAX + 1, from);
  if (ferror(from)) {
    tg_error_set(err, "%.300s: cannot be read: %s", path, strerror(errno));
  } else if (out->len > TG_WHOLE_FILE_MAX) {
    tg_error_set(err, "%.300s: longer than %u bytes; no schedule is", path, TG_WHOLE_FILE_MAX);
  } else {
    return true;
  }
  tg_whole_file_free(out);
  return false;
}

bool tg_whole_file_read(const char *path, struct tg_whole_file *out, struct tg_error *err) {
  *out = (struct tg_whole_file){.bytes = NULL};
  if (strcmp(path, "-") == 0) {
    return read_all(stdin, "standard input", out, err);
  }
  FILE *from = fopen(path, "re");
  if (from == NULL) {
    tg_error_set(err, "%.300s: cannot be opened: %s", path, strerror(errno));
    return false;
  }
  const bool ok = read_all(from, path, out, err);
  (void)fclose(from);
  return ok;
}

void tg_whole_file_free(struct tg_whole_file *file) {
  free(file->bytes);
  *file = (struct tg_whole_file){.bytes = NULL};
}

static bool put(FILE *to, const uint8_t *bytes, size_t len) {
  return fwrite(bytes, 1, len, to) == len && fflush(to) == 0;
}

bool tg_whole_file_write(const char *path, const uint8_t *bytes, size_t len, struct tg_error *err) {
  if (strcmp(path, "-") == 0) {
    if (put(stdout, bytes, len)) {
      return true;
    }
    tg_error_set(err, "standard output: cannot be written: %s", strerror(errno));
    return false;
  }
  struct stat status;
  const bool replace = stat(path, &status) != 0 || S_ISREG(status.st_mode);
  char suffix[24] = "";
  if (replace) {
    (void)snprintf(suffix, sizeof(suffix), ".%ld", (long)getpid());
  }
  char beside[PATH_MAX];
  if ((size_t)snprintf(beside, sizeof(beside), "%s%s", path, suffix) >= sizeof(beside)) {
    tg_error_set(err, "%.100s...: the path is too long", path);
    return false;
  }
  FILE *file = fopen(beside, "we");
  bool ok = file != NULL && put(file, bytes, len);
  if (file != NULL) {
    ok = fclose(file) == 0 && ok;
  }
  ok = ok && (!replace || rename(beside, path) == 0);
  if (!ok) {
    tg_error_set(err, "%.300s: cannot be written: %s", path, strerror(errno));
    if (file != NULL && replace) {
      (void)unlink(beside);
    }
  }
  return ok;
}

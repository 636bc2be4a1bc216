#include "harness/faults/refresh/text_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// A source file or a patch is far smaller.
enum { kMaxSize = 1 << 22 };

char *tg_text_read(const char *file, struct tg_error *err) {
  FILE *in = fopen(file, "r");
  if (in == NULL) {
    tg_error_set(err, "cannot read %s: %s", file, strerror(errno));
    return NULL;
  }
  char *text = malloc(kMaxSize);
  size_t len = text == NULL ? 0 : fread(text, 1, kMaxSize, in);
  if (text == NULL || ferror(in) || len == kMaxSize || memchr(text, '\0', len) != NULL) {
    tg_error_set(err, "cannot read %s: it is no text of at most %d bytes", file, kMaxSize);
    free(text);
    text = NULL;
  } else {
    text[len] = '\0';
  }
  fclose(in);
  return text;
}

static bool write_all(const char *file, const char *text, struct tg_error *err) {
  FILE *out = fopen(file, "w");
  bool ok = out != NULL && fputs(text, out) >= 0;
  if (out == NULL || fclose(out) != 0 || !ok) {
    tg_error_set(err, "cannot write %s: %s", file, strerror(errno));
    return false;
  }
  return true;
}

bool tg_text_write(const char *root, const char *file, const char *text, struct tg_error *err) {
  char folder[PATH_MAX];
  (void)snprintf(folder, sizeof(folder), "%s", file);
  for (char *slash = strchr(folder + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(folder, 0700);
    *slash = '/';
  }
  return write_all(file, text, err);
}

bool tg_text_replace(const char *file, const char *text, struct tg_error *err) {
  char beside[PATH_MAX];
  (void)snprintf(beside, sizeof(beside), "%s.new", file);
  if (!write_all(beside, text, err)) {
    return false;
  }
  if (rename(beside, file) != 0) {
    tg_error_set(err, "cannot rename %s: %s", beside, strerror(errno));
    (void)remove(beside);
    return false;
  }
  return true;
}

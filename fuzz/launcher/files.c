#include "fuzz/launcher/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tg_path(char out[PATH_MAX], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int len = vsnprintf(out, PATH_MAX, format, arguments);
  va_end(arguments);
  if (len < 0 || len >= PATH_MAX) {
    fprintf(stderr, "fuzz: a path is too long: %s\n", out);
    abort();
  }
}

void tg_path_of_caller(const char *path, char out[PATH_MAX]) {
  if (path[0] == '/') {
    tg_path(out, "%s", path);
    return;
  }
  const char *base = getenv("BUILD_WORKING_DIRECTORY");
  char here[PATH_MAX];
  if (base == NULL) {
    base = getcwd(here, sizeof(here));
  }
  tg_path(out, "%s/%s", base == NULL ? "." : base, path);
}

static bool append(struct tg_file_list *list, const char *path, struct tg_error *err) {
  if (list->num == list->capacity) {
    size_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
    char **paths = realloc(list->paths, capacity * sizeof(*paths));
    if (paths == NULL) {
      tg_error_set(err, "out of memory");
      return false;
    }
    list->paths = paths;
    list->capacity = capacity;
  }
  list->paths[list->num] = strdup(path);
  if (list->paths[list->num] == NULL) {
    tg_error_set(err, "out of memory");
    return false;
  }
  list->num++;
  return true;
}

static bool add(struct tg_file_list *list, const char *path, int depth, struct tg_error *err) {
  struct stat status;
  if (stat(path, &status) != 0) {
    if (errno == ENOENT) {
      return true;
    }
    tg_error_set(err, "%s: %s", path, strerror(errno));
    return false;
  }
  if (S_ISREG(status.st_mode)) {
    return append(list, path, err);
  }
  if (!S_ISDIR(status.st_mode) || depth > 8) {
    return true;
  }
  struct dirent **entries;
  int num = scandir(path, &entries, NULL, alphasort);
  if (num < 0) {
    tg_error_set(err, "%s: %s", path, strerror(errno));
    return false;
  }
  bool ok = true;
  for (int i = 0; i < num; i++) {
    if (ok && entries[i]->d_name[0] != '.') {
      char below[PATH_MAX];
      tg_path(below, "%s/%s", path, entries[i]->d_name);
      ok = add(list, below, depth + 1, err);
    }
    free(entries[i]);
  }
  free(entries);
  return ok;
}

bool tg_files_add(struct tg_file_list *list, const char *path, struct tg_error *err) {
  return add(list, path, 0, err);
}

void tg_files_free(struct tg_file_list *list) {
  for (size_t i = 0; i < list->num; i++) {
    free(list->paths[i]);
  }
  free(list->paths);
  *list = (struct tg_file_list){0};
}

bool tg_files_make_folder(const char *path, struct tg_error *err) {
  char part[PATH_MAX];
  tg_path(part, "%s", path);
  for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (slash != NULL) {
      *slash = '\0';
    }
    struct stat status;
    bool made = mkdir(part, 0777) == 0;
    if (!made && errno == EEXIST && (stat(part, &status) != 0 || !S_ISDIR(status.st_mode))) {
      errno = ENOTDIR;
    } else if (!made && errno == EEXIST) {
      made = true;
    }
    if (!made) {
      tg_error_set(err, "%s: cannot make this folder: %s", part, strerror(errno));
      return false;
    }
    if (slash == NULL) {
      return true;
    }
    *slash = '/';
  }
}

bool tg_files_copy(const char *from, const char *to, struct tg_error *err) {
  char beside[PATH_MAX];
  tg_path(beside, "%s.new", to);
  FILE *in = fopen(from, "rbe");
  FILE *out = in == NULL ? NULL : fopen(beside, "wbe");
  bool ok = out != NULL;
  char buffer[65536];
  while (ok) {
    size_t len = fread(buffer, 1, sizeof(buffer), in);
    if (len == 0) {
      ok = !ferror(in);
      break;
    }
    ok = fwrite(buffer, 1, len, out) == len;
  }
  if (in != NULL) {
    fclose(in);
  }
  if (out != NULL) {
    ok = fclose(out) == 0 && ok;
  }
  if (!ok || rename(beside, to) != 0) {
    tg_error_set(err, "cannot copy %s to %s: %s", from, to, strerror(errno));
    return false;
  }
  return true;
}

bool tg_files_copy_all(const struct tg_file_list *list, const char *folder, struct tg_error *err) {
  for (size_t i = 0; i < list->num; i++) {
    const char *slash = strrchr(list->paths[i], '/');
    char to[PATH_MAX];
    tg_path(to, "%s/%05zu-%s", folder, i, slash == NULL ? list->paths[i] : slash + 1);
    if (!tg_files_copy(list->paths[i], to, err)) {
      return false;
    }
  }
  return true;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status;
  (void)type;
  (void)walk;
  remove(path);
  return 0;
}

void tg_files_remove_folder(const char *path) {
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#include "perf/certify/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "perf/host/provenance.h"

static bool add_folder(json_t *files, const char *folder, const char *below, int depth, struct tg_error *err);

static bool add_file(json_t *files, const char *path, const char *name, off_t size, struct tg_error *err) {
  char digest[TG_SHA256_HEX + 1];
  if (json_object_size(files) >= TG_FOLDER_FILES_MAX) {
    tg_error_set(err, "%s: more than %d files", path, TG_FOLDER_FILES_MAX);
    return false;
  }
  return tg_sha256_of_file(path, digest, err) &&
         json_object_set_new(files, name, json_pack("{s:s, s:I}", "sha256", digest, "size", (json_int_t)size)) == 0;
}

static bool add_entry(json_t *files, const char *folder, const char *below, const char *entry, int depth,
                      struct tg_error *err) {
  char name[PATH_MAX];
  char path[PATH_MAX];
  struct stat there;
  if (snprintf(name, sizeof(name), "%s%s%s", below, below[0] != '\0' ? "/" : "", entry) >= (int)sizeof(name) ||
      snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) || lstat(path, &there) != 0) {
    tg_error_set(err, "%s/%s: cannot be read: %s", folder, entry, strerror(errno));
    return false;
  }
  if (S_ISDIR(there.st_mode)) {
    return add_folder(files, folder, name, depth + 1, err);
  }
  if (!S_ISREG(there.st_mode)) {
    tg_error_set(err, "%s: is neither a file nor a folder", path);
    return false;
  }
  return add_file(files, path, name, there.st_size, err);
}

// Adds the files of the folder `below`, a path from `folder` that is empty for itself.
static bool add_folder(json_t *files, const char *folder, const char *below, int depth, struct tg_error *err) {
  char path[PATH_MAX];
  if (depth > TG_FOLDER_DEPTH_MAX || snprintf(path, sizeof(path), "%s/%s", folder, below) >= (int)sizeof(path)) {
    tg_error_set(err, "%s/%s: too deep", folder, below);
    return false;
  }
  DIR *dir = opendir(path);
  if (dir == NULL) {
    tg_error_set(err, "%s: %s", path, strerror(errno));
    return false;
  }
  bool ok = true;
  for (const struct dirent *entry; ok && (entry = readdir(dir)) != NULL;) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      ok = add_entry(files, folder, below, entry->d_name, depth, err);
    }
  }
  (void)closedir(dir);
  return ok;
}

json_t *tg_folder_hash(const char *folder, struct tg_error *err) {
  json_t *files = json_object();
  if (files != NULL && !add_folder(files, folder, "", 0, err)) {
    json_decref(files);
    files = NULL;
  }
  return files;
}

bool tg_folder_compare(const char *folder, const json_t *recorded, struct tg_error *err) {
  json_t *files = tg_folder_hash(folder, err);
  if (files == NULL) {
    return false;
  }
  const char *name;
  json_t *value;
  bool same = true;
  json_object_foreach((json_t *)recorded, name, value) {
    const json_t *now = json_object_get(files, name);
    if (same && now == NULL) {
      tg_error_set(err, "%s/%s: is missing", folder, name);
      same = false;
    } else if (same && !json_equal(now, value)) {
      tg_error_set(err, "%s/%s: is not the file that was certified: SHA-256 %.12s..., recorded %.12s...", folder, name,
                   json_string_value(json_object_get(now, "sha256")),
                   json_string_value(json_object_get(value, "sha256")));
      same = false;
    }
  }
  json_object_foreach(files, name, value) {
    if (same && json_object_get(recorded, name) == NULL) {
      tg_error_set(err, "%s/%s: is not among the certified files", folder, name);
      same = false;
    }
  }
  json_decref(files);
  return same;
}

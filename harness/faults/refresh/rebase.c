#include "harness/faults/refresh/rebase.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/faults/refresh/anchors.h"
#include "harness/faults/refresh/text_file.h"
#include "harness/faults/runner/folder.h"
#include "perf/process/child.h"

static const double kTimeLimit_s = 30;

static const char *const kFolders[] = {"harness/accept", "harness/server"};

static bool defined_in(const char *root, const char *path, const char *function) {
  char file[PATH_MAX];
  (void)snprintf(file, sizeof(file), "%s/%s", root, path);
  char *text = tg_text_read(file, NULL);
  bool defined = text != NULL && tg_anchors_defines(text, function);
  free(text);
  return defined;
}

static int is_source(const struct dirent *entry) {
  size_t len = strlen(entry->d_name);
  return len > 2 && len < 100 && strcmp(entry->d_name + len - 2, ".c") == 0;
}

// Finds the file that defines a function. Returns false if none does.
static bool find_function(const char *root, const char *function, char *out, size_t size) {
  bool found = false;
  for (size_t i = 0; i < sizeof(kFolders) / sizeof(kFolders[0]); i++) {
    char folder[PATH_MAX];
    struct dirent **entries;
    (void)snprintf(folder, sizeof(folder), "%s/%s", root, kFolders[i]);
    int num = scandir(folder, &entries, is_source, alphasort);
    for (int j = 0; j < num; j++) {
      char path[128];
      (void)snprintf(path, sizeof(path), "%s/%.99s", kFolders[i], entries[j]->d_name);
      if (!found && defined_in(root, path, function)) {
        (void)snprintf(out, size, "%s", path);
        found = true;
      }
      free(entries[j]);
    }
    if (num >= 0) {
      free(entries);
    }
  }
  return found;
}

// Where each hunk's function is now. A hunk outside functions stays in its file.
static bool locate(const char *root, const struct tg_anchors *anchors, struct tg_anchors *out, struct tg_error *err) {
  *out = *anchors;
  for (size_t i = 0; i < out->num; i++) {
    struct tg_anchor *anchor = &out->list[i];
    if (anchor->function[0] == '\0' || defined_in(root, anchor->path, anchor->function)) {
      continue;
    }
    if (!find_function(root, anchor->function, anchor->path, sizeof(anchor->path))) {
      tg_error_set(err, "no function %s is left in harness/accept or harness/server", anchor->function);
      return false;
    }
  }
  return true;
}

// The patch with each hunk under the file that it belongs to now; to be freed.
static char *redirect(const char *text, const struct tg_anchors *to) {
  size_t size = strlen(text) + (to->num + 1) * 300;
  char *out = calloc(1, size);
  size_t len = 0;
  size_t hunk = 0;
  for (const char *line = text; out != NULL && *line != '\0';) {
    size_t line_len = strcspn(line, "\n");
    line_len += line[line_len] == '\n';
    bool head = strncmp(line, "--- a/", 6) == 0 || strncmp(line, "+++ b/", 6) == 0;
    if (strncmp(line, "@@ ", 3) == 0) {
      const char *path = to->list[hunk].path;
      if (hunk == 0 || strcmp(path, to->list[hunk - 1].path) != 0) {
        len += (size_t)snprintf(out + len, size - len, "--- a/%s\n+++ b/%s\n", path, path);
      }
      hunk++;
    }
    if (!head) {
      len += (size_t)snprintf(out + len, size - len, "%.*s", (int)line_len, line);
    }
    line += line_len;
  }
  return out;
}

// Copies each file of the patch to a/ and b/ of `work`.
static bool copy_sources(const char *root, const struct tg_folder *work, const struct tg_anchors *anchors,
                         struct tg_error *err) {
  for (size_t i = 0; i < anchors->num; i++) {
    char from[PATH_MAX];
    (void)snprintf(from, sizeof(from), "%s/%s", root, anchors->list[i].path);
    char *text = tg_text_read(from, err);
    bool ok = text != NULL;
    for (const char *side = "ab"; ok && *side != '\0'; side++) {
      char to[PATH_MAX];
      (void)snprintf(to, sizeof(to), "%s/%c/%s", work->path, *side, anchors->list[i].path);
      ok = tg_text_write(work->path, to, text, err);
    }
    free(text);
    if (!ok) {
      return false;
    }
  }
  return true;
}

static bool apply(const struct tg_folder *work, const char *fuzz, struct tg_error *err) {
  char folder[96];
  char patch[96];
  (void)snprintf(folder, sizeof(folder), "%s/b", work->path);
  (void)snprintf(patch, sizeof(patch), "%s/patch", work->path);
  const char *argv[] = {"patch", "--force", "--silent", "--no-backup-if-mismatch", "-r", "-", fuzz, "-p1", "-d", folder,
                        "-i",    patch,     NULL};
  struct tg_child_result result;
  if (!tg_child_run(argv, kTimeLimit_s, &result, err)) {
    return false;
  }
  bool ok = result.exit_status == 0;
  if (!ok) {
    size_t len = strcspn(result.out, "\n");
    tg_error_set(err, "patch says: %.*s", len > 200 ? 200 : (int)len, result.out);
  }
  tg_child_result_free(&result);
  return ok;
}

// Appends what git says of the difference of two files, from its third line on: the head that patch needs.
static bool append_difference(const char *said, char *out, size_t size) {
  const char *head = strstr(said, "--- a/");
  size_t len = strlen(out);
  if (head == NULL || strlen(head) >= size - len) {
    return false;
  }
  (void)snprintf(out + len, size - len, "%s", head);
  return true;
}

// Appends the difference of one file to `out`. Returns false with `err` filled in. git, since diff cuts the names of
// functions at 40 columns.
static bool compare(const struct tg_folder *work, const char *path, char *out, size_t size, struct tg_error *err) {
  char sides[2][140];
  for (int side = 0; side < 2; side++) {
    (void)snprintf(sides[side], sizeof(sides[side]), "%c/%s", "ab"[side], path);
  }
  const char *argv[] = {"git",        "-C",          work->path,    "diff",   "--no-index", "--no-ext-diff",
                        "--no-color", "--no-prefix", "--unified=3", sides[0], sides[1],     NULL};
  struct tg_child_result result;
  if (!tg_child_run(argv, kTimeLimit_s, &result, err)) {
    return false;
  }
  bool ok = append_difference(result.out, out, size);
  if (!ok) {
    tg_error_set(err, "the patch changes nothing in %s", path);
  }
  tg_child_result_free(&result);
  return ok;
}

static bool compare_all(const struct tg_folder *work, const struct tg_anchors *anchors, char *out, size_t size,
                        struct tg_error *err) {
  out[0] = '\0';
  for (size_t i = 0; i < anchors->num; i++) {
    bool seen = false;
    for (size_t j = 0; j < i; j++) {
      seen = seen || strcmp(anchors->list[i].path, anchors->list[j].path) == 0;
    }
    if (!seen && !compare(work, anchors->list[i].path, out, size, err)) {
      return false;
    }
  }
  return true;
}

// Makes the two sides of the difference in `work`: applies the patch strictly or else loosely.
static bool apply_in(const char *root, const struct tg_folder *work, const char *text, const struct tg_anchors *where,
                     struct tg_error *err) {
  char patch[96];
  (void)snprintf(patch, sizeof(patch), "%s/patch", work->path);
  char *redirected = redirect(text, where);
  bool ok = redirected != NULL && tg_text_write(work->path, patch, redirected, err);
  free(redirected);
  if (!ok || !copy_sources(root, work, where, err)) {
    return false;
  }
  // Before the second attempt, whatever the first one has applied is undone.
  return apply(work, "--fuzz=0", err) || (copy_sources(root, work, where, err) && apply(work, "--fuzz=3", err));
}

// Writes what the patch is now to `out`.
static bool rebase_in(const char *root, const struct tg_folder *work, const char *text, char *out, size_t size,
                      struct tg_error *err) {
  struct tg_anchors before;
  struct tg_anchors where;
  struct tg_anchors after;
  if (!tg_anchors_read(text, &before)) {
    tg_error_set(err, "it is no unified diff with 1 to %d hunks", TG_ANCHORS_MAX);
    return false;
  }
  if (!locate(root, &before, &where, err) || !apply_in(root, work, text, &where, err) ||
      !compare_all(work, &where, out, size, err)) {
    return false;
  }
  if (!tg_anchors_read(out, &after) || !tg_anchors_same(&before, &after)) {
    tg_error_set(err, "it fits only into another function than %s", before.list[0].function);
    return false;
  }
  return true;
}

enum tg_rebase tg_rebase_patch(const char *root, const char *patch, struct tg_error *err) {
  struct tg_folder work;
  char *text = tg_text_read(patch, err);
  if (text == NULL || !tg_folder_make(&work, err)) {
    free(text);
    return TG_REBASE_IMPOSSIBLE;
  }
  size_t size = 2 * strlen(text) + (1 << 16);
  char *out = malloc(size);
  enum tg_rebase result = TG_REBASE_IMPOSSIBLE;
  if (out == NULL) {
    tg_error_set(err, "no memory");
  } else if (rebase_in(root, &work, text, out, size, err)) {
    if (strcmp(text, out) == 0) {
      result = TG_REBASE_UNCHANGED;
    } else if (tg_text_replace(patch, out, err)) {
      result = TG_REBASE_WRITTEN;
    }
  }
  tg_folder_remove(&work);
  free(out);
  free(text);
  return result;
}

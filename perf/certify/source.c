#include "perf/certify/source.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/process/child.h"

#define GIT_TIMEOUT_S 60

// Runs git in the workspace. Returns false with `err` filled in when it cannot run; then there is nothing to free.
static bool git(const struct tg_source *source, const char *command, const char *a, const char *b,
                struct tg_child_result *out, struct tg_error *err) {
  const char *argv[] = {"git", "-C", source->workspace, command, a, b, NULL};
  return tg_child_run(argv, GIT_TIMEOUT_S, out, err);
}

// One line of git's output, for an object's id.
static enum tg_source_found resolve(const struct tg_source *source, const char *name, char out[TG_OBJECT_ID_MAX + 1],
                                    struct tg_error *err) {
  struct tg_child_result result;
  out[0] = '\0';
  const char *argv[] = {"git", "-C", source->workspace, "rev-parse", "--quiet", "--verify", name, NULL};
  if (!tg_child_run(argv, GIT_TIMEOUT_S, &result, err)) {
    return TG_SOURCE_ERROR;
  }
  enum tg_source_found found = TG_SOURCE_MISSING;
  if (result.exit_status == 0) {
    (void)snprintf(out, TG_OBJECT_ID_MAX + 1, "%.*s", (int)strcspn(result.out, "\n"), result.out);
    found = TG_SOURCE_FOUND;
  } else if (result.exit_status != 1) {
    tg_error_set(err, "git cannot read %s: %.*s", source->workspace, (int)strcspn(result.err, "\n"), result.err);
    found = TG_SOURCE_ERROR;
  }
  tg_child_result_free(&result);
  return found;
}

bool tg_source_open(struct tg_source *out, const char *workspace, struct tg_error *err) {
  (void)snprintf(out->workspace, sizeof(out->workspace), "%s", workspace);
  enum tg_source_found found = resolve(out, "HEAD^{commit}", out->commit, err);
  if (found == TG_SOURCE_MISSING) {
    tg_error_set(err, "%s has no commit yet", workspace);
  }
  return found == TG_SOURCE_FOUND;
}

bool tg_source_is_clean(const struct tg_source *source, struct tg_error *err) {
  struct tg_child_result result;
  if (!git(source, "status", "--porcelain", "--untracked-files=normal", &result, err)) {
    return false;
  }
  bool clean = result.exit_status == 0 && result.out[0] == '\0';
  if (result.exit_status != 0) {
    tg_error_set(err, "git cannot tell the state of %s: %.*s", source->workspace, (int)strcspn(result.err, "\n"),
                 result.err);
  } else if (!clean) {
    const char *name = strlen(result.out) > 3 ? result.out + 3 : result.out;
    tg_error_set(err,
                 "the tree is not clean: %.*s differs from the commit; a certificate is about a commit, so commit or "
                 "remove what `git status` lists",
                 (int)strcspn(name, "\n"), name);
  }
  tg_child_result_free(&result);
  return clean;
}

bool tg_source_is_here(const struct tg_source *source, struct tg_error *err) {
  char name[TG_OBJECT_ID_MAX + 16];
  char id[TG_OBJECT_ID_MAX + 1];
  (void)snprintf(name, sizeof(name), "%s^{commit}", source->commit);
  enum tg_source_found found = resolve(source, name, id, err);
  if (found == TG_SOURCE_MISSING) {
    tg_error_set(err, "the certified commit %s is not in the repository of %s: fetch it first", source->commit,
                 source->workspace);
  }
  return found == TG_SOURCE_FOUND;
}

// What the last commit that was asked about holds: path -> its kind ('t' a folder, 'b' a file) and its object id. A
// commit never changes, so that it is listed once.
static struct {
  char name[PATH_MAX + TG_OBJECT_ID_MAX + 2];  // workspace and commit
  json_t *objects;
} listed;

// One line of git ls-tree: "100644 blob ID<TAB>PATH".
static void take_line(json_t *objects, const char *line, size_t len) {
  char value[TG_OBJECT_ID_MAX + 2];
  const char *tab = memchr(line, '\t', len);
  const char *kind = memchr(line, ' ', len);
  const char *id = kind != NULL ? memchr(kind + 1, ' ', len - (size_t)(kind + 1 - line)) : NULL;
  if (tab == NULL || id == NULL || tab < id || tab - id > TG_OBJECT_ID_MAX + 1) {
    return;
  }
  (void)snprintf(value, sizeof(value), "%c%.*s", kind[1], (int)(tab - id - 1), id + 1);
  size_t path_len = len - (size_t)(tab + 1 - line);
  char path[PATH_MAX];
  (void)snprintf(path, sizeof(path), "%.*s", (int)path_len, tab + 1);
  (void)json_object_set_new(objects, path, json_string(value));
}

// Returns what the commit holds, or NULL with `err` filled in.
static const json_t *objects_of(const struct tg_source *source, struct tg_error *err) {
  char name[sizeof(listed.name)];
  (void)snprintf(name, sizeof(name), "%s %s", source->workspace, source->commit);
  if (listed.objects != NULL && strcmp(listed.name, name) == 0) {
    return listed.objects;
  }
  const char *const argv[] = {"git", "-C",          source->workspace, "-c", "core.quotePath=false", "ls-tree", "-r",
                              "-t",  "--full-tree", source->commit,    NULL};
  struct tg_child_result result;
  if (!tg_child_run(argv, GIT_TIMEOUT_S, &result, err)) {
    return NULL;
  }
  json_t *objects = NULL;
  if (result.exit_status != 0) {
    tg_error_set(err, "git cannot list commit %s: %.*s", source->commit, (int)strcspn(result.err, "\n"), result.err);
  } else if ((objects = json_object()) != NULL) {
    for (const char *line = result.out; *line != '\0';) {
      size_t len = strcspn(line, "\n");
      take_line(objects, line, len);
      line += len + (line[len] == '\n');
    }
    json_decref(listed.objects);
    listed.objects = objects;
    (void)snprintf(listed.name, sizeof(listed.name), "%s", name);
  }
  tg_child_result_free(&result);
  return objects;
}

enum tg_source_found tg_source_object(const struct tg_source *source, const char *path, char out[TG_OBJECT_ID_MAX + 1],
                                      struct tg_error *err) {
  char name[TG_OBJECT_ID_MAX + 16];
  out[0] = '\0';
  if (strcmp(path, ".") == 0) {
    (void)snprintf(name, sizeof(name), "%s^{tree}", source->commit);
    return resolve(source, name, out, err);
  }
  const json_t *objects = objects_of(source, err);
  if (objects == NULL) {
    return TG_SOURCE_ERROR;
  }
  const char *value = json_string_value(json_object_get(objects, path));
  (void)snprintf(out, TG_OBJECT_ID_MAX + 1, "%s", value != NULL ? value + 1 : "");
  return value != NULL ? TG_SOURCE_FOUND : TG_SOURCE_MISSING;
}

enum tg_source_found tg_source_list(const struct tg_source *source, const char *path, bool folders, char **text,
                                    struct tg_error *err) {
  const json_t *objects = objects_of(source, err);
  size_t path_len = strlen(path);
  size_t size;
  const char *name;
  json_t *value;
  *text = NULL;
  if (objects == NULL) {
    return TG_SOURCE_ERROR;
  }
  if (json_object_get(objects, path) == NULL) {
    return TG_SOURCE_MISSING;
  }
  FILE *names = open_memstream(text, &size);
  if (names == NULL) {
    tg_error_set(err, "out of memory");
    return TG_SOURCE_ERROR;
  }
  // git lists in order, and an object keeps it.
  json_object_foreach((json_t *)objects, name, value) {
    if (strncmp(name, path, path_len) == 0 && name[path_len] == '/' && strchr(name + path_len + 1, '/') == NULL &&
        (!folders || json_string_value(value)[0] == 't')) {
      fprintf(names, "%s\n", name + path_len + 1);
    }
  }
  bool ok = fclose(names) == 0 && *text != NULL;
  if (!ok) {
    tg_error_set(err, "out of memory");
  }
  return ok ? TG_SOURCE_FOUND : TG_SOURCE_ERROR;
}

enum tg_source_found tg_source_file(const struct tg_source *source, const char *path, char **text,
                                    struct tg_error *err) {
  char id[TG_OBJECT_ID_MAX + 1];
  *text = NULL;
  enum tg_source_found found = tg_source_object(source, path, id, err);
  struct tg_child_result result;
  if (found != TG_SOURCE_FOUND) {
    return found;
  }
  if (!git(source, "cat-file", "blob", id, &result, err)) {
    return TG_SOURCE_ERROR;
  }
  if (result.exit_status == 0) {
    *text = result.out;
    result.out = NULL;
  } else {
    tg_error_set(err, "git cannot read %s of commit %s: %.*s", path, source->commit, (int)strcspn(result.err, "\n"),
                 result.err);
    found = TG_SOURCE_ERROR;
  }
  tg_child_result_free(&result);
  return found;
}

#include "perf/certify/source.h"

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

enum tg_source_found tg_source_object(const struct tg_source *source, const char *path, char out[TG_OBJECT_ID_MAX + 1],
                                      struct tg_error *err) {
  char name[PATH_MAX + TG_OBJECT_ID_MAX + 8];
  bool whole = strcmp(path, ".") == 0;
  (void)snprintf(name, sizeof(name), "%s%s%s", source->commit, whole ? "^{tree}" : ":", whole ? "" : path);
  return resolve(source, name, out, err);
}

// Takes git's output, or says what git said of `path`.
static enum tg_source_found take_output(const struct tg_source *source, const char *path,
                                        struct tg_child_result *result, char **text, struct tg_error *err) {
  enum tg_source_found found = TG_SOURCE_FOUND;
  if (result->exit_status == 0) {
    *text = result->out;
    result->out = NULL;
  } else {
    tg_error_set(err, "git cannot read %s of commit %s: %.*s", path, source->commit, (int)strcspn(result->err, "\n"),
                 result->err);
    found = TG_SOURCE_ERROR;
  }
  tg_child_result_free(result);
  return found;
}

enum tg_source_found tg_source_list(const struct tg_source *source, const char *path, bool folders, char **text,
                                    struct tg_error *err) {
  char id[TG_OBJECT_ID_MAX + 1];
  *text = NULL;
  enum tg_source_found found = tg_source_object(source, path, id, err);
  struct tg_child_result result;
  if (found != TG_SOURCE_FOUND) {
    return found;
  }
  const char *const argv[] = {
      "git", "-C", source->workspace, "ls-tree", "--name-only", folders ? "-d" : id, folders ? id : NULL, NULL};
  return tg_child_run(argv, GIT_TIMEOUT_S, &result, err) ? take_output(source, path, &result, text, err)
                                                         : TG_SOURCE_ERROR;
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
  return git(source, "cat-file", "blob", id, &result, err) ? take_output(source, path, &result, text, err)
                                                           : TG_SOURCE_ERROR;
}

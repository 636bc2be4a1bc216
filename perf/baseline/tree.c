#include "perf/baseline/tree.h"

#include <stdio.h>
#include <string.h>

#include "perf/process/child.h"

#define GIT_TIMEOUT_S 20

static bool git(struct tg_child_result *out, const char *workspace, const char *command, const char *argument,
                struct tg_error *err) {
  const char *argv[] = {"git", "-C", workspace, command, argument, NULL};
  if (!tg_child_run(argv, GIT_TIMEOUT_S, out, err)) {
    return false;
  }
  if (out->exit_status == 0) {
    return true;
  }
  tg_error_set(err, "%s: git %s failed: %.200s", workspace, command, out->err);
  tg_child_result_free(out);
  return false;
}

bool tg_tree_clean_commit(char out[72], const char *workspace, struct tg_error *err) {
  struct tg_child_result head;
  struct tg_child_result status;
  if (!git(&head, workspace, "rev-parse", "HEAD", err)) {
    return false;
  }
  head.out[strcspn(head.out, "\n")] = '\0';
  const bool fits = snprintf(out, 72, "%s", head.out) < 72;
  tg_child_result_free(&head);
  if (!fits || out[0] == '\0') {
    tg_error_set(err, "%s: git names no commit", workspace);
    return false;
  }
  if (!git(&status, workspace, "status", "--porcelain", err)) {
    return false;
  }
  // A line is two letters, a blank and the file.
  const size_t first = strcspn(status.out, "\n");
  const bool clean = first == 0;
  if (!clean) {
    tg_error_set(err, "%s: the tree is dirty (%.*s); commit or stash, so that the figures are those of a revision",
                 workspace, (int)(first > 103 ? 100 : first - 3), status.out + 3);
  }
  tg_child_result_free(&status);
  return clean;
}

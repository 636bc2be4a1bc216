#include "fuzz/service/recover.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"
#include "fuzz/service/durable.h"
#include "fuzz/service/layout.h"

// By task: the engines' slices have the engines' names.
const char *const tg_fuzzd_tasks[] = {"libfuzzer", "afl", "triage", "prune"};
const int tg_fuzzd_num_tasks = sizeof(tg_fuzzd_tasks) / sizeof(tg_fuzzd_tasks[0]);

void tg_fuzzd_work(char out[PATH_MAX], const char *root, const char *target, const char *task) {
  tg_path(out, "%s/tasks/%s-%s", root, target, task);
}

// Copies what AFL++ has in a folder. Its own inputs' names have "orig:", other files begin with a word.
static bool copy_inputs(const char *folder, const char *to_folder, const char *prefix, bool also_given,
                        struct tg_error *err) {
  struct tg_file_list list = {0};
  bool ok = tg_files_add(&list, folder, err);
  for (size_t i = 0; ok && i < list.num; i++) {
    const char *name = strrchr(list.paths[i], '/') + 1;
    if (strncmp(name, "id:", 3) != 0 || (!also_given && strstr(name, ",orig:") != NULL)) {
      continue;
    }
    char sha1[TG_FUZZD_NAME_LEN];
    char to[PATH_MAX];
    ok = tg_fuzzd_name(list.paths[i], sha1, err);
    if (ok) {
      tg_path(to, "%s/%s%s", to_folder, prefix, sha1);
      ok = access(to, F_OK) == 0 || tg_fuzzd_copy(list.paths[i], to, err);
    }
  }
  tg_files_free(&list);
  return ok;
}

static bool recover_afl(const char *root, const char *target, const char *work, struct tg_error *err) {
  char from[PATH_MAX];
  char corpus[PATH_MAX];
  char incoming[PATH_MAX];
  tg_layout(corpus, root, "corpus", target, NULL);
  tg_layout(incoming, root, "incoming", target, NULL);
  tg_path(from, "%s/out/default/crashes", work);
  bool ok = copy_inputs(from, incoming, "afl-", true, err);
  tg_path(from, "%s/out/default/hangs", work);
  ok = ok && copy_inputs(from, incoming, "afl-", true, err);
  tg_path(from, "%s/out/default/queue", work);
  return ok && copy_inputs(from, corpus, "", false, err);
}

// A prune renames the corpus to "old" in its folder and the new one into place. Between the two there is none.
static bool recover_prune(const char *root, const char *target, const char *work, struct tg_error *err) {
  char corpus[PATH_MAX];
  char old[PATH_MAX];
  tg_layout(corpus, root, "corpus", target, NULL);
  tg_path(old, "%s/old", work);
  if (access(corpus, F_OK) != 0 && access(old, F_OK) == 0 && rename(old, corpus) != 0) {
    tg_error_set(err, "cannot put the corpus back, %s to %s: %s", old, corpus, strerror(errno));
    return false;
  }
  return true;
}

bool tg_fuzzd_recover(const char *root, const char *target, struct tg_error *err) {
  char work[PATH_MAX];
  tg_fuzzd_work(work, root, target, "prune");
  if (!recover_prune(root, target, work, err) || !tg_layout_make(root, target, err)) {
    return false;
  }
  tg_fuzzd_work(work, root, target, "afl");
  if (!recover_afl(root, target, work, err)) {
    return false;
  }
  for (int i = 0; i < tg_fuzzd_num_tasks; i++) {
    tg_fuzzd_work(work, root, target, tg_fuzzd_tasks[i]);
    tg_files_remove_folder(work);
  }
  static const char *const kSwept[][2] = {{"corpus", NULL},
                                          {"incoming", NULL},
                                          {"unreproduced", NULL},
                                          {"candidates", "regressions"},
                                          {"candidates", "explanations"}};
  for (size_t i = 0; i < sizeof(kSwept) / sizeof(kSwept[0]); i++) {
    char folder[PATH_MAX];
    tg_layout(folder, root, kSwept[i][0], target, kSwept[i][1]);
    tg_fuzzd_sweep(folder);
  }
  return true;
}

#include "fuzz/service/prune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/base/thrift.h"
#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/files.h"
#include "fuzz/launcher/process.h"
#include "fuzz/service/layout.h"

#define PRUNE_S 3600.0

// Seeds are in the new folder first, numbered, so that the corpus keeps only what they do not cover; and then they go.
static bool give_seeds(const struct tg_fuzz_target *target, const char *folder, struct tg_error *err) {
  char seeds[PATH_MAX];
  struct tg_file_list list = {0};
  bool ok =
      tg_engine_seeds(target, seeds, err) && tg_files_add(&list, seeds, err) && tg_files_copy_all(&list, folder, err);
  tg_files_free(&list);
  return ok;
}

static bool take_seeds(const char *folder, uint64_t *units, struct tg_error *err) {
  struct tg_file_list list = {0};
  bool ok = tg_files_add(&list, folder, err);
  *units = 0;
  for (size_t i = 0; ok && i < list.num; i++) {
    // What libFuzzer adds is named by its SHA-1, copies have a number and a dash.
    if (strchr(strrchr(list.paths[i], '/'), '-') == NULL) {
      (*units)++;
    } else {
      (void)unlink(list.paths[i]);
    }
  }
  tg_files_free(&list);
  return ok;
}

static bool merge(const char *root, const struct tg_fuzz_target *target, const char *work, const char *to,
                  const char *corpus, struct tg_error *err) {
  char program[PATH_MAX];
  char log[PATH_MAX];
  char hang[32];
  char control[PATH_MAX + 32];
  char artifacts[PATH_MAX + 32];
  char incoming[PATH_MAX];
  if (!tg_engine_runfile(target->libfuzzer, program, err)) {
    return false;
  }
  tg_layout(incoming, root, "incoming", target->name, NULL);
  tg_path(log, "%s/merge.log", work);
  (void)snprintf(hang, sizeof(hang), "-timeout=%d", TG_ENGINE_HANG_S);
  (void)snprintf(control, sizeof(control), "-merge_control_file=%s/merge.control", work);
  (void)snprintf(artifacts, sizeof(artifacts), "-artifact_prefix=%s/", incoming);
  setenv(TG_FUZZ_THRIFT_ENV, "1", 1);
  const char *argv[] = {program, "-merge=1", hang, control, artifacts, to, corpus, NULL};
  int status = tg_process_run(argv, log, PRUNE_S, NULL, NULL, err);
  if (status > 0) {
    tg_error_set(err, "pruning the corpus of %s ended with status %d", target->name, status);
  }
  return status == 0;
}

bool tg_fuzzd_prune(const char *root, const struct tg_fuzz_target *target, const char *work, uint64_t *units,
                    struct tg_error *err) {
  char to[PATH_MAX];
  char old[PATH_MAX];
  char corpus[PATH_MAX];
  tg_path(to, "%s/new", work);
  tg_path(old, "%s/old", work);
  tg_layout(corpus, root, "corpus", target->name, NULL);
  if (!tg_files_make_folder(to, err) || !give_seeds(target, to, err) || !merge(root, target, work, to, corpus, err) ||
      !take_seeds(to, units, err)) {
    return false;
  }
  sync();
  if (rename(corpus, old) != 0 || rename(to, corpus) != 0) {
    // If only the first was done, tg_fuzzd_recover puts it back.
    tg_error_set(err, "cannot replace %s: %s", corpus, strerror(errno));
    return false;
  }
  return true;
}

bool tg_fuzzd_prune_due(const struct tg_fuzzd_target_state *target, uint64_t units, double now_s, double every_s) {
  if (units == 0 || target->pruned_at_s == 0) {
    return false;
  }
  return now_s - target->pruned_at_s >= every_s ||
         units > TG_PRUNE_GROWTH * target->pruned_units + TG_PRUNE_GROWTH_MORE;
}

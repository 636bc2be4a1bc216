#include "fuzz/service/triage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/base/thrift.h"
#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/files.h"
#include "fuzz/launcher/process.h"
#include "fuzz/service/candidate.h"
#include "fuzz/service/durable.h"
#include "fuzz/service/layout.h"
#include "fuzz/service/signature.h"
#include "fuzz/service/state.h"

// For the start of libFuzzer and the run of the smallest input, beyond the time it is given.
#define MINIMISE_GRACE_S 60.0

struct triage {
  const char *root;
  const struct tg_fuzz_target *target;
  const char *work;
  double minimise_s;
  struct tg_triage_result *result;
};

// Replays one input. *shows says whether it has a finding, and then `signature` which.
static bool replay(const struct triage *triage, const char *input, const char *log, bool *shows,
                   struct tg_signature *signature, struct tg_error *err) {
  char *paths[] = {(char *)input};
  const struct tg_file_list list = {.paths = paths, .num = 1, .capacity = 1};
  *shows = false;
  for (int i = 0; i < TG_TRIAGE_REPLAYS && !*shows; i++) {
    struct tg_engine_result result = {0};
    if (!tg_engine_replay(triage->target->libfuzzer, &list, log, &result, err)) {
      return false;
    }
    *shows = result.finding[0] != '\0';
  }
  // A program that was ended from outside has a finding without words.
  return !*shows || tg_signature_read(log, signature, err);
}

// libFuzzer runs itself over and over; what it finds smaller may show something else.
static bool minimise(const struct triage *triage, const char *input, const char *smaller, struct tg_error *err) {
  char program[PATH_MAX];
  char log[PATH_MAX];
  char time_flag[64];
  char path_flag[PATH_MAX + 32];
  char hang[32];
  char memory[32];
  if (!tg_engine_runfile(triage->target->libfuzzer, program, err)) {
    return false;
  }
  tg_path(log, "%s/minimise.log", triage->work);
  (void)snprintf(time_flag, sizeof(time_flag), "-max_total_time=%.0f", triage->minimise_s);
  (void)snprintf(path_flag, sizeof(path_flag), "-exact_artifact_path=%s", smaller);
  (void)snprintf(hang, sizeof(hang), "-timeout=%d", TG_ENGINE_HANG_S);
  (void)snprintf(memory, sizeof(memory), "-rss_limit_mb=%d", TG_ENGINE_MEMORY_MB);
  setenv(TG_FUZZ_THRIFT_ENV, "1", 1);
  const char *argv[] = {program, "-minimize_crash=1", time_flag, path_flag, hang, memory, input, NULL};
  return tg_process_run(argv, log, triage->minimise_s + MINIMISE_GRACE_S, NULL, NULL, err) >= 0;
}

static uint64_t size_of(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static bool keep_duplicate(const struct triage *triage, const char *input, const char *sha1,
                           const struct tg_signature *signature, struct tg_candidate *candidate, struct tg_error *err) {
  char folder[PATH_MAX];
  char to[PATH_MAX];
  tg_layout(folder, triage->root, "duplicates", triage->target->name, candidate->name);
  (void)signature;
  if (tg_layout_measure(folder).files < TG_TRIAGE_DUPLICATES_MAX) {
    tg_path(to, "%s/%s", folder, sha1);
    if (!tg_files_make_folder(folder, err) || !tg_fuzzd_copy(input, to, err)) {
      return false;
    }
  }
  candidate->seen++;
  triage->result->duplicates++;
  return tg_candidate_save(triage->root, candidate, err);
}

static bool file_new(const struct triage *triage, const char *input, const char *log,
                     const struct tg_signature *signature, const struct tg_candidate *candidate, struct tg_error *err) {
  char smaller[PATH_MAX];
  char smaller_log[PATH_MAX];
  tg_path(smaller, "%s/smaller", triage->work);
  tg_path(smaller_log, "%s/smaller.log", triage->work);
  (void)unlink(smaller);
  struct tg_candidate filed = *candidate;
  struct tg_signature shown;
  bool shows = false;
  if (!minimise(triage, input, smaller, err) ||
      (access(smaller, F_OK) == 0 && !replay(triage, smaller, smaller_log, &shows, &shown, err))) {
    return false;
  }
  bool same = shows && strcmp(shown.key, signature->key) == 0;
  if (shows && !same) {
    // Another bug: it goes the same way as all.
    char name[TG_FUZZD_NAME_LEN];
    char to[PATH_MAX];
    if (!tg_fuzzd_name(smaller, name, err)) {
      return false;
    }
    tg_layout(to, triage->root, "incoming", triage->target->name, name);
    if (!tg_fuzzd_copy(smaller, to, err)) {
      return false;
    }
  }
  if (same && size_of(smaller) <= filed.size) {
    filed.size = size_of(smaller);
    (void)snprintf(filed.line, sizeof(filed.line), "%s", shown.line);
    return tg_candidate_file(triage->root, triage->target, &filed, &shown, smaller, smaller_log, err);
  }
  return tg_candidate_file(triage->root, triage->target, &filed, signature, input, log, err);
}

// What shows a bug is not to stop every run at its start: it leaves the corpus.
static void take_from_corpus(const struct triage *triage, const char *sha1) {
  char path[PATH_MAX];
  tg_layout(path, triage->root, "corpus", triage->target->name, sha1);
  (void)unlink(path);
}

static bool triage_one(const struct triage *triage, const char *input, struct tg_error *err) {
  char sha1[TG_FUZZD_NAME_LEN];
  char log[PATH_MAX];
  bool shows;
  struct tg_signature signature;
  tg_path(log, "%s/replay.log", triage->work);
  if (!tg_fuzzd_name(input, sha1, err) || !replay(triage, input, log, &shows, &signature, err)) {
    return false;
  }
  bool ok;
  if (!shows) {
    char to[PATH_MAX];
    tg_layout(to, triage->root, "unreproduced", triage->target->name, sha1);
    triage->result->unreproduced++;
    ok = tg_fuzzd_copy(input, to, err);
  } else {
    struct tg_candidate candidate;
    char name[64];
    tg_candidate_name(&signature, name);
    if (tg_candidate_find(triage->root, triage->target->name, name, &candidate)) {
      ok = keep_duplicate(triage, input, sha1, &signature, &candidate, err);
    } else {
      bool of_afl = strncmp(strrchr(input, '/') + 1, "afl-", strlen("afl-")) == 0;
      candidate = (struct tg_candidate){
          .found_at_s = (double)time(NULL), .size = size_of(input), .original_size = size_of(input), .seen = 1};
      (void)snprintf(candidate.target, sizeof(candidate.target), "%s", triage->target->name);
      (void)snprintf(candidate.name, sizeof(candidate.name), "%s", name);
      (void)snprintf(candidate.line, sizeof(candidate.line), "%s", signature.line);
      (void)snprintf(candidate.engine, sizeof(candidate.engine), "%s",
                     tg_fuzzd_engine_names[of_afl ? TG_FUZZD_AFL : TG_FUZZD_LIBFUZZER]);
      ok = file_new(triage, input, log, &signature, &candidate, err);
      triage->result->candidates += ok ? 1 : 0;
    }
    if (ok) {
      take_from_corpus(triage, sha1);
    }
  }
  if (ok && unlink(input) != 0) {
    tg_error_set(err, "cannot remove %s: %s", input, strerror(errno));
    ok = false;
  }
  return ok;
}

bool tg_triage(const char *root, const struct tg_fuzz_target *target, const char *work, double minimise_s, unsigned max,
               struct tg_triage_result *out, struct tg_error *err) {
  struct triage triage = {.root = root, .target = target, .work = work, .minimise_s = minimise_s, .result = out};
  char incoming[PATH_MAX];
  struct tg_file_list list = {0};
  tg_layout(incoming, root, "incoming", target->name, NULL);
  bool ok = tg_files_add(&list, incoming, err);
  for (size_t i = 0; ok && i < list.num && i < max; i++) {
    ok = triage_one(&triage, list.paths[i], err);
    // The slice's folder, once it is empty.
    char *slash = strrchr(list.paths[i], '/');
    *slash = '\0';
    if (ok && strcmp(list.paths[i], incoming) != 0) {
      (void)rmdir(list.paths[i]);
    }
    *slash = '/';
  }
  tg_files_free(&list);
  return ok;
}

bool tg_triage_waits(const char *root, const char *target) {
  char incoming[PATH_MAX];
  tg_layout(incoming, root, "incoming", target, NULL);
  struct tg_file_list list = {0};
  bool waits = tg_files_add(&list, incoming, NULL) && list.num > 0;
  tg_files_free(&list);
  return waits;
}

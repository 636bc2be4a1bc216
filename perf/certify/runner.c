#include "perf/certify/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"
#include "perf/certify/folder.h"
#include "perf/certify/keep.h"
#include "perf/certify/state.h"
#include "perf/report/run_log.h"

static const char did_not_end[] = "did not end: it was killed, or still runs";

// What a part's run and judgement need, and where the attempt is written.
struct step {
  const struct tg_certify *certify;
  const struct tg_part *part;
  json_t *value;
  json_t *attempts;  // of the part
  char name[80];     // of the folder of raw files, from the certificate's folder
  char folder[PATH_MAX];
  char plan[PATH_MAX];  // folder of the build's raw files
};

static bool open_step(struct step *step, const struct tg_certify *certify, json_t *value, size_t index,
                      struct tg_error *err) {
  *step = (struct step){.certify = certify,
                        .part = &certify->parts[index],
                        .value = value,
                        .attempts = tg_certificate_attempts(value, index)};
  size_t number = json_array_size(step->attempts) + 1;
  if (number > TG_ATTEMPTS_MAX) {
    tg_error_set(err, "%s: %s was tried %d times; start anew with another --out", certify->out, step->part->name,
                 TG_ATTEMPTS_MAX);
    return false;
  }
  (void)snprintf(step->name, sizeof(step->name), number == 1 ? "raw/%s" : "raw/%s.%zu", step->part->name, number);
  if (snprintf(step->folder, sizeof(step->folder), "%s/%s", certify->out, step->name) >= (int)sizeof(step->folder)) {
    tg_error_set(err, "%s: the path is too long", certify->out);
    return false;
  }
  return tg_keep_folder(certify, value, certify->parts[0].name, step->plan, err) || index == 0;
}

// Puts what is known of the attempt into its entry, the last one.
static bool put(struct step *step, enum tg_outcome outcome, const char *message, json_t *figures, json_t *files) {
  json_t *attempt = json_array_get(step->attempts, json_array_size(step->attempts) - 1);
  char now[32];
  tg_time_text(now);
  bool ok = json_object_set_new(attempt, "verdict", json_string(tg_outcome_name(outcome))) == 0 &&
            json_object_set_new(attempt, "message", message[0] != '\0' ? json_string(message) : json_null()) == 0 &&
            json_object_set_new(attempt, "figures", figures != NULL ? figures : json_null()) == 0 &&
            json_object_set_new(attempt, "finish", json_string(now)) == 0;
  if (files != NULL) {
    ok = json_object_set_new(attempt, "files", files) == 0 && ok;
  }
  return ok;
}

// Appends an attempt that has not ended.
static bool begin(struct step *step, struct tg_error *err) {
  char now[32];
  tg_time_text(now);
  json_t *inputs = tg_keep_inputs(step->certify->source, step->part, err);
  if (inputs == NULL) {
    return false;
  }
  json_t *attempt =
      json_pack("{s:s, s:n, s:s, s:s, s:s?, s:n, s:o, s:{}, s:{}}", "start", now, "finish", "verdict",
                tg_outcome_name(TG_OUTCOME_ERROR), "message", did_not_end, "folder",
                step->part->of == NULL ? step->name : NULL, "figures", "inputs", inputs, "binaries", "files");
  if (attempt == NULL || json_array_append_new(step->attempts, attempt) != 0) {
    tg_error_set(err, "out of memory");
    return false;
  }
  return tg_state_save(step->certify->out, step->value, err);
}

static bool make_folder(const struct step *step, struct tg_error *err) {
  char raw[PATH_MAX];
  (void)snprintf(raw, sizeof(raw), "%.4000s/raw", step->certify->out);
  if ((mkdir(raw, 0777) != 0 && errno != EEXIST) || mkdir(step->folder, 0777) != 0) {
    tg_error_set(err, "cannot make the folder %s: %s", step->folder, strerror(errno));
    return false;
  }
  return true;
}

// Runs the part. Returns false with `why` filled in when it did not run to its end.
static bool run(struct step *step, struct tg_error *why) {
  const struct tg_certify *certify = step->certify;
  const struct tg_part_run part_run = {.part = step->part,
                                       .source = certify->source,
                                       .folder = step->folder,
                                       .plan = step->part == &certify->parts[0] ? NULL : step->plan,
                                       .minutes = certify->minutes,
                                       .progress = certify->progress};
  json_t *binaries = tg_keep_binaries(&part_run, why);
  if (binaries == NULL) {
    return false;
  }
  json_t *attempt = json_array_get(step->attempts, json_array_size(step->attempts) - 1);
  json_t *after = NULL;
  bool ok = json_object_set(attempt, "binaries", binaries) == 0 && step->part->run(&part_run, why);
  if (ok && !tg_keep_source_is_same(certify->source, why)) {
    ok = false;
  }
  if (ok && (after = tg_keep_binaries(&part_run, why)) == NULL) {
    ok = false;
  }
  if (ok && !json_equal(binaries, after)) {
    tg_error_set(why, "its programs changed while it ran: something else was built in this workspace");
    ok = false;
  }
  json_decref(binaries);
  json_decref(after);
  return ok;
}

// Draws the verdict from the raw files, and writes it down.
static bool conclude(struct step *step, bool ran, const struct tg_error *why, struct tg_error *err) {
  struct tg_part_verdict verdict = {.outcome = TG_OUTCOME_ERROR};
  struct tg_error judging = *why;
  json_t *files = NULL;
  if (step->part->of == NULL) {
    files = tg_folder_hash(step->folder, err);
    if (files == NULL) {
      return false;
    }
  }
  if (ran && !tg_keep_judge(step->certify, step->value, step->part, step->folder, &verdict, &judging)) {
    verdict.outcome = TG_OUTCOME_ERROR;
  }
  const char *message = verdict.outcome == TG_OUTCOME_ERROR ? judging.text : verdict.message;
  tg_progress_end(step->certify->progress, tg_outcome_name(verdict.outcome), message);
  if (!put(step, verdict.outcome, message, verdict.figures, files)) {
    tg_error_set(err, "out of memory");
    return false;
  }
  return tg_state_save(step->certify->out, step->value, err);
}

static bool run_part(const struct tg_certify *certify, json_t *value, size_t index, bool built, struct tg_error *err) {
  struct step step;
  struct tg_error why = {""};
  const struct tg_part *part = &certify->parts[index];
  if (!open_step(&step, certify, value, index, err)) {
    return false;
  }
  tg_progress_begin(certify->progress, index + 1, part->title,
                    index + 1 < certify->num_parts ? certify->parts[index + 1].title : NULL);
  if (!begin(&step, err) || (part->of == NULL && !make_folder(&step, err))) {
    return false;
  }
  bool ran = false;
  if (!built) {
    tg_error_set(&why, "was not run: the build failed");
  } else {
    ran = part->of != NULL || run(&step, &why);
  }
  return conclude(&step, ran, &why, err);
}

static bool run_all(const struct tg_certify *certify, json_t *value, struct tg_error *err) {
  bool built = true;
  for (size_t i = 0; i < certify->num_parts; i++) {
    struct tg_error why;
    if (i > 0 && built && tg_keep_part(certify, value, i, &why)) {
      tg_progress_begin(certify->progress, i + 1, certify->parts[i].title, NULL);
      tg_progress_end(certify->progress, "kept", "it came to a verdict before, and what it rests on is the same");
      continue;
    }
    if (i > 0 && built && json_array_size(tg_certificate_attempts(value, i)) > 0) {
      fprintf(certify->progress->out, "certify: %s is run again: %s\n", certify->parts[i].title, why.text);
    }
    if (!run_part(certify, value, i, built, err)) {
      return false;
    }
    if (i == 0) {
      built = tg_keep_passed(value, 0);
    }
  }
  return true;
}

// One certification at a time in a folder. Returns a descriptor that holds the lock, or -1 with `err`.
static int lock_folder(const char *folder, struct tg_error *err) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
    tg_error_set(err, "%s: %s", folder,
                 fd >= 0 && errno == EWOULDBLOCK ? "another certification runs in this folder" : strerror(errno));
    if (fd >= 0) {
      (void)close(fd);
    }
    return -1;
  }
  return fd;
}

enum tg_certified tg_certify_run(const struct tg_certify *certify, json_t **value, struct tg_error *err) {
  *value = NULL;
  if (!tg_source_is_clean(certify->source, err)) {
    return TG_CERTIFY_REFUSED;
  }
  if (!tg_files_make_folder(certify->out, err)) {
    return TG_CERTIFY_IMPOSSIBLE;
  }
  int lock = lock_folder(certify->out, err);
  if (lock < 0) {
    return TG_CERTIFY_REFUSED;
  }
  enum tg_certified certified = tg_state_open(certify, value, err);
  if (certified == TG_CERTIFIED && !run_all(certify, *value, err)) {
    certified = TG_CERTIFY_IMPOSSIBLE;
  }
  if (certified == TG_CERTIFIED && !tg_state_finish(certify, *value, err)) {
    certified = TG_CERTIFY_IMPOSSIBLE;
  }
  if (certified != TG_CERTIFIED) {
    json_decref(*value);
    *value = NULL;
  }
  (void)close(lock);
  return certified;
}

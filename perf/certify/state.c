#include "perf/certify/state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/certify/folder.h"
#include "perf/certify/page.h"
#include "perf/manifest/strict_json.h"
#include "perf/report/run_log.h"

#define DIGITS 17  // a double reads back as it was

bool tg_state_write(const char *folder, const char *name, const json_t *value, struct tg_error *err) {
  char path[PATH_MAX];
  char beside[PATH_MAX];
  bool fits = snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
              snprintf(beside, sizeof(beside), "%s/%s.%ld", folder, name, (long)getpid()) < (int)sizeof(beside);
  bool ok = fits && json_dump_file(value, beside, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS)) == 0 &&
            rename(beside, path) == 0;
  if (!ok) {
    tg_error_set(err, "cannot write %s/%s: %s", folder, name, fits ? strerror(errno) : "the path is too long");
    if (fits) {
      (void)unlink(beside);
    }
  }
  return ok;
}

bool tg_state_save(const char *folder, const json_t *value, struct tg_error *err) {
  return tg_state_write(folder, TG_CERTIFICATE_STATE, value, err);
}

// What two runs that make one certificate must have in common.
static bool same_machine(const json_t *then, const json_t *now, struct tg_error *err) {
  static const char *const keys[] = {"host",     "architecture", "cpu_model", "cpus",         "kernel",
                                     "compiler", "flags",        "boringssl", "server_sha256"};
  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
    const json_t *a = json_object_get(then, keys[i]);
    const json_t *b = json_object_get(now, keys[i]);
    if ((a != NULL || b != NULL) && !json_equal(a, b)) {
      tg_error_set(err, "%s is not what it was", keys[i]);
      return false;
    }
  }
  return true;
}

static bool same_text(const char *a, const char *b) {
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_continued(const struct tg_certify *certify, const struct tg_certificate *certificate,
                         struct tg_error *err) {
  const char *other = "start a new certificate with another --out";
  struct tg_error why;
  if (strcmp(certificate->commit, certify->source->commit) != 0) {
    tg_error_set(err, "%s is about commit %.12s, and the tree is at %.12s; %s", certificate->file, certificate->commit,
                 certify->source->commit, other);
  } else if (certificate->minutes != certify->minutes) {
    tg_error_set(err, "%s is about --minutes %lld, not %lld; %s", certificate->file, certificate->minutes,
                 certify->minutes, other);
  } else if (!same_text(certificate->label, certify->label)) {
    tg_error_set(err, "%s is about TLSGATE_PERF_HOST=%s, not %s; %s", certificate->file,
                 certificate->label != NULL ? certificate->label : "(unset)",
                 certify->label != NULL ? certify->label : "(unset)", other);
  } else if (!same_machine(certificate->provenance, certify->provenance, &why)) {
    tg_error_set(err, "%s is about another machine or build: %s; %s", certificate->file, why.text, other);
  } else {
    return true;
  }
  return false;
}

// What was left behind when a part was killed stays, and is hashed like everything else.
static bool hash_left_behind(const struct tg_certify *certify, json_t *value, struct tg_error *err) {
  for (size_t i = 0; i < certify->num_parts; i++) {
    const json_t *attempts = tg_certificate_attempts(value, i);
    for (size_t j = 0; j < json_array_size(attempts); j++) {
      json_t *attempt = json_array_get(attempts, j);
      const char *folder = json_string_value(json_object_get(attempt, "folder"));
      char path[PATH_MAX];
      if (folder == NULL || !json_is_null(json_object_get(attempt, "finish"))) {
        continue;
      }
      (void)snprintf(path, sizeof(path), "%.3800s/%.200s", certify->out, folder);
      json_t *files = access(path, F_OK) == 0 ? tg_folder_hash(path, err) : json_object();
      if (files == NULL || json_object_set_new(attempt, "files", files) != 0) {
        return false;
      }
    }
  }
  return true;
}

enum tg_certified tg_state_open(const struct tg_certify *certify, json_t **value, struct tg_error *err) {
  static const char *const names[] = {TG_CERTIFICATE_STATE, TG_CERTIFICATE_FILE};
  char path[PATH_MAX];
  bool found = false;
  for (size_t i = 0; !found && i < 2; i++) {
    (void)snprintf(path, sizeof(path), "%.4000s/%s", certify->out, names[i]);
    found = access(path, F_OK) == 0;
  }
  if (!found) {
    char now[32];
    tg_time_text(now);
    *value = tg_certificate_new(certify->parts, certify->num_parts, certify->source, certify->minutes, certify->label,
                                certify->provenance, now);
    if (*value == NULL) {
      tg_error_set(err, "out of memory");
    }
    return *value != NULL ? TG_CERTIFIED : TG_CERTIFY_IMPOSSIBLE;
  }
  *value = tg_json_load(path, err);
  struct tg_certificate *certificate = malloc(sizeof(*certificate));
  bool ok = *value != NULL && certificate != NULL &&
            tg_certificate_decode(certificate, path, *value, certify->parts, certify->num_parts, err) &&
            is_continued(certify, certificate, err);
  free(certificate);
  if (!ok) {
    return TG_CERTIFY_REFUSED;
  }
  return tg_certificate_reopen(*value) && hash_left_behind(certify, *value, err) ? TG_CERTIFIED : TG_CERTIFY_IMPOSSIBLE;
}

bool tg_state_finish(const struct tg_certify *certify, json_t *value, struct tg_error *err) {
  struct tg_certificate *certificate = malloc(sizeof(*certificate));
  char now[32];
  tg_time_text(now);
  // The verdict follows from the parts, which are decoded as they will be read.
  bool ok = certificate != NULL &&
            tg_certificate_decode(certificate, TG_CERTIFICATE_STATE, value, certify->parts, certify->num_parts, err) &&
            tg_certificate_conclude(value, now, tg_certificate_verdict(certificate)) &&
            tg_page_publish(certify->out, certify->parts, certify->num_parts, value, err) &&
            tg_state_write(certify->out, TG_CERTIFICATE_FILE, value, err);
  free(certificate);
  if (ok) {
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%.4000s/%s", certify->out, TG_CERTIFICATE_STATE);
    (void)unlink(path);
  }
  return ok;
}

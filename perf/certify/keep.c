#include "perf/certify/keep.h"

#include <stdio.h>
#include <string.h>

#include "perf/certify/folder.h"
#include "perf/host/provenance.h"

static const json_t *last_attempt(const json_t *value, size_t index) {
  const json_t *attempts = tg_certificate_attempts((json_t *)value, index);
  return json_array_get(attempts, json_array_size(attempts) - 1);
}

static const char *verdict_of(const json_t *attempt) {
  const char *verdict = json_string_value(json_object_get(attempt, "verdict"));
  return verdict != NULL ? verdict : "";
}

bool tg_keep_passed(const json_t *value, size_t index) {
  return strcmp(verdict_of(last_attempt(value, index)), tg_outcome_name(TG_OUTCOME_PASS)) == 0;
}

bool tg_keep_folder(const struct tg_certify *certify, const json_t *value, const char *part, char out[PATH_MAX],
                    struct tg_error *err) {
  size_t index = tg_part_index(certify->parts, certify->num_parts, part);
  const char *folder = json_string_value(json_object_get(last_attempt(value, index), "folder"));
  if (folder == NULL || snprintf(out, PATH_MAX, "%s/%s", certify->out, folder) >= PATH_MAX) {
    tg_error_set(err, "%s has no raw files yet", part);
    return false;
  }
  return true;
}

json_t *tg_keep_inputs(const struct tg_source *source, const struct tg_part *part, struct tg_error *err) {
  json_t *inputs = json_object();
  for (size_t i = 0; part->inputs != NULL && part->inputs[i] != NULL; i++) {
    char id[TG_OBJECT_ID_MAX + 1];
    enum tg_source_found found = tg_source_object(source, part->inputs[i], id, err);
    if (found == TG_SOURCE_ERROR) {
      json_decref(inputs);
      return NULL;
    }
    (void)json_object_set_new(inputs, part->inputs[i], found == TG_SOURCE_FOUND ? json_string(id) : json_null());
  }
  return inputs;
}

json_t *tg_keep_binaries(const struct tg_part_run *run, struct tg_error *err) {
  json_t *paths = json_array();
  json_t *binaries = json_object();
  bool ok = run->part->binaries == NULL || run->part->binaries(run, paths, err);
  for (size_t i = 0; ok && i < json_array_size(paths); i++) {
    const char *name = json_string_value(json_array_get(paths, i));
    char path[PATH_MAX];
    char digest[TG_SHA256_HEX + 1];
    (void)snprintf(path, sizeof(path), "%.2000s/%.2000s", run->source->workspace, name);
    ok = tg_sha256_of_file(path, digest, err) && json_object_set_new(binaries, name, json_string(digest)) == 0;
  }
  json_decref(paths);
  if (!ok) {
    json_decref(binaries);
    return NULL;
  }
  return binaries;
}

bool tg_keep_source_is_same(const struct tg_source *source, struct tg_error *err) {
  struct tg_source now;
  if (!tg_source_open(&now, source->workspace, err)) {
    return false;
  }
  if (strcmp(now.commit, source->commit) != 0) {
    tg_error_set(err, "the tree went from commit %.12s to %.12s meanwhile", source->commit, now.commit);
    return false;
  }
  return tg_source_is_clean(source, err);
}

bool tg_keep_judge(const struct tg_certify *certify, const json_t *value, const struct tg_part *part,
                   const char *folder, struct tg_part_verdict *out, struct tg_error *err) {
  char plan[PATH_MAX];
  char other[PATH_MAX];
  *out = (struct tg_part_verdict){.outcome = TG_OUTCOME_ERROR};
  if (!tg_keep_folder(certify, value, certify->parts[0].name, plan, err) ||
      (part->of != NULL && !tg_keep_folder(certify, value, part->of, other, err))) {
    return false;
  }
  const struct tg_evidence evidence = {.source = certify->source,
                                       .folder = part->of != NULL ? other : folder,
                                       .plan = plan,
                                       .minutes = certify->minutes};
  if (part->judge(part, &evidence, out, err)) {
    return true;
  }
  json_decref(out->figures);
  *out = (struct tg_part_verdict){.outcome = TG_OUTCOME_ERROR};
  return false;
}

static bool has_same(const json_t *attempt, const char *key, json_t *now, struct tg_error *why) {
  bool same = now != NULL && json_equal(json_object_get(attempt, key), now);
  if (now != NULL && !same) {
    tg_error_set(why, "its %s are not the same any more", key);
  }
  json_decref(now);
  return same;
}

static bool comes_to_the_same(const struct tg_certify *certify, const json_t *value, const struct tg_part *part,
                              const json_t *attempt, const char *folder, struct tg_error *why) {
  struct tg_part_verdict verdict;
  if (!tg_keep_judge(certify, value, part, folder, &verdict, why)) {
    return false;
  }
  bool same = strcmp(verdict_of(attempt), tg_outcome_name(verdict.outcome)) == 0 &&
              json_equal(json_object_get(attempt, "figures"), verdict.figures);
  if (!same) {
    tg_error_set(why, "its raw files do not come to the verdict that was recorded");
  }
  json_decref(verdict.figures);
  return same;
}

bool tg_keep_part(const struct tg_certify *certify, const json_t *value, size_t index, struct tg_error *why) {
  const struct tg_part *part = &certify->parts[index];
  const json_t *attempt = last_attempt(value, index);
  const char *verdict = verdict_of(attempt);
  if (attempt == NULL) {
    tg_error_set(why, "it has not run yet");
    return false;
  }
  if (strcmp(verdict, tg_outcome_name(TG_OUTCOME_FAIL)) == 0) {
    tg_error_set(why, "it failed; the failure stays listed");
    return false;
  }
  if (strcmp(verdict, tg_outcome_name(TG_OUTCOME_ERROR)) == 0) {
    tg_error_set(why, "it came to no verdict");
    return false;
  }
  char folder[PATH_MAX] = "";
  char plan[PATH_MAX];
  if ((part->of == NULL && !tg_keep_folder(certify, value, part->name, folder, why)) ||
      !tg_keep_folder(certify, value, certify->parts[0].name, plan, why)) {
    return false;
  }
  const struct tg_part_run run = {
      .part = part, .source = certify->source, .folder = folder, .plan = plan, .minutes = certify->minutes};
  return has_same(attempt, "inputs", tg_keep_inputs(certify->source, part, why), why) &&
         has_same(attempt, "binaries", tg_keep_binaries(&run, why), why) &&
         (part->of != NULL || tg_folder_compare(folder, json_object_get(attempt, "files"), why)) &&
         comes_to_the_same(certify, value, part, attempt, folder, why);
}

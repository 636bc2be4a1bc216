#include "perf/certify/certificate.h"

#include <string.h>

#include "perf/manifest/strict_json.h"
#include "perf/report/json_fields.h"

static const char *outcome_name(int i) {
  return tg_outcome_name((enum tg_outcome)i);
}
#define NUM_OUTCOMES (TG_OUTCOME_ERROR + 1)

json_t *tg_certificate_new(const struct tg_part *parts, size_t num_parts, const struct tg_source *source,
                           long long minutes, const char *label, const json_t *provenance, const char *start) {
  json_t *all = json_array();
  for (size_t i = 0; i < num_parts; i++) {
    (void)json_array_append_new(all, json_pack("{s:s, s:[]}", "name", parts[i].name, "attempts"));
  }
  return json_pack("{s:i, s:b, s:s, s:n, s:{s:I, s:s?}, s:n, s:n, s:n, s:s, s:o, s:o}", "schema", TG_CERTIFICATE_SCHEMA,
                   "complete", 0, "start", start, "finish", "options", "minutes", (json_int_t)minutes, "label", label,
                   "verdict", "exit_status", "html_sha256", "commit", source->commit, "provenance",
                   tg_field_from_borrowed(provenance), "parts", all);
}

enum tg_exit tg_certificate_exit(enum tg_outcome verdict) {
  switch (verdict) {
    case TG_OUTCOME_PASS:
      return TG_EXIT_PASS;
    case TG_OUTCOME_UNDECIDED:
      return TG_EXIT_UNDECIDED;
    case TG_OUTCOME_UNENFORCED:
      return TG_EXIT_UNENFORCED;
    default:
      return TG_EXIT_FAIL;
  }
}

const struct tg_attempt *tg_cert_part_last(const struct tg_cert_part *part) {
  return part->num_attempts > 0 ? &part->attempts[part->num_attempts - 1] : NULL;
}

const struct tg_cert_part *tg_certificate_part(const struct tg_certificate *certificate, const char *name) {
  for (size_t i = 0; i < certificate->num_parts; i++) {
    if (strcmp(certificate->parts[i].part->name, name) == 0) {
      return &certificate->parts[i];
    }
  }
  return NULL;
}

enum tg_outcome tg_certificate_verdict(const struct tg_certificate *certificate) {
  size_t num[NUM_OUTCOMES] = {0};
  for (size_t i = 0; i < certificate->num_parts; i++) {
    const struct tg_attempt *last = tg_cert_part_last(&certificate->parts[i]);
    num[last != NULL ? last->outcome : TG_OUTCOME_ERROR]++;
  }
  if (num[TG_OUTCOME_FAIL] + num[TG_OUTCOME_ERROR] > 0) {
    return TG_OUTCOME_FAIL;
  }
  if (num[TG_OUTCOME_UNENFORCED] > 0) {
    return TG_OUTCOME_UNENFORCED;
  }
  return num[TG_OUTCOME_UNDECIDED] > 0 ? TG_OUTCOME_UNDECIDED : TG_OUTCOME_PASS;
}

static bool is_digest(const json_t *value, size_t least, size_t most) {
  const char *text = json_string_value(value);
  size_t len = text != NULL ? strlen(text) : 0;
  return len >= least && len <= most && strspn(text, "0123456789abcdef") == len;
}

static bool check_inputs(struct tg_json_place *place, const struct tg_part *part, const json_t *inputs) {
  size_t num = 0;
  for (; part->inputs != NULL && part->inputs[num] != NULL; num++) {
    const json_t *id = json_object_get(inputs, part->inputs[num]);
    if (!json_is_null(id) && !is_digest(id, 40, TG_OBJECT_ID_MAX)) {
      return tg_json_fail(place, "inputs", "must have the object id of %s", part->inputs[num]);
    }
  }
  return json_object_size(inputs) == num || tg_json_fail(place, "inputs", "has a path that the part does not read");
}

static bool check_digests(struct tg_json_place *place, const struct tg_attempt *attempt) {
  const char *path;
  json_t *value;
  json_object_foreach((json_t *)attempt->binaries, path, value) {
    if (!is_digest(value, 64, 64)) {
      return tg_json_fail(place, "binaries", "%s must have a SHA-256 of 64 hexadecimal digits", path);
    }
  }
  json_object_foreach((json_t *)attempt->files, path, value) {
    bool strays = path[0] == '/' || strstr(path, "..") != NULL;
    if (strays || json_object_size(value) != 2 || !is_digest(json_object_get(value, "sha256"), 64, 64) ||
        !json_is_integer(json_object_get(value, "size"))) {
      return tg_json_fail(place, "files", "%s must have sha256 and size, and stay within the folder", path);
    }
  }
  return true;
}

static bool decode_attempt(struct tg_attempt *out, const struct tg_part *part, struct tg_json_place *place) {
  int outcome;
  bool ended = false;
  if (!tg_field_time(place, "start", &out->start)) {
    return false;
  }
  ended = !tg_json_is_null(place, "finish");
  if ((ended && !tg_field_time(place, "finish", &out->finish)) ||
      !tg_field_name(place, "verdict", outcome_name, NUM_OUTCOMES, &outcome) ||
      !tg_field_any_object(place, "inputs", &out->inputs) || !tg_field_any_object(place, "binaries", &out->binaries) ||
      !tg_field_any_object(place, "files", &out->files) || !tg_field_text_or_null(place, "message", &out->message) ||
      !tg_field_text_or_null(place, "folder", &out->folder)) {
    return false;
  }
  out->outcome = (enum tg_outcome)outcome;
  out->message = out->message != NULL ? out->message : "";
  bool judged = out->outcome != TG_OUTCOME_ERROR;
  if (!tg_json_is_null(place, "figures") && !tg_field_any_object(place, "figures", &out->figures)) {
    return false;
  }
  if (judged && (!ended || out->figures == NULL)) {
    return tg_json_fail(place, NULL, "a verdict needs a finish and figures");
  }
  if ((part->of != NULL) != (out->folder == NULL)) {
    return tg_json_fail(
        place, "folder",
        part->of != NULL ? "must be null: it judges another part's raw files" : "must be the folder of its raw files");
  }
  if (out->folder != NULL && (out->folder[0] == '/' || strstr(out->folder, "..") != NULL)) {
    return tg_json_fail(place, "folder", "must be within the certificate's folder");
  }
  return check_inputs(place, part, out->inputs) && check_digests(place, out) && tg_json_close(place);
}

static bool decode_part(struct tg_cert_part *out, bool complete, struct tg_json_place *place) {
  const char *name;
  json_t *attempts;
  if (!tg_json_text(place, "name", &name)) {
    return false;
  }
  if (strcmp(name, out->part->name) != 0) {
    return tg_json_fail(place, "name", "must be \"%s\": parts are all there, in the order in which they run",
                        out->part->name);
  }
  if (!tg_json_array(place, "attempts", &attempts)) {
    return false;
  }
  out->num_attempts = json_array_size(attempts);
  if (out->num_attempts > TG_ATTEMPTS_MAX || (complete && out->num_attempts == 0)) {
    return tg_json_fail(place, "attempts", "must be 1 to %d", TG_ATTEMPTS_MAX);
  }
  for (size_t i = 0; i < out->num_attempts; i++) {
    struct tg_json_place attempt;
    if (!tg_json_element(place, "attempts", i, &attempt) || !decode_attempt(&out->attempts[i], out->part, &attempt)) {
      return false;
    }
  }
  return tg_json_close(place);
}

static bool decode_verdict(struct tg_certificate *out, struct tg_json_place *root) {
  int verdict;
  long long exit_status;
  if (!out->complete) {
    return (tg_json_is_null(root, "verdict") && tg_json_is_null(root, "exit_status") &&
            tg_json_is_null(root, "finish") && tg_json_is_null(root, "html_sha256")) ||
           tg_json_fail(root, "verdict", "what all parts come to must be null until they are done");
  }
  if (!tg_field_time(root, "finish", &out->finish) ||
      !tg_field_name(root, "verdict", outcome_name, NUM_OUTCOMES, &verdict) ||
      !tg_json_integer(root, "exit_status", 0, 4, &exit_status) ||
      !tg_field_hex(root, "html_sha256", 64, &out->html_sha256)) {
    return false;
  }
  out->verdict = (enum tg_outcome)verdict;
  out->exit_status = (enum tg_exit)exit_status;
  enum tg_outcome follows = tg_certificate_verdict(out);
  if (out->verdict != follows || out->exit_status != tg_certificate_exit(follows)) {
    return tg_json_fail(root, "verdict", "is %s with exit status %lld, but the parts come to %s",
                        tg_outcome_name(out->verdict), exit_status, tg_outcome_name(follows));
  }
  return true;
}

bool tg_certificate_decode(struct tg_certificate *out, const char *file, json_t *value, const struct tg_part *parts,
                           size_t num_parts, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  struct tg_json_place root;
  struct tg_json_place options;
  json_t *all;
  out->file = file;
  out->num_parts = num_parts;
  if (!tg_json_open(&root, file, value, err) || !tg_json_schema(&root, TG_CERTIFICATE_SCHEMA) ||
      !tg_field_bool(&root, "complete", &out->complete) || !tg_field_time(&root, "start", &out->start) ||
      !tg_json_object(&root, "options", &options) ||
      !tg_json_integer(&options, "minutes", 1, TG_MINUTES_MAX, &out->minutes) ||
      !tg_field_text_or_null(&options, "label", &out->label) || !tg_json_close(&options) ||
      !tg_json_text(&root, "commit", &out->commit) || !tg_field_any_object(&root, "provenance", &out->provenance) ||
      !tg_json_array(&root, "parts", &all)) {
    return false;
  }
  if (!is_digest(json_object_get(value, "commit"), 40, TG_OBJECT_ID_MAX)) {
    return tg_json_fail(&root, "commit", "must be a commit's id");
  }
  if (json_array_size(all) != num_parts) {
    return tg_json_fail(&root, "parts", "must be %zu", num_parts);
  }
  for (size_t i = 0; i < num_parts; i++) {
    struct tg_json_place place;
    out->parts[i].part = &parts[i];
    if (!tg_json_element(&root, "parts", i, &place) || !decode_part(&out->parts[i], out->complete, &place)) {
      return false;
    }
  }
  return decode_verdict(out, &root) && tg_json_close(&root);
}

json_t *tg_certificate_attempts(json_t *value, size_t part) {
  return json_object_get(json_array_get(json_object_get(value, "parts"), part), "attempts");
}

bool tg_certificate_conclude(json_t *value, const char *finish, enum tg_outcome verdict) {
  static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
  return json_object_set_new(value, "complete", json_true()) == 0 &&
         json_object_set_new(value, "finish", json_string(finish)) == 0 &&
         json_object_set_new(value, "verdict", json_string(tg_outcome_name(verdict))) == 0 &&
         json_object_set_new(value, "exit_status", json_integer(tg_certificate_exit(verdict))) == 0 &&
         json_object_set_new(value, "html_sha256", json_string(zeros)) == 0;
}

bool tg_certificate_reopen(json_t *value) {
  static const char *const keys[] = {"finish", "verdict", "exit_status", "html_sha256"};
  bool ok = json_object_set_new(value, "complete", json_false()) == 0;
  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
    ok = json_object_set_new(value, keys[i], json_null()) == 0 && ok;
  }
  return ok;
}

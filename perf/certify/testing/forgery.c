#include "perf/certify/testing/forgery.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "perf/certify/certificate.h"
#include "perf/certify/folder.h"
#include "perf/certify/verify.h"
#include "perf/manifest/strict_json.h"

struct tg_synthetic tg_forged;
static char said[65536];

// The number of differences; what was said of them is in `said`.
static size_t verify(void) {
  struct tg_verified verified;
  FILE *out = fmemopen(said, sizeof(said), "w");
  assert_non_null(out);
  tg_verify(&verified, tg_forged.out, tg_forged.repository.tree, tg_forged.parts, tg_forged.num_parts, out);
  (void)fclose(out);
  return verified.differences;
}

void tg_forge_assert_differs(const char *says) {
  if (verify() == 0) {
    fail_msg("it verifies, and should say \"%s\"", says);
  }
  if (strstr(said, says) == NULL) {
    fail_msg("\"%s\" is not in:\n%s", says, said);
  }
}

const char *tg_forge_assert_agrees(void) {
  if (verify() != 0) {
    fail_msg("%s", said);
  }
  return said;
}

json_t *tg_forge_load(const char *name) {
  char path[256];
  struct tg_error err;
  (void)snprintf(path, sizeof(path), "%s/%s", tg_forged.out, name);
  json_t *value = tg_json_load(path, &err);
  if (value == NULL) {
    fail_msg("%s", err.text);
  }
  return value;
}

void tg_forge_save(const char *name, json_t *value) {
  char path[256];
  (void)snprintf(path, sizeof(path), "%s/%s", tg_forged.out, name);
  assert_int_equal(json_dump_file(value, path, JSON_REAL_PRECISION(17)), 0);
  json_decref(value);
}

json_t *tg_forge_attempt(json_t *certificate, const char *part) {
  size_t index = tg_part_index(tg_forged.parts, tg_forged.num_parts, part);
  return json_array_get(tg_certificate_attempts(certificate, index), 0);
}

void tg_forge_hash_again(const char *part) {
  char folder[256];
  struct tg_error err;
  json_t *certificate = tg_forge_load(TG_CERTIFICATE_FILE);
  (void)snprintf(folder, sizeof(folder), "%s/raw/%s", tg_forged.out, part);
  json_t *files = tg_folder_hash(folder, &err);
  assert_non_null(files);
  assert_int_equal(json_object_set_new(tg_forge_attempt(certificate, part), "files", files), 0);
  tg_forge_save(TG_CERTIFICATE_FILE, certificate);
}

void tg_forge_make(const struct tg_synthetic_options *options, enum tg_outcome verdict) {
  tg_synthetic_make(&tg_forged, options);
  json_t *value = tg_synthetic_certify(&tg_forged);
  if (strcmp(json_string_value(json_object_get(value, "verdict")), tg_outcome_name(verdict)) != 0) {
    for (size_t i = 0; i < tg_forged.num_parts; i++) {
      const json_t *attempt = json_array_get(tg_certificate_attempts(value, i), 0);
      print_message("%s: %s: %s\n", tg_forged.parts[i].name, json_string_value(json_object_get(attempt, "verdict")),
                    json_string_value(json_object_get(attempt, "message")));
    }
    fail_msg("the verdict is not %s", tg_outcome_name(verdict));
  }
  json_decref(value);
}

int tg_forge_make_passing(void **state) {
  (void)state;
  tg_forge_make(&(struct tg_synthetic_options){.with_baseline = true}, TG_OUTCOME_PASS);
  return 0;
}

int tg_forge_remove(void **state) {
  (void)state;
  tg_synthetic_remove(&tg_forged);
  return 0;
}

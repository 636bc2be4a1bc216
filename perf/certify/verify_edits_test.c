// Whatever is edited in a certificate is found: every key, part and raw file, with hashes made again where a forger
// would. Not under ASan, where starting git hundreds of times takes minutes; verify_test runs the same code there.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "perf/certify/certificate.h"
#include "perf/certify/folder.h"
#include "perf/certify/testing/forgery.h"

// Each edit of certificate.json, by a path of keys, and what is said of it.
static void test_an_edited_certificate_differs(void **state) {
  (void)state;
  static const struct {
    const char *part;  // NULL: of the certificate itself
    const char *key;
    const char *value;  // JSON; NULL: the key is removed
    const char *says;
  } edits[] = {
      {NULL, "verdict", "\"fail\"", "but the parts come to pass"},
      {NULL, "exit_status", "3", "but the parts come to pass"},
      {NULL, "complete", "false", "must be null until they are done"},
      {NULL, "commit", "\"0123456789012345678901234567890123456789\"", "is not in the repository"},
      {NULL, "commit", NULL, "commit: missing"},
      {NULL, "more", "1", "unknown key"},
      {NULL, "options", "{\"minutes\": 2, \"label\": null}", "too short for this certificate's minutes"},
      {NULL, "html_sha256", "\"0000000000000000000000000000000000000000000000000000000000000000\"",
       "is not the page that was written with the certificate"},
      {"gates", "verdict", "\"fail\"", "is pass with exit status 0, but the parts come to fail"},
      {"gates", "message", "\"all is well\"", "says \"all is well\", its raw files come to"},
      {"gates", "figures", "{\"gates\": 1000}", "gates: its figures are not what its raw files come to"},
      {"gates", "files", "{}", "is not among the certified files"},
      {"gates", "inputs", "{}", "inputs: must have the object id of baselines/gates.json"},
      {"gates", "folder", "\"../elsewhere\"", "must be within the certificate's folder"},
      {"gates", "start", "\"yesterday\"", "is no time in UTC"},
      {"baseline", "message", "\"as recorded\"", "baseline: says \"as recorded\""},
      {"exact", "figures", "{}", "exact: its figures"},
      {"fuzz", "figures", "{\"executions\": 1e12}", "fuzz: its figures"},
      {"faults", "message", "\"caught 73 of 73\"", "faults: says \"caught 73 of 73\""},
      {"release", "figures", "{}", "release: its figures"},
  };
  json_t *whole = tg_forge_load(TG_CERTIFICATE_FILE);
  for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
    json_t *edited = json_deep_copy(whole);
    json_t *at = edits[i].part != NULL ? tg_forge_attempt(edited, edits[i].part) : edited;
    if (edits[i].value != NULL) {
      assert_int_equal(json_object_set_new(at, edits[i].key, json_loads(edits[i].value, JSON_DECODE_ANY, NULL)), 0);
    } else {
      assert_int_equal(json_object_del(at, edits[i].key), 0);
    }
    tg_forge_save(TG_CERTIFICATE_FILE, edited);
    tg_forge_assert_differs(edits[i].says);
  }
  tg_forge_save(TG_CERTIFICATE_FILE, whole);
  tg_forge_assert_agrees();
}

static void test_a_missing_part_differs(void **state) {
  (void)state;
  json_t *whole = tg_forge_load(TG_CERTIFICATE_FILE);
  for (size_t i = 0; i < tg_forged.num_parts; i++) {
    json_t *edited = json_deep_copy(whole);
    assert_int_equal(json_array_remove(json_object_get(edited, "parts"), i), 0);
    tg_forge_save(TG_CERTIFICATE_FILE, edited);
    tg_forge_assert_differs("parts: must be");
    // And an attempt that is not there.
    edited = json_deep_copy(whole);
    assert_int_equal(json_array_clear(tg_certificate_attempts(edited, i)), 0);
    tg_forge_save(TG_CERTIFICATE_FILE, edited);
    tg_forge_assert_differs("attempts: must be 1 to");
  }
  json_decref(whole);
}

// Changes the first byte of a file to `to`, or by a bit if that is -1. Returns what it was.
static int change_first(const char *path, int to) {
  FILE *file = fopen(path, "r+e");
  assert_non_null(file);
  int first = fgetc(file);
  rewind(file);
  int now = to >= 0 ? to : first ^ 1;
  assert_int_equal(fputc(now, file), now);
  assert_int_equal(fclose(file), 0);
  return first;
}

// Every raw file: every other one is changed by a byte, and the rest are removed.
static void test_every_raw_file_counts(void **state) {
  (void)state;
  struct tg_error err;
  char raw[256];
  char aside[256];
  const char *name;
  json_t *value;
  bool remove = false;
  (void)snprintf(raw, sizeof(raw), "%s/raw", tg_forged.out);
  (void)snprintf(aside, sizeof(aside), "%s/aside", tg_forged.repository.folder);
  json_t *files = tg_folder_hash(raw, &err);
  assert_true(json_object_size(files) > 15);
  json_object_foreach(files, name, value) {
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", raw, name);
    remove = !remove;
    if (remove) {
      assert_int_equal(rename(path, aside), 0);
      tg_forge_assert_differs("is missing");
      assert_int_equal(rename(aside, path), 0);
    } else {
      int first = change_first(path, -1);
      tg_forge_assert_differs("is not the file that was certified");
      (void)change_first(path, first);
    }
  }
  json_decref(files);
  tg_forge_assert_agrees();
  (void)snprintf(raw, sizeof(raw), "%s/raw/gates/more", tg_forged.out);
  FILE *file = fopen(raw, "we");
  assert_non_null(file);
  assert_int_equal(fclose(file), 0);
  tg_forge_assert_differs("more: is not among the certified files");
}

// Forged with hashes made again: the raw file, a key in it, and what is said.
static void forge(const char *part, const char *file, const char *key, json_t *value, const char *says) {
  char name[256];
  (void)snprintf(name, sizeof(name), "raw/%s/%s", part, file);
  json_t *whole = tg_forge_load(name);
  json_t *edited = json_deep_copy(whole);
  assert_int_equal(json_object_set_new(edited, key, value), 0);
  tg_forge_save(name, edited);
  tg_forge_hash_again(part);
  tg_forge_assert_differs(says);
  tg_forge_save(name, whole);
  tg_forge_hash_again(part);
}

static void test_forged_raw_files_differ(void **state) {
  (void)state;
  forge("gates", "report.json", "enforced", json_false(), "");
  forge("gates", "report.json", "readable", json_false(), "");
  forge("exact", "exact.json", "passed", json_integer(1000), "is not what its figures come to");
  forge("fuzz", "bytes-afl.json", "executions", json_integer(1), "fuzz: says");
  forge("fuzz", "bytes-afl.json", "target", json_string("schedule"), "is about schedule with afl");
  forge("fuzz", "bytes-afl.json", "elapsed_s", json_real(1), "too short for this certificate's minutes");
  forge("faults", "records/late.json", "caught", json_false(), "faults: says pass, its raw files come to fail");
  forge("faults", "records/late.json", "fault", json_string("early"), "is the record of early");
  forge("release", "tests.json", "tests", json_array(), "release: says pass, its raw files come to fail");
  forge("release", "tests.json", "asked", json_pack("[s]", "//a:a"), "is not among those asked for");
  forge("build", "plan.json", "unplanned", json_pack("[s]", "//a:a"), "build: says pass, its raw files come to fail");
  forge("build", "build.json", "exit_status", json_integer(1), "build: says pass, its raw files come to fail");
}

static void test_verdicts_of_what_went_wrong(void **state) {
  (void)state;
  static const struct {
    struct tg_synthetic_options options;
    enum tg_outcome verdict;
    const char *part;
    const char *message;
  } cases[] = {
      {{.with_baseline = false}, TG_OUTCOME_UNENFORCED, "baseline", "NOT ENFORCED: no baseline for the host quiet-1"},
      {{.with_baseline = false}, TG_OUTCOME_UNENFORCED, "exact", "3 not enforced"},
      {{.with_baseline = true, .slower = true}, TG_OUTCOME_FAIL, "baseline", " worse, "},
      {{.with_baseline = true, .worse = 100}, TG_OUTCOME_FAIL, "gates", " failed"},
      {{.with_baseline = true, .failing_test = true}, TG_OUTCOME_FAIL, "release", "0 of 1 tests passed"},
      {{.with_baseline = true, .finding = true}, TG_OUTCOME_FAIL, "fuzz", "1 finding"},
      {{.with_baseline = true, .fault_missed = true}, TG_OUTCOME_FAIL, "faults", "caught 1 of 2"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    tg_forge_make(&cases[i].options, cases[i].verdict);
    json_t *certificate = tg_forge_load(TG_CERTIFICATE_FILE);
    const json_t *attempt = tg_forge_attempt(certificate, cases[i].part);
    assert_string_equal(json_string_value(json_object_get(attempt, "verdict")), tg_outcome_name(cases[i].verdict));
    const char *message = json_string_value(json_object_get(attempt, "message"));
    if (strstr(message, cases[i].message) == NULL) {
      fail_msg("\"%s\" is not in \"%s\"", cases[i].message, message);
    }
    json_decref(certificate);
    tg_forge_assert_agrees();
    tg_synthetic_remove(&tg_forged);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_an_edited_certificate_differs, tg_forge_make_passing, tg_forge_remove),
      cmocka_unit_test_setup_teardown(test_a_missing_part_differs, tg_forge_make_passing, tg_forge_remove),
      cmocka_unit_test_setup_teardown(test_every_raw_file_counts, tg_forge_make_passing, tg_forge_remove),
      cmocka_unit_test_setup_teardown(test_forged_raw_files_differ, tg_forge_make_passing, tg_forge_remove),
      cmocka_unit_test(test_verdicts_of_what_went_wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

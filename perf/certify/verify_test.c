// Verification of a whole certificate: as it was made it agrees, and whatever is changed in it does not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/certify/certificate.h"
#include "perf/certify/folder.h"
#include "perf/certify/page.h"
#include "perf/certify/testing/synthetic.h"
#include "perf/certify/verify.h"
#include "perf/host/provenance.h"
#include "perf/manifest/strict_json.h"

static struct tg_synthetic synthetic;
static char said[65536];

// The number of differences; what was said of them is in `said`.
static size_t verify(void) {
  struct tg_verified verified;
  FILE *out = fmemopen(said, sizeof(said), "w");
  assert_non_null(out);
  tg_verify(&verified, synthetic.out, synthetic.repository.tree, synthetic.parts, synthetic.num_parts, out);
  (void)fclose(out);
  return verified.differences;
}

static void assert_differs(const char *says) {
  if (verify() == 0) {
    fail_msg("it verifies, and should say \"%s\"", says);
  }
  if (strstr(said, says) == NULL) {
    fail_msg("\"%s\" is not in:\n%s", says, said);
  }
}

static void assert_agrees(void) {
  if (verify() != 0) {
    fail_msg("%s", said);
  }
}

static json_t *load(const char *name) {
  char path[256];
  struct tg_error err;
  (void)snprintf(path, sizeof(path), "%s/%s", synthetic.out, name);
  json_t *value = tg_json_load(path, &err);
  if (value == NULL) {
    fail_msg("%s", err.text);
  }
  return value;
}

// Takes the value over.
static void save(const char *name, json_t *value) {
  char path[256];
  (void)snprintf(path, sizeof(path), "%s/%s", synthetic.out, name);
  assert_int_equal(json_dump_file(value, path, JSON_REAL_PRECISION(17)), 0);
  json_decref(value);
}

static json_t *attempt_of(json_t *certificate, const char *part) {
  size_t index = tg_part_index(synthetic.parts, synthetic.num_parts, part);
  return json_array_get(tg_certificate_attempts(certificate, index), 0);
}

// What a forger does after changing a raw file: hashes agree again.
static void hash_again(const char *part) {
  char folder[256];
  struct tg_error err;
  json_t *certificate = load(TG_CERTIFICATE_FILE);
  (void)snprintf(folder, sizeof(folder), "%s/raw/%s", synthetic.out, part);
  json_t *files = tg_folder_hash(folder, &err);
  assert_non_null(files);
  assert_int_equal(json_object_set_new(attempt_of(certificate, part), "files", files), 0);
  save(TG_CERTIFICATE_FILE, certificate);
}

static void make(struct tg_synthetic_options options, enum tg_outcome verdict) {
  tg_synthetic_make(&synthetic, &options);
  json_t *value = tg_synthetic_certify(&synthetic);
  if (strcmp(json_string_value(json_object_get(value, "verdict")), tg_outcome_name(verdict)) != 0) {
    for (size_t i = 0; i < synthetic.num_parts; i++) {
      const json_t *attempt = json_array_get(tg_certificate_attempts(value, i), 0);
      print_message("%s: %s: %s\n", synthetic.parts[i].name, json_string_value(json_object_get(attempt, "verdict")),
                    json_string_value(json_object_get(attempt, "message")));
    }
    fail_msg("the verdict is not %s", tg_outcome_name(verdict));
  }
  json_decref(value);
}

static int make_passing(void **state) {
  (void)state;
  make((struct tg_synthetic_options){.with_baseline = true}, TG_OUTCOME_PASS);
  return 0;
}

static int remove_it(void **state) {
  (void)state;
  tg_synthetic_remove(&synthetic);
  return 0;
}

static void test_an_untouched_certificate_agrees(void **state) {
  (void)state;
  assert_agrees();
  assert_non_null(strstr(said, "agrees   gates: pass"));
  assert_non_null(strstr(said, "agrees   baseline: pass"));
  assert_non_null(strstr(said, "agrees   certificate.html"));
}

static json_t *sample_of(json_t *samples, const char *metric, size_t index) {
  return json_array_get(json_object_get(json_object_get(samples, "metrics"), metric), index);
}

static void test_a_flipped_sample_differs(void **state) {
  (void)state;
  json_t *samples = load("raw/gates/samples.json");
  json_t *sample = sample_of(samples, "tls_rtt_p50_ms", 3);
  assert_int_equal(json_object_set_new(sample, "value", json_real(0.25)), 0);
  save("raw/gates/samples.json", samples);
  assert_differs("samples.json: is not the file that was certified");
}

static void test_flipped_samples_differ_with_hashes_made_again(void **state) {
  (void)state;
  json_t *samples = load("raw/gates/samples.json");
  for (size_t i = 0; i < 12; i++) {
    json_t *sample = sample_of(samples, "tls_rtt_p50_ms", i);
    assert_int_equal(json_object_set_new(sample, "value", json_real(43)), 0);
  }
  save("raw/gates/samples.json", samples);
  hash_again("gates");
  assert_differs("the status of tls_rtt_p50_ms is not what samples.json comes to");
}

static void test_a_missing_row_of_samples_differs(void **state) {
  (void)state;
  json_t *samples = load("raw/gates/samples.json");
  assert_int_equal(json_object_del(json_object_get(samples, "metrics"), "https_big_cpu_us"), 0);
  save("raw/gates/samples.json", samples);
  hash_again("gates");
  assert_differs("of https_big_");
}

static void test_samples_of_another_run_differ(void **state) {
  (void)state;
  json_t *samples = load("raw/gates/samples.json");
  assert_int_equal(json_object_set_new(samples, "run", json_string("00000000000000000000000000000000")), 0);
  save("raw/gates/samples.json", samples);
  hash_again("gates");
  assert_differs("but the report is that of run");
}

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
  json_t *whole = load(TG_CERTIFICATE_FILE);
  for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
    json_t *edited = json_deep_copy(whole);
    json_t *at = edits[i].part != NULL ? attempt_of(edited, edits[i].part) : edited;
    if (edits[i].value != NULL) {
      assert_int_equal(json_object_set_new(at, edits[i].key, json_loads(edits[i].value, JSON_DECODE_ANY, NULL)), 0);
    } else {
      assert_int_equal(json_object_del(at, edits[i].key), 0);
    }
    save(TG_CERTIFICATE_FILE, edited);
    assert_differs(edits[i].says);
  }
  save(TG_CERTIFICATE_FILE, whole);
  assert_agrees();
}

static void test_a_missing_part_differs(void **state) {
  (void)state;
  json_t *whole = load(TG_CERTIFICATE_FILE);
  for (size_t i = 0; i < synthetic.num_parts; i++) {
    json_t *edited = json_deep_copy(whole);
    assert_int_equal(json_array_remove(json_object_get(edited, "parts"), i), 0);
    save(TG_CERTIFICATE_FILE, edited);
    assert_differs("parts: must be");
    // And an attempt that is not there.
    edited = json_deep_copy(whole);
    assert_int_equal(json_array_clear(tg_certificate_attempts(edited, i)), 0);
    save(TG_CERTIFICATE_FILE, edited);
    assert_differs("attempts: must be 1 to");
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
  (void)snprintf(raw, sizeof(raw), "%s/raw", synthetic.out);
  (void)snprintf(aside, sizeof(aside), "%s/aside", synthetic.repository.folder);
  json_t *files = tg_folder_hash(raw, &err);
  assert_true(json_object_size(files) > 15);
  json_object_foreach(files, name, value) {
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", raw, name);
    remove = !remove;
    if (remove) {
      assert_int_equal(rename(path, aside), 0);
      assert_differs("is missing");
      assert_int_equal(rename(aside, path), 0);
    } else {
      int first = change_first(path, -1);
      assert_differs("is not the file that was certified");
      (void)change_first(path, first);
    }
  }
  json_decref(files);
  assert_agrees();
  (void)snprintf(raw, sizeof(raw), "%s/raw/gates/more", synthetic.out);
  FILE *file = fopen(raw, "we");
  assert_non_null(file);
  assert_int_equal(fclose(file), 0);
  assert_differs("more: is not among the certified files");
}

static void test_an_edited_page_differs(void **state) {
  (void)state;
  char path[256];
  (void)snprintf(path, sizeof(path), "%s/" TG_PAGE_FILE, synthetic.out);
  FILE *file = fopen(path, "ae");
  assert_non_null(file);
  assert_true(fputs("<p>PASS</p>", file) >= 0);
  assert_int_equal(fclose(file), 0);
  assert_differs("is not the page that was written with the certificate");
}

// Forged with hashes made again: the raw file, a key in it, and what is said.
static void forge(const char *part, const char *file, const char *key, json_t *value, const char *says) {
  char name[256];
  (void)snprintf(name, sizeof(name), "raw/%s/%s", part, file);
  json_t *whole = load(name);
  json_t *edited = json_deep_copy(whole);
  assert_int_equal(json_object_set_new(edited, key, value), 0);
  save(name, edited);
  hash_again(part);
  assert_differs(says);
  save(name, whole);
  hash_again(part);
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
    make(cases[i].options, cases[i].verdict);
    json_t *certificate = load(TG_CERTIFICATE_FILE);
    const json_t *attempt = attempt_of(certificate, cases[i].part);
    assert_string_equal(json_string_value(json_object_get(attempt, "verdict")), tg_outcome_name(cases[i].verdict));
    const char *message = json_string_value(json_object_get(attempt, "message"));
    if (strstr(message, cases[i].message) == NULL) {
      fail_msg("\"%s\" is not in \"%s\"", cases[i].message, message);
    }
    json_decref(certificate);
    assert_agrees();
    tg_synthetic_remove(&synthetic);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_an_untouched_certificate_agrees, make_passing, remove_it),
      cmocka_unit_test_setup_teardown(test_a_flipped_sample_differs, make_passing, remove_it),
      cmocka_unit_test_setup_teardown(test_flipped_samples_differ_with_hashes_made_again, make_passing, remove_it),
      cmocka_unit_test_setup_teardown(test_a_missing_row_of_samples_differs, make_passing, remove_it),
      cmocka_unit_test_setup_teardown(test_samples_of_another_run_differ, make_passing, remove_it),
      cmocka_unit_test_setup_teardown(test_an_edited_certificate_differs, make_passing, remove_it),
      cmocka_unit_test_setup_teardown(test_a_missing_part_differs, make_passing, remove_it),
      cmocka_unit_test_setup_teardown(test_every_raw_file_counts, make_passing, remove_it),
      cmocka_unit_test_setup_teardown(test_an_edited_page_differs, make_passing, remove_it),
      cmocka_unit_test_setup_teardown(test_forged_raw_files_differ, make_passing, remove_it),
      cmocka_unit_test(test_verdicts_of_what_went_wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

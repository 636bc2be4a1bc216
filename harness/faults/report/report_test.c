#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/client/json_file.h"
#include "harness/faults/report/docs.h"
#include "harness/faults/report/score.h"
#include "harness/faults/runner/record.h"

static void temporary(char out[64]) {
  (void)snprintf(out, 64, "/tmp/tlsgate-report-XXXXXX");
  int fd = mkstemp(out);
  assert_true(fd >= 0);
  close(fd);
}

static void write_record(const char *file, const char *fault, bool caught) {
  struct tg_error err;
  struct tg_fault_record record = {.caught = caught, .said = "P5", .how = "corpus", .executions = 3, .check = "c"};
  (void)snprintf(record.fault, sizeof(record.fault), "%s", fault);
  assert_true(tg_json_write(tg_fault_record_encode(&record), file, &err));
}

static void write_catalogue(const char *file) {
  struct tg_error err;
  json_t *json = json_pack("{s:i, s:[{s:s, s:s, s:s, s:s, s:s, s:b, s:[s], s:[s], s:[{s:s, s:i, s:s}]}]}", "schema", 1,
                           "faults", "name", "f", "kind", "k", "breaks", "It breaks", "input", "An input", "check", "c",
                           "without_own_regression", 1, "caught_by", "P5", "sources", "accept/conn.c", "reports",
                           "project", "o/p", "number", 7, "title", "T");
  assert_non_null(json);
  assert_true(tg_json_write(json, file, &err));
}

static void test_score(void **state) {
  (void)state;
  struct tg_error err;
  char files[2][64];
  temporary(files[0]);
  temporary(files[1]);
  const char *both[] = {files[0], files[1]};
  write_record(files[0], "f", true);
  write_record(files[1], "g", true);
  assert_true(tg_fault_score(both, 2, &err));
  write_record(files[1], "g", false);
  assert_false(tg_fault_score(both, 2, &err));
  assert_non_null(strstr(err.text, "1 of 2"));
  unlink(files[0]);
  unlink(files[1]);
}

static void write_page(const char *page, const char *catalogue_file, const char *record, bool expected) {
  struct tg_error err = {""};
  struct tg_catalogue *catalogue = tg_catalogue_load(catalogue_file, &err);
  assert_non_null(catalogue);
  FILE *out = fopen(page, "w");
  assert_non_null(out);
  assert_int_equal(tg_fault_docs_write(catalogue, &record, 1, out, &err), expected);
  assert_int_equal(fclose(out), 0);
  tg_catalogue_free(catalogue);
}

static void test_page(void **state) {
  (void)state;
  struct tg_error err;
  char catalogue[64];
  char record[64];
  char pages[2][64];
  temporary(catalogue);
  temporary(record);
  temporary(pages[0]);
  temporary(pages[1]);
  write_catalogue(catalogue);
  write_record(record, "f", true);
  write_page(pages[0], catalogue, record, true);
  // Executions may differ, and nothing else.
  struct tg_fault_record other = {
      .fault = "f", .check = "c", .caught = true, .said = "P5", .how = "fuzzing", .executions = 99};
  assert_true(tg_json_write(tg_fault_record_encode(&other), record, &err));
  write_page(pages[1], catalogue, record, true);
  assert_true(tg_fault_docs_same(pages[0], pages[1], &err));
  FILE *out = fopen(pages[1], "a");
  assert_non_null(out);
  assert_true(fputs("more\n", out) >= 0);
  assert_int_equal(fclose(out), 0);
  assert_false(tg_fault_docs_same(pages[0], pages[1], &err));
  // A fault without a record is an error, not a gap.
  write_record(record, "another", true);
  write_page(pages[1], catalogue, record, false);
  unlink(catalogue);
  unlink(record);
  unlink(pages[0]);
  unlink(pages[1]);
}

static void test_catalogue_is_read_strictly(void **state) {
  (void)state;
  struct tg_error err;
  char file[64];
  temporary(file);
  assert_true(tg_json_write(json_pack("{s:i, s:[{s:s}]}", "schema", 1, "faults", "name", "f"), file, &err));
  assert_null(tg_catalogue_load(file, &err));
  assert_non_null(strstr(err.text, "kind"));
  unlink(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_score),
      cmocka_unit_test(test_page),
      cmocka_unit_test(test_catalogue_is_read_strictly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

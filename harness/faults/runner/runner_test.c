#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/client/json_file.h"
#include "harness/faults/runner/finding.h"
#include "harness/faults/runner/record.h"
#include "harness/faults/runner/run.h"

static void assert_said(const char *output, const char *expected) {
  struct tg_finding finding;
  assert_true(tg_finding_first(output, &finding));
  assert_string_equal(finding.name, expected);
}

static void test_what_programs_say(void **state) {
  (void)state;
  struct tg_finding finding;
  assert_said(
      "noise\nproperty P5 broken at +0.08 s, client 0, phase OPEN: waited\n==1== ERROR: libFuzzer: deadly signal\n",
      "P5");
  assert_said("==7==ERROR: AddressSanitizer: heap-use-after-free on address\n", "P1");
  assert_said("==7==ERROR: LeakSanitizer: detected memory leaks\n", "P1");
  assert_said("a.c:3:4: runtime error: index 5 out of bounds\n", "P1");
  assert_said("x: a.c:12: int f(void): Assertion `a == b' failed.\n", "assertion");
  assert_said("[  ERROR   ] --- 1 != 2\n[  FAILED  ] test_it\n[  FAILED  ] 1 test(s), listed below:\n", "test_it");
  assert_said("==9== ERROR: libFuzzer: timeout after 60 seconds\n", "timeout");
  assert_said("==9== ERROR: libFuzzer: deadly signal\nproperty P1 broken\n", "signal");
  // What comes first counts, whatever it is.
  assert_said("runtime error: x\nproperty P2 broken at\n", "P1");
  assert_false(tg_finding_first("", &finding));
  assert_false(tg_finding_first("all properties hold\nproperty P5 is checked\n[  FAILED  ] 2 test(s)\n", &finding));
  // A record is UTF-8, whatever a program prints.
  assert_true(tg_finding_first("\x1b\xff property P3 broken at\n", &finding));
  assert_string_equal(finding.line, "?? property P3 broken at");
}

static void test_counting_replays(void **state) {
  (void)state;
  const char *output = "INFO: x\nRunning: a/1\nExecuted a/1 in 1 ms\nRunning: a/2\nboom\n";
  char last[32];
  assert_int_equal(tg_finding_count(output, "Running: "), 2);
  assert_true(tg_finding_last_line(output, "Running: ", last, sizeof(last)));
  assert_string_equal(last, "a/2");
  assert_false(tg_finding_last_line(output, "stat::", last, sizeof(last)));
}

// A program for the plans below: a shell script.
static void write_script(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fprintf(file, "#!/bin/sh\n%s\n", text) > 0);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(chmod(path, 0700), 0);
}

struct scene {
  char folder[64];
  char patched[96];
  char clean[96];
  char seed[96];
  char plan[96];
};

static void set_up(struct scene *scene, const char *patched, const char *clean) {
  (void)snprintf(scene->folder, sizeof(scene->folder), "/tmp/tlsgate-runner-XXXXXX");
  assert_non_null(mkdtemp(scene->folder));
  (void)snprintf(scene->patched, sizeof(scene->patched), "%s/patched", scene->folder);
  (void)snprintf(scene->clean, sizeof(scene->clean), "%s/clean", scene->folder);
  (void)snprintf(scene->seed, sizeof(scene->seed), "%s/seed", scene->folder);
  (void)snprintf(scene->plan, sizeof(scene->plan), "%s/plan", scene->folder);
  write_script(scene->patched, patched);
  write_script(scene->clean, clean);
  write_script(scene->seed, "");
}

static void tear_down(struct scene *scene) {
  unlink(scene->patched);
  unlink(scene->clean);
  unlink(scene->seed);
  unlink(scene->plan);
  assert_int_equal(rmdir(scene->folder), 0);
}

static struct tg_fault_record run_plan(struct scene *scene, int runs) {
  struct tg_error err = {""};
  struct tg_fault_plan plan;
  struct tg_fault_record record;
  json_t *json = json_pack("{s:i, s:s, s:s, s:[s], s:{s:s, s:[]}, s:{s:s, s:[]}, s:i, s:i, s:o}", "schema", 1, "fault",
                           "f", "check", "c", "caught_by", "P5", "patched", "path", scene->patched, "arguments",
                           "clean", "path", scene->clean, "arguments", "runs", runs, "max_len", 100, "corpus",
                           runs > 0 ? json_pack("[s]", scene->seed) : json_array());
  assert_non_null(json);
  assert_true(tg_json_write(json, scene->plan, &err));
  assert_true(tg_fault_plan_load(scene->plan, &plan, &err));
  assert_true(tg_fault_run(&plan, &record, &err));
  tg_fault_plan_free(&plan);
  return record;
}

#define SAYS_P5 "echo 'property P5 broken at +1 s' >&2; exit 77"

static void test_a_test_catches(void **state) {
  (void)state;
  struct scene scene;
  set_up(&scene, SAYS_P5, "exit 0");
  struct tg_fault_record record = run_plan(&scene, 0);
  assert_true(record.caught);
  assert_string_equal(record.said, "P5");
  assert_string_equal(record.how, "test");
  assert_int_equal(record.executions, 1);
  tear_down(&scene);
}

static void test_another_property_does_not_count(void **state) {
  (void)state;
  struct scene scene;
  set_up(&scene, "echo 'property P3 broken at +1 s' >&2; exit 77", "exit 0");
  struct tg_fault_record record = run_plan(&scene, 0);
  assert_false(record.caught);
  assert_string_equal(record.said, "P3");
  tear_down(&scene);
}

static void test_silence_is_not_caught(void **state) {
  (void)state;
  struct scene scene;
  // It says so, but passes.
  set_up(&scene, "echo 'property P5 broken at +1 s' >&2", "exit 0");
  struct tg_fault_record record = run_plan(&scene, 0);
  assert_false(record.caught);
  assert_string_equal(record.said, "");
  tear_down(&scene);
}

static void test_the_unpatched_build_must_pass(void **state) {
  (void)state;
  struct scene scene;
  set_up(&scene, SAYS_P5, SAYS_P5);
  struct tg_fault_record record = run_plan(&scene, 0);
  assert_false(record.caught);
  assert_non_null(strstr(record.line, "the unpatched build fails"));
  tear_down(&scene);
}

static void test_the_corpus_comes_before_fuzzing(void **state) {
  (void)state;
  struct scene scene;
  set_up(&scene, "case \"$*\" in *-runs=1\\ *) echo \"Running: seed\" >&2; " SAYS_P5 ";; esac", "exit 0");
  struct tg_fault_record record = run_plan(&scene, 50);
  assert_true(record.caught);
  assert_string_equal(record.how, "corpus");
  assert_string_equal(record.input, "seed");
  assert_int_equal(record.executions, 1);
  tear_down(&scene);
}

static void test_fuzzing_comes_after_the_corpus(void **state) {
  (void)state;
  struct scene scene;
  set_up(&scene,
         "case \"$*\" in *-runs=50\\ *) echo 'stat::number_of_executed_units: 30' >&2; " SAYS_P5
         ";; *) echo \"Running: seed\" >&2;; esac",
         "exit 0");
  struct tg_fault_record record = run_plan(&scene, 50);
  assert_true(record.caught);
  assert_string_equal(record.how, "fuzzing");
  assert_int_equal(record.executions, 31);
  tear_down(&scene);
}

static void test_records_are_read_as_written(void **state) {
  (void)state;
  struct tg_error err;
  struct tg_fault_record read;
  struct tg_fault_record record = {.fault = "f",
                                   .check = "c",
                                   .caught = true,
                                   .said = "P5",
                                   .how = "corpus",
                                   .executions = 12,
                                   .seconds = 0.5,
                                   .input = "",
                                   .line = "property P5 broken"};
  char file[] = "/tmp/tlsgate-record-XXXXXX";
  int fd = mkstemp(file);
  assert_true(fd >= 0);
  close(fd);
  assert_true(tg_json_write(tg_fault_record_encode(&record), file, &err));
  assert_true(tg_fault_record_load(file, &read, &err));
  assert_memory_equal(&read.fault, &record.fault, sizeof(read.fault));
  assert_string_equal(read.line, record.line);
  assert_int_equal(read.executions, 12);
  assert_true(read.caught);
  write_script(file, "");
  assert_false(tg_fault_record_load(file, &read, &err));
  unlink(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_programs_say),
      cmocka_unit_test(test_counting_replays),
      cmocka_unit_test(test_a_test_catches),
      cmocka_unit_test(test_another_property_does_not_count),
      cmocka_unit_test(test_silence_is_not_caught),
      cmocka_unit_test(test_the_unpatched_build_must_pass),
      cmocka_unit_test(test_the_corpus_comes_before_fuzzing),
      cmocka_unit_test(test_fuzzing_comes_after_the_corpus),
      cmocka_unit_test(test_records_are_read_as_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

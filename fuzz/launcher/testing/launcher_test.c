// The launcher, on targets with planted faults: engines find them, and what it says and keeps is right.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fuzz/launcher/summary.h"
#include "perf/process/child.h"

static const char *planted;
static const char *unseeded;
static const char *shallow;
static const char *planted_msan;

// Of the launcher's own folders and the engines' start.
#define LIMIT_S 240.0

static char folder[64];

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/launcher-test-XXXXXX");
  return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
  (void)state;
  const char *const argv[] = {"/bin/rm", "-r", folder, NULL};
  struct tg_child_result result;
  if (!tg_child_run(argv, 10, &result, NULL)) {
    return 1;
  }
  tg_child_result_free(&result);
  return 0;
}

static struct tg_child_result run(const char *const argv[]) {
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, LIMIT_S, &result, &err)) {
    fail_msg("%s", err.text);
  }
  return result;
}

static void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) {
    fail_msg("\"%s\" is not in:\n%s", part, text);
  }
}

// The input that a "FINDING" names.
static void finding_path(const char *text, char out[512]) {
  static const char kMark[] = "  input:  ";
  const char *mark = strstr(text, kMark);
  assert_non_null(mark);
  snprintf(out, 512, "%s", mark + strlen(kMark));
  out[strcspn(out, "\n")] = '\0';
}

static void finds_and_replays(const char *engine) {
  char corpus[128];
  char summary_path[128];
  snprintf(corpus, sizeof(corpus), "%s/%s", folder, engine);
  snprintf(summary_path, sizeof(summary_path), "%s/%s.json", folder, engine);
  const char *const fuzz[] = {planted,        "--engine", engine,      "--timeout_secs", "100",
                              "--corpus_dir", corpus,     "--summary", summary_path,     NULL};
  struct tg_child_result result = run(fuzz);
  assert_int_equal(result.exit_status, 1);
  assert_has(result.out, "FINDING planted: P5: the planted property is broken\n");
  char input[512];
  finding_path(result.out, input);
  char command[600];
  snprintf(command, sizeof(command), "  replay: bazel run //fuzz/launcher/testing:planted_run -- --regression %s\n",
           input);
  assert_has(result.out, command);
  // It is kept beside the corpus.
  assert_int_equal(strncmp(input, folder, strlen(folder)), 0);
  struct tg_fuzz_summary summary;
  struct tg_error err;
  if (!tg_fuzz_summary_load(summary_path, &summary, &err)) {
    fail_msg("%s", err.text);
  }
  assert_string_equal(summary.target, "planted");
  assert_string_equal(summary.engine, engine);
  assert_int_equal(summary.asked_s, 100);
  assert_true(summary.executions > 0 && summary.edges > 0);
  assert_true(summary.has_finding);
  assert_string_equal(summary.finding, strrchr(input, '/') + 1);
  tg_child_result_free(&result);

  const char *const replay[] = {planted, "--regression", input, NULL};
  result = run(replay);
  assert_int_equal(result.exit_status, 1);
  assert_has(result.out, "FINDING planted: P5: the planted property is broken\n");
  tg_child_result_free(&result);
}

static void test_libfuzzer_finds_what_is_planted(void **state) {
  (void)state;
  finds_and_replays("libfuzzer");
}

static void test_afl_finds_what_is_planted(void **state) {
  (void)state;
  finds_and_replays("afl");
}

static void write_input(const char *name, const char *text, char out[128]) {
  snprintf(out, 128, "%s/%s", folder, name);
  FILE *file = fopen(out, "we");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void test_a_replay_without_a_finding_passes(void **state) {
  (void)state;
  char input[128];
  write_input("harmless", "BUZ", input);
  const char *const argv[] = {planted, "--regression", input, NULL};
  struct tg_child_result result = run(argv);
  assert_int_equal(result.exit_status, 0);
  assert_has(result.out, "planted: 1 inputs replayed, no finding\n");
  tg_child_result_free(&result);
}

static void test_a_leak_is_a_finding(void **state) {
  (void)state;
  char input[128];
  write_input("leak", "LEAK", input);
  const char *const argv[] = {planted, "--regression", input, NULL};
  struct tg_child_result result = run(argv);
  assert_int_equal(result.exit_status, 1);
  assert_has(result.out, "ERROR: LeakSanitizer: detected memory leaks");
  tg_child_result_free(&result);
}

static void test_memory_that_was_never_written_is_a_finding(void **state) {
  (void)state;
  char input[128];
  write_input("unset", "UNSET", input);
  // Not for the other sanitizers.
  const char *const elsewhere[] = {planted, "--regression", input, NULL};
  struct tg_child_result result = run(elsewhere);
  assert_int_equal(result.exit_status, 0);
  tg_child_result_free(&result);
  const char *const argv[] = {planted_msan, "--regression", input, NULL};
  result = run(argv);
  assert_int_equal(result.exit_status, 1);
  assert_has(result.out, "WARNING: MemorySanitizer: use-of-uninitialized-value\n");
  char command[256];
  snprintf(command, sizeof(command), "  replay: bazel run //fuzz/launcher/testing:planted_msan -- %s\n", input);
  assert_has(result.out, command);
  tg_child_result_free(&result);
}

static void test_a_program_that_replays_does_not_fuzz(void **state) {
  (void)state;
  static const char *const kModes[] = {"--test", "--timeout_secs=1"};
  for (size_t i = 0; i < sizeof(kModes) / sizeof(kModes[0]); i++) {
    const char *const argv[] = {planted_msan, kModes[i], NULL};
    struct tg_child_result result = run(argv);
    assert_int_equal(result.exit_status, 2);
    assert_has(result.err, "it only replays (--regression); planted_run fuzzes");
    tg_child_result_free(&result);
  }
}

static void test_the_finding_is_the_input_that_broke(void **state) {
  (void)state;
  char corpus[128];
  snprintf(corpus, sizeof(corpus), "%s/many", folder);
  const char *const mkdir[] = {"/bin/mkdir", corpus, NULL};
  struct tg_child_result result = run(mkdir);
  tg_child_result_free(&result);
  char input[128];
  write_input("many/a", "BUZ", input);
  write_input("many/b", "BUG", input);
  write_input("many/c", "BUZZ", input);
  const char *const argv[] = {planted, "--regression", "--corpus_dir", corpus, NULL};
  result = run(argv);
  assert_int_equal(result.exit_status, 1);
  char found[512];
  finding_path(result.out, found);
  snprintf(input, sizeof(input), "%s/many/b", folder);
  assert_string_equal(found, input);
  tg_child_result_free(&result);
}

static void test_no_seed_is_no_pass(void **state) {
  (void)state;
  static const char *const kModes[][3] = {
      {"--regression", NULL, NULL}, {"--test", "--engine", "libfuzzer"}, {"--test", "--engine", "afl"}};
  for (size_t i = 0; i < sizeof(kModes) / sizeof(kModes[0]); i++) {
    const char *const argv[] = {unseeded, kModes[i][0], kModes[i][1], kModes[i][2], NULL};
    struct tg_child_result result = run(argv);
    assert_int_equal(result.exit_status, 2);
    assert_has(result.err, "unseeded has no seed: put at least one input into fuzz/launcher/testing/none/");
    tg_child_result_free(&result);
  }
}

static void test_floors_are_held(void **state) {
  (void)state;
  static const char *const kEngines[] = {"libfuzzer", "afl"};
  for (size_t i = 0; i < 2; i++) {
    const char *const argv[] = {shallow, "--test", "--engine", kEngines[i], NULL};
    struct tg_child_result result = run(argv);
    assert_int_equal(result.exit_status, 1);
    assert_has(result.err, "below the floor of 100 executions and 1000 edges");
    tg_child_result_free(&result);
  }
}

static void test_bad_options_name_themselves(void **state) {
  (void)state;
  static const struct {
    const char *argument;
    const char *value;
    const char *says;
  } kCases[] = {
      {"--engine", "honggfuzz", "--engine: \"honggfuzz\" is neither libfuzzer nor afl"},
      {"--timeout_secs", "0", "--timeout_secs: \"0\" is not a whole number from 1 to"},
      {"--timeout_secs", "1x", "--timeout_secs: \"1x\" is not a whole number from 1 to"},
      {"--corpus_dir=", NULL, "--corpus_dir: takes a folder"},
      {"--nothing", NULL, "--nothing is unknown"},
      {"--regression", "--summary=file", "--summary: only a run that fuzzes has one"},
      {"file", NULL, "file: files are only taken with --regression"},
  };
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); i++) {
    const char *const argv[] = {planted, kCases[i].argument, kCases[i].value, NULL};
    struct tg_child_result result = run(argv);
    assert_int_equal(result.exit_status, 2);
    assert_has(result.err, kCases[i].says);
    tg_child_result_free(&result);
  }
  const char *const argv[] = {planted, "--regression", "/nonexistent/input", NULL};
  struct tg_child_result result = run(argv);
  assert_int_equal(result.exit_status, 2);
  assert_has(result.err, "/nonexistent/input: cannot be read");
  tg_child_result_free(&result);
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: launcher_test PLANTED_RUN UNSEEDED_RUN SHALLOW_RUN PLANTED_MSAN\n");
    return 2;
  }
  planted = argv[1];
  unseeded = argv[2];
  shallow = argv[3];
  planted_msan = argv[4];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_libfuzzer_finds_what_is_planted),
      cmocka_unit_test(test_afl_finds_what_is_planted),
      cmocka_unit_test(test_a_replay_without_a_finding_passes),
      cmocka_unit_test(test_a_leak_is_a_finding),
      cmocka_unit_test(test_memory_that_was_never_written_is_a_finding),
      cmocka_unit_test(test_a_program_that_replays_does_not_fuzz),
      cmocka_unit_test(test_the_finding_is_the_input_that_broke),
      cmocka_unit_test(test_no_seed_is_no_pass),
      cmocka_unit_test(test_floors_are_held),
      cmocka_unit_test(test_bad_options_name_themselves),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

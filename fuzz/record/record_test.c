// The recorder: the committed seeds are what it records, it records the same every time, and it names differences.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/process/child.h"
#include "perf/process/runfiles.h"

#define LIMIT_S 120.0

static const char *record;
static char folder[64];

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/record-test-XXXXXX");
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

static void runs_to(const char *const argv[], int exit_status, const char *says) {
  struct tg_child_result result = run(argv);
  if (result.exit_status != exit_status || strstr(result.err, says) == NULL) {
    fail_msg("exit status %d:\n%s\n%s", result.exit_status, result.out, result.err);
  }
  tg_child_result_free(&result);
}

static void the_committed_seeds_are_those_of_the_exchanges(void **state) {
  (void)state;
  char corpora[PATH_MAX];
  struct tg_error err;
  if (!tg_runfile("corpora", corpora, &err)) {
    fail_msg("%s", err.text);
  }
  const char *const argv[] = {record, "--check", "--out", corpora, NULL};
  struct tg_child_result result = run(argv);
  if (result.exit_status != 0) {
    fail_msg("the corpora are not up to date, run `bazel run //fuzz:record`:\n%s", result.err);
  }
  tg_child_result_free(&result);
}

static void recording_twice_gives_the_same(void **state) {
  (void)state;
  const char *const write[] = {record, "--out", folder, NULL};
  const char *const check[] = {record, "--check", "--out", folder, NULL};
  runs_to(write, 0, "");
  runs_to(check, 0, "");
}

static void put(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void differences_are_named(void **state) {
  (void)state;
  const char *const check[] = {record, "--check", "--out", folder, NULL};
  char path[128];
  put("accept_schedule/stall", "x");
  runs_to(check, 1, "accept_schedule/stall: differs");
  snprintf(path, sizeof(path), "%s/accept_schedule/stall", folder);
  assert_int_equal(unlink(path), 0);
  runs_to(check, 1, "accept_schedule/stall: is not there");
  const char *const write[] = {record, "--out", folder, NULL};
  runs_to(write, 0, "");
  put("handshake_bytes/of_old", "x");
  runs_to(check, 1, "handshake_bytes/of_old: nothing records it any more");
}

static void usage_is_said(void **state) {
  (void)state;
  const char *const nowhere[] = {record, NULL};
  const char *const unknown[] = {record, "--no-such-option", NULL};
  const char *const more[] = {record, "--out", folder, "more", NULL};
  runs_to(nowhere, 2, "--out DIR");
  runs_to(unknown, 2, "usage: record");
  runs_to(more, 2, "usage: record");
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: record_test RECORD\n");
    return 2;
  }
  record = argv[1];
  unsetenv("BUILD_WORKSPACE_DIRECTORY");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_committed_seeds_are_those_of_the_exchanges),
      cmocka_unit_test(recording_twice_gives_the_same),
      cmocka_unit_test(differences_are_named),
      cmocka_unit_test(usage_is_said),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

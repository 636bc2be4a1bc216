// MemorySanitizer can fail: a read of memory that nobody has written, planted in the accept path
// (patches/conn_not_zeroed.patch), is reported with where it was allocated, and the path as it is has none.
// usage: planted_test PATCHED CLEAN INPUT...
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "perf/process/child.h"

#define LIMIT_S 60.0

static const char *patched;
static const char *clean;
static const char *input;

static struct tg_child_result run(const char *program) {
  const char *const argv[] = {program, input, NULL};
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, LIMIT_S, &result, &err)) {
    fail_msg("%s", err.text);
  }
  return result;
}

static void assert_says(const struct tg_child_result *result, const char *part) {
  if (strstr(result->err, part) == NULL) {
    fail_msg("exit status %d, \"%s\" is not in:\n%s", result->exit_status, part, result->err);
  }
}

static void a_planted_read_is_reported(void **state) {
  (void)state;
  struct tg_child_result result = run(patched);
  assert_says(&result, "WARNING: MemorySanitizer: use-of-uninitialized-value");
  assert_says(&result, "Uninitialized value was created by a heap allocation");
  assert_int_not_equal(result.exit_status, 0);
  tg_child_result_free(&result);
}

static void the_path_as_it_is_passes(void **state) {
  (void)state;
  struct tg_child_result result = run(clean);
  assert_says(&result, "Running: ");
  assert_null(strstr(result.err, "MemorySanitizer"));
  assert_int_equal(result.exit_status, 0);
  tg_child_result_free(&result);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: planted_test PATCHED CLEAN INPUT...\n");
    return 2;
  }
  patched = argv[1];
  clean = argv[2];
  // Any will do: each makes a connection. One is enough, and which one does not change from run to run.
  input = argv[3];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_planted_read_is_reported),
      cmocka_unit_test(the_path_as_it_is_passes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// The exact gates of a run, with a script in place of the check: what it leaves, and each way in which it cannot run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/run/exact_check.h"

#define RESULT(verdict, passed, failed, now, row)                                                           \
  "echo '{\"schema\": 1, \"verdict\": \"" verdict                                                           \
  "\", \"baseline\": \"baselines/exact.json\", \"keys\": "                                                  \
  "{\"boringssl\": \"r\", \"compiler\": \"c\", \"cpu\": \"x\"}, \"cpu_native\": \"x\", \"passed\": " passed \
  ", \"failed\": " failed                                                                                   \
  ", \"not_enforced\": 0, \"disabled\": 0, \"unenforced\": [], \"rows\": [{\"section\": "                   \
  "\"calls\", \"scenario\": \"full\", \"name\": \"rearms\", \"now\": " now                                  \
  ", \"baseline\": 3, \"allowed\": 0, \"verdict\": \"" row "\"}]}' >\"$8/exact.json\"; "
#define PASSES RESULT("pass", "1", "0", "3", "pass")
#define FAILS  RESULT("fail", "0", "1", "4", "fail")

static char folder[256];
static struct tg_exact_check check;
static struct tg_run_failure failure;

static int set_up(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof(folder), "%s/check-XXXXXX", getenv("TEST_TMPDIR"));
  if (mkdtemp(folder) == NULL) {
    return -1;
  }
  check = (struct tg_exact_check){.measure = "m", .scenarios = "s", .baseline = "b"};
  (void)snprintf(check.program, sizeof(check.program), "%.200s/check", folder);
  return 0;
}

static struct tg_exact_gates *run(const char *script) {
  FILE *file = fopen(check.program, "we");
  assert_non_null(file);
  fprintf(file,
          "#!/bin/sh\n[ \"$1 $2 $3 $4 $5 $6 $7\" = \"--measure m --scenarios s --baseline b --out\" ] || exit 2\n%s",
          script);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(chmod(check.program, 0755), 0);
  return tg_exact_check_run(&check, folder, &failure);
}

static void fails(const char *script, const char *words) {
  assert_null(run(script));
  assert_string_equal(failure.stage, "exact");
  if (strstr(failure.error.text, words) == NULL) {
    fail_msg("\"%s\" lacks \"%s\"", failure.error.text, words);
  }
}

static void the_result_becomes_gates(void **state) {
  (void)state;
  struct tg_exact_gates *gates = run(PASSES "exit 0");
  assert_non_null(gates);
  assert_true(gates->num == 1 && gates->changed == 0);
  tg_exact_gates_free(gates);
  gates = run(FAILS "exit 1");
  assert_non_null(gates);
  assert_true(gates->num == 1 && gates->changed == 1);
  tg_exact_gates_free(gates);
}

static void a_check_that_cannot_run_is_a_failure(void **state) {
  (void)state;
  fails(
      "echo '{\"schema\": 1, \"verdict\": \"error\", \"message\": \"no valgrind: install it\"}' >\"$8/exact.json\"; "
      "exit 1",
      "no valgrind: install it");
  fails("kill -SEGV $$", "status 139 and without a result: it said nothing");
  fails("echo first >&2; echo boom >&2; exit 1", "status 1 and without a result: boom");
  fails(PASSES "exit 3", "status 3");
  fails("echo nonsense >\"$8/exact.json\"; exit 0", "exact.json");
  (void)snprintf(check.program, sizeof(check.program), "%.200s/missing", folder);
  assert_null(tg_exact_check_run(&check, folder, &failure));
  assert_non_null(strstr(failure.error.text, "missing"));
}

static void status_and_result_must_agree(void **state) {
  (void)state;
  fails(PASSES "exit 1", "its result has 0 changed figures");
  fails(FAILS "exit 0", "its result has 1 changed figures");
}

static void an_old_result_is_not_taken(void **state) {
  (void)state;
  struct tg_exact_gates *gates = run(PASSES "exit 0");
  assert_non_null(gates);
  tg_exact_gates_free(gates);
  fails("exit 0", "without a result");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(the_result_becomes_gates, set_up),
      cmocka_unit_test_setup(a_check_that_cannot_run_is_a_failure, set_up),
      cmocka_unit_test_setup(status_and_result_must_agree, set_up),
      cmocka_unit_test_setup(an_old_result_is_not_taken, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

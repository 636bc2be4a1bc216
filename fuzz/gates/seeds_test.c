// The seeds that stand for the perf half's own files are such files: a seed that its decoder refuses seeds nothing.
// Usage: seeds_test REPORT ERROR_REPORT BASELINE HISTORY
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "perf/baseline/cpu_history.h"
#include "perf/baseline/host_baseline.h"
#include "perf/report/report.h"

static char **files;
static struct tg_error err;

static void check(bool decoded) {
  if (!decoded) {
    fail_msg("%s", err.text);
  }
}

static void test_reports_decode(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    struct tg_report *report = tg_report_load(files[i], &err);
    check(report != NULL);
    tg_report_free(report);
  }
}

static void test_baseline_and_history_decode(void **state) {
  (void)state;
  struct tg_host_baseline *baseline = tg_host_baseline_load(files[2], &err);
  check(baseline != NULL);
  tg_host_baseline_free(baseline);
  struct tg_cpu_history *history = tg_cpu_history_load(files[3], &err);
  check(history != NULL);
  tg_cpu_history_free(history);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reports_decode),
      cmocka_unit_test(test_baseline_and_history_decode),
  };
  if (argc != 5) {
    fprintf(stderr, "usage: seeds_test REPORT ERROR_REPORT BASELINE HISTORY\n");
    return 2;
  }
  files = argv + 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}

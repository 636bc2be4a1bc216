// Reports as Markdown, and the program that prints them. usage: markdown_test REPORT_PROGRAM
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

#include "perf/process/child.h"
#include "perf/report/markdown.h"
#include "perf/report/publish.h"
#include "perf/report/report_fixture.h"

static const char *program;
static struct tg_report_fixture fixture;
static char *text;

static int set_up(void **state) {
  (void)state;
  tg_report_fixture_complete(&fixture);
  text = NULL;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tg_report_fixture_free(&fixture);
  free(text);
  return 0;
}

static void print(void) {
  size_t len = 0;
  free(text);
  FILE *out = open_memstream(&text, &len);
  assert_non_null(out);
  tg_markdown_print(out, &fixture.report);
  assert_int_equal(fclose(out), 0);
}

static void says(const char *words) {
  if (strstr(text, words) == NULL) {
    fail_msg("lacks \"%s\":\n%s", words, text);
  }
}

static void test_the_verdict_comes_first(void **state) {
  (void)state;
  print();
  assert_int_equal(strncmp(text, "## tlsgate: pass\n", 17), 0);
  says("3 of 3 gates passed, 0 failed, 0 undecided.");
  says("This run is an acceptance");
  says("| pass | `rtt_ms` | 0.1 ms | ≤ 5 | - | 2.0 % | 5 |");
  says("1.05 of 1.10");
  says("2 earlier runs of this revision");
  says("unfinished");
  says("The run is readable");
  says("Drift: 1 rows are 1.05 x as bad as the baseline");
  assert_null(strstr(text, "`curve`"));  // only recorded
}

static void test_what_failed_is_explained(void **state) {
  (void)state;
  fixture.rows[0].status = TG_STATUS_FAIL;
  fixture.rows[0].message = "43 ms | <b> `over` the *bound*";
  fixture.report.verdict = TG_OUTCOME_FAIL;
  tg_report_conclude(&fixture.report);
  print();
  assert_int_equal(strncmp(text, "## tlsgate: FAIL\n", 17), 0);
  says("no acceptance");
  says("- `rtt_ms`: 43 ms &#124; &lt;b&gt; &#96;over&#96; the &#42;bound&#42;\n");
}

static void test_what_is_not_enforced_is_said(void **state) {
  (void)state;
  fixture.rows[3].kind = TG_KIND_EXACT;
  fixture.rows[3].message = "UNENFORCED: no figures";
  print();
  says("- `curve` and its like: UNENFORCED: no figures\n");
  says("3 of 3 gates passed");
}

static void test_why_a_run_is_worth_less(void **state) {
  (void)state;
  fixture.report.readable = false;
  fixture.report.reasons[0] = "stolen";
  fixture.report.num_reasons = 1;
  fixture.report.mode = TG_MODE_FULL;
  fixture.report.unenforced_because = "no label";
  fixture.report.fault = "burn_cpu";
  fixture.report.verdict = TG_OUTCOME_UNENFORCED;
  tg_report_conclude(&fixture.report);
  print();
  assert_int_equal(strncmp(text, "## tlsgate: UNENFORCED\n", 23), 0);
  says("**The run is not readable**");
  says("- stolen\n");
  says("No recorded baseline was enforced: no label");
  says("planted fault");
}

static void test_an_error_has_its_stage_and_no_figure(void **state) {
  (void)state;
  tg_report_fixture_free(&fixture);
  tg_report_fixture_error(&fixture);
  print();
  says("## tlsgate: ERROR: no verdict");
  says("stage **warm-up**, workload rtt&#95;fresh, round 1");
  says("connection 1: refused");
  assert_null(strstr(text, "gates passed"));
  assert_null(strstr(text, "All judged gates"));
}

static void run(const char *const *args, int status, const char *words) {
  const char *argv[6] = {program};
  struct tg_child_result result;
  struct tg_error err;
  for (size_t i = 0; args[i] != NULL; i++) {
    argv[i + 1] = args[i];
  }
  if (!tg_child_run(argv, 20, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != status || (strstr(result.out, words) == NULL && strstr(result.err, words) == NULL)) {
    fail_msg("exit %d, wanted %d and \"%s\"\n%s%s", result.exit_status, status, words, result.out, result.err);
  }
  tg_child_result_free(&result);
}

static void test_the_program(void **state) {
  (void)state;
  char folder[256];
  char file[400];
  struct tg_error err;
  (void)snprintf(folder, sizeof(folder), "%s/markdown-XXXXXX", getenv("TEST_TMPDIR"));
  assert_non_null(mkdtemp(folder));
  (void)snprintf(file, sizeof(file), "%s/reports/now", folder);
  assert_int_equal(chdir(folder), 0);
  run((const char *const[]){"--markdown", NULL}, 1, "there is no reports/*/report.json");
  assert_int_equal(mkdir("reports", 0755), 0);
  assert_int_equal(mkdir(file, 0755), 0);
  json_t *json = tg_report_encode(&fixture.report);
  assert_true(tg_publish("reports/now/report.json", json, TG_REPORT_DIGITS, tg_publish_report_check, &err));
  json_decref(json);
  run((const char *const[]){"--markdown", NULL}, 0, "## tlsgate: pass");
  run((const char *const[]){"--markdown", file, NULL}, 0, "## tlsgate: pass");
  run((const char *const[]){"--markdown", "reports/now/report.json", NULL}, 0, "## tlsgate: pass");
  run((const char *const[]){"--markdown", "/nonexistent", NULL}, 1, "/nonexistent");
  run((const char *const[]){"--markdown", "a", "b", NULL}, 2, "b");
  run((const char *const[]){"--html", NULL}, 2, "--html");
  run((const char *const[]){NULL}, 2, "--markdown");
  run((const char *const[]){"--help", NULL}, 0, "usage:");
}

#define MARKDOWN_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv) {
  static char path[4096];
  // The test changes its folder.
  if (argc != 2 || realpath(argv[1], path) == NULL) {
    fprintf(stderr, "usage: markdown_test REPORT_PROGRAM\n");
    return 2;
  }
  program = path;
  const struct CMUnitTest tests[] = {
      MARKDOWN_TEST(test_the_verdict_comes_first),
      MARKDOWN_TEST(test_what_failed_is_explained),
      MARKDOWN_TEST(test_what_is_not_enforced_is_said),
      MARKDOWN_TEST(test_why_a_run_is_worth_less),
      MARKDOWN_TEST(test_an_error_has_its_stage_and_no_figure),
      MARKDOWN_TEST(test_the_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

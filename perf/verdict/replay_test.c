// The replay program from outside: exit codes and messages. Usage: replay_test REPLAY PUBLISHED
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static const char *program;
static const char *manifest;
static char output[16384];

// Runs the program with `args`; its output, errors included, is in `output` afterwards. Returns the exit code.
static int replay(const char *args) {
  char command[2048];
  snprintf(command, sizeof(command), "'%s' %s 2>&1", program, args);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  output[fread(output, 1, sizeof(output) - 1, pipe)] = '\0';
  const int status = pclose(pipe);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static int replay_row(const char *options, const char *row) {
  char args[1024];
  snprintf(args, sizeof(args), "--manifest '%s' %s --row '%s'", manifest, options, row);
  return replay(args);
}

static void write_row(const char *path, const char *text) {
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fputs(text, out);
  fclose(out);
}

static void published_rows_exit_as_published(void **state) {
  (void)state;
  assert_int_equal(replay_row("", "healthy"), 0);
  assert_non_null(strstr(output, "\n7/7 passed\n"));
  assert_int_equal(replay_row("", "shared_runner"), 0);
  assert_non_null(strstr(output, "\n7/7 passed\n"));
  assert_int_equal(replay_row("--set first", "shared_runner"), 1);
  assert_non_null(strstr(output, "7.8 GB/s is under the bound 8 GB/s"));
  assert_non_null(strstr(output, "\n6/7 passed, 1 failed: http_big_gbps\n"));
  assert_int_equal(replay_row("", "stalled"), 1);
  assert_non_null(strstr(output, "43.182 ms is over the bound 5 ms"));
  assert_non_null(strstr(output, "682.8 1/s is under the bound 1000 1/s"));
  assert_non_null(strstr(output, "\n5/7 passed, 2 failed: tls_rtt_p50_ms https_churn_rps\n"));
}

static void a_row_file_is_judged_and_what_it_lacks_is_undecided(void **state) {
  (void)state;
  char path[1024];
  snprintf(path, sizeof(path), "%s/row.json", getenv("TEST_TMPDIR"));
  write_row(path, "{\"schema\": 1, \"source\": \"a test\", \"metrics\": {\"tls_rtt_p50_ms\": 0.1, \"other\": 0}}");
  assert_int_equal(replay_row("", path), 3);
  assert_non_null(strstr(output, "\n1/7 passed, 6 undecided: https_churn_rps"));
  write_row(path, "{\"schema\": 1, \"source\": \"a test\", \"metrics\": {\"tls_rtt_p50_ms\": 43}}");
  assert_int_equal(replay_row("", path), 1);
  write_row(path, "{\"schema\": 9, \"source\": \"a test\", \"metrics\": {\"tls_rtt_p50_ms\": 43}}");
  assert_int_equal(replay_row("", path), 1);
  assert_non_null(strstr(output, "row.json: schema: version 9 is not known, this build reads version 1"));
}

static void bad_inputs_are_one_error_each(void **state) {
  (void)state;
  assert_int_equal(replay_row("", "no/such/row"), 1);
  assert_non_null(strstr(output, "replay: no/such/row: cannot be opened"));
  assert_int_equal(replay_row("--set second", "healthy"), 1);
  assert_non_null(strstr(output, "no set of bounds is named \"second\"; there are: first"));
  assert_int_equal(replay("--manifest none.json --row healthy"), 1);
  assert_non_null(strstr(output, "replay: none.json: cannot be opened"));
}

static void usage_errors_exit_2(void **state) {
  (void)state;
  assert_int_equal(replay("--help"), 0);
  assert_non_null(strstr(output, "usage: replay --manifest FILE"));
  assert_int_equal(replay(""), 2);
  assert_non_null(strstr(output, "--manifest FILE is required"));
  assert_int_equal(replay("--manifest x"), 2);
  assert_int_equal(replay("--manifest"), 2);
  assert_non_null(strstr(output, "a value is missing after --manifest"));
  assert_int_equal(replay("--fast"), 2);
  assert_non_null(strstr(output, "unknown option --fast"));
  assert_int_equal(replay_row("more", "healthy"), 2);
  assert_non_null(strstr(output, "unexpected argument more"));
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("usage: replay_test REPLAY PUBLISHED\n", stderr);
    return 2;
  }
  program = argv[1];
  manifest = argv[2];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(published_rows_exit_as_published),
      cmocka_unit_test(a_row_file_is_judged_and_what_it_lacks_is_undecided),
      cmocka_unit_test(bad_inputs_are_one_error_each),
      cmocka_unit_test(usage_errors_exit_2),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

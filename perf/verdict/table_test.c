// How verdicts look in the table, and how rows are replayed. Usage: table_test PUBLISHED
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/verdict/table.h"
#include "perf/verdict/verdict_fixture.h"

static const char *published_file;

static char *printed(const struct tg_verdict *verdict, bool colour) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  tg_table_print(out, verdict, colour);
  fclose(out);
  return text;
}

static void the_table_has_failures_first_and_ends_with_the_summary(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "floor soft");
  tg_fixture_add(f, "floor", 8, 60, false);
  tg_fixture_add(f, "soft", 8, 900, true);
  tg_fixture_judge(f, "floor");
  char *text = printed(f->verdict, false);
  const char *fail_line = strstr(text, "\nfail ");
  const char *bound_line = strstr(text, "\nclient-bound ");
  const char *pass_line = strstr(text, "\npass ");
  assert_true(fail_line != NULL && fail_line < bound_line && bound_line < pass_line);
  assert_non_null(strstr(text, "60 1/s is under the bound 200 1/s"));
  assert_non_null(strstr(text, "\n7/9 passed, 1 failed: floor, 1 undecided: soft\n"));
  assert_null(strchr(text, '\033'));
  free(text);
  text = printed(f->verdict, true);
  assert_non_null(strstr(text, "\033[1;31mfail"));
  free(text);
}

static void the_columns_of_the_table_are_aligned(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "");
  tg_fixture_judge(f, "rtt");
  char *text = printed(f->verdict, false);
  const char *header_end = strchr(text, '\n');
  const size_t width = (size_t)(header_end - text);
  size_t lines = 0;
  for (const char *line = strstr(text, "\npass"); line != NULL; line = strstr(line + 1, "\npass")) {
    assert_int_equal(strcspn(line + 1, "\n"), width);
    lines++;
  }
  assert_int_equal(lines, 9);
  free(text);
}

static void numbers_are_short_and_grouped(void **state) {
  (void)state;
  char out[32];
  assert_string_equal(tg_table_number(out, 43.182), "43.182");
  assert_string_equal(tg_table_number(out, 0.0214), "0.0214");
  assert_string_equal(tg_table_number(out, 179188), "179,188");
  assert_string_equal(tg_table_number(out, 1234567.8), "1,234,568");
  assert_string_equal(tg_table_number(out, -123456), "-123,456");
  assert_string_equal(tg_table_number(out, 9999), "9999");
}

static const struct tg_gate_verdict *replay(struct tg_fixture *f, const char *set, const char *row) {
  struct tg_error err = {""};
  tg_verdict_free(f->verdict);
  f->verdict = NULL;
  tg_manifest_free(f->manifest);
  f->manifest = tg_manifest_load(published_file, &err);
  if (f->manifest == NULL) fail_msg("%s", err.text);
  if (set != NULL) assert_true(tg_manifest_use_set(f->manifest, set, &err));
  f->verdict = tg_verdict_replay(f->manifest, tg_manifest_row(f->manifest, row));
  assert_int_equal(f->verdict->gated, 7);
  return f->verdict->gates;
}

static void the_published_rows_get_the_published_verdicts(void **state) {
  struct tg_fixture *f = *state;
  replay(f, NULL, "healthy");
  assert_int_equal(f->verdict->passed, 7);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 0);
  replay(f, "first", "healthy");
  assert_int_equal(f->verdict->passed, 7);
  replay(f, NULL, "shared_runner");
  assert_int_equal(f->verdict->passed, 7);
  replay(f, "first", "shared_runner");
  assert_int_equal(f->verdict->passed, 6);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 1);
  replay(f, NULL, "stalled");
  assert_int_equal(f->verdict->passed, 5);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 1);
  size_t over = 0;
  size_t under = 0;
  for (size_t i = 0; i < f->verdict->num_gates; i++) {
    over += strstr(f->verdict->gates[i].message, "over the bound") != NULL;
    under += strstr(f->verdict->gates[i].message, "under the bound") != NULL;
  }
  assert_int_equal(over, 1);
  assert_int_equal(under, 1);
}

static void a_row_without_a_gated_metric_is_undecided(void **state) {
  struct tg_fixture *f = *state;
  struct tg_row_value values[] = {{"rtt", 0.1}, {"rps", 100}};
  const struct tg_row row = {.values = values, .num_values = 2};
  f->verdict = tg_verdict_replay(f->manifest, &row);
  assert_int_equal(tg_verdict_gate(f->verdict, "rtt")->status, TG_STATUS_PASS);
  assert_says(tg_verdict_gate(f->verdict, "rps"), "the row has no plain");
  assert_says(tg_verdict_gate(f->verdict, "cpu"), "the row has no cpu");
  assert_int_equal(tg_verdict_gate(f->verdict, "churn")->status, TG_STATUS_UNDECIDED);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 3);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: table_test PUBLISHED\n", stderr);
    return 2;
  }
  published_file = argv[1];
  const struct CMUnitTest tests[] = {
      VERDICT_TEST(the_table_has_failures_first_and_ends_with_the_summary),
      VERDICT_TEST(the_columns_of_the_table_are_aligned),
      cmocka_unit_test(numbers_are_short_and_grouped),
      VERDICT_TEST(the_published_rows_get_the_published_verdicts),
      VERDICT_TEST(a_row_without_a_gated_metric_is_undecided),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

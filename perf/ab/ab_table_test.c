// When a row of the table is as expected.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/ab/ab_table.h"

static struct tg_ab_row row_of(enum tg_expectation expectation, double before, double after) {
  static const double wobble[] = {1.0, 1.04, 0.97, 1.02, 0.99};
  struct tg_ab_row row = {.title = "row", .unit = "ms", .expectation = expectation, .rounds = 5};
  for (size_t i = 0; i < row.rounds; i++) {
    row.values[TG_BEFORE][i] = before * wobble[i];
    row.values[TG_AFTER][i] = after * wobble[4 - i];
  }
  return row;
}

static void test_expectations(void **state) {
  (void)state;
  static const struct {
    enum tg_expectation expectation;
    double before;
    double after;
    enum tg_ab_verdict verdict;
  } cases[] = {
      {TG_EXPECT_LESS, 43, 0.2, TG_AB_YES},
      {TG_EXPECT_LESS, 43, 43, TG_AB_UNDECIDED},
      {TG_EXPECT_LESS, 1, 2, TG_AB_NO},
      {TG_EXPECT_MORE, 22, 855, TG_AB_YES},
      {TG_EXPECT_MORE, 855, 855, TG_AB_UNDECIDED},
      {TG_EXPECT_MORE, 855, 22, TG_AB_NO},
      {TG_EXPECT_UNCHANGED, 5, 5, TG_AB_YES},
      {TG_EXPECT_UNCHANGED, 5, 6.2, TG_AB_UNDECIDED},
      {TG_EXPECT_UNCHANGED, 5, 10, TG_AB_NO},
      {TG_EXPECT_UNCHANGED, 10, 5, TG_AB_NO},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tg_ab_row row = row_of(cases[i].expectation, cases[i].before, cases[i].after);
    assert_int_equal(tg_ab_row_judge(&row), cases[i].verdict);
  }
}

static void test_the_table_tells_times_as_so_many_times_less(void **state) {
  (void)state;
  struct tg_ab_row row = row_of(TG_EXPECT_LESS, 40, 0.4);
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  tg_ab_print(out, &row, 1);
  (void)fclose(out);
  assert_non_null(strstr(text, "100x"));
  assert_non_null(strstr(text, "yes"));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_expectations),
                                     cmocka_unit_test(test_the_table_tells_times_as_so_many_times_less)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

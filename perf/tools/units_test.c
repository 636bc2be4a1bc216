#include "perf/tools/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_unit_that_wrk_prints(void **state) {
  (void)state;
  static const struct {
    enum tg_unit kind;
    const char *text;
    double value;
  } cases[] = {
      {TG_UNIT_SECONDS, "250.00us", 250e-6},
      {TG_UNIT_SECONDS, "0.89ms", 0.89e-3},
      {TG_UNIT_SECONDS, "1.20s", 1.2},
      {TG_UNIT_SECONDS, "1.50m", 90},
      {TG_UNIT_SECONDS, "2.00h", 7200},
      {TG_UNIT_BYTES, "306.00B", 306},
      {TG_UNIT_BYTES, "53.55KB", 54835.2},
      {TG_UNIT_BYTES, "2.00MB", 2097152},
      {TG_UNIT_BYTES, "4.00GB", 4294967296},
      {TG_UNIT_BYTES, "1.00TB", 1099511627776},
      {TG_UNIT_BYTES, "0.50PB", 562949953421312},
      {TG_UNIT_COUNT, "663.80", 663.8},
      {TG_UNIT_COUNT, "30.74k", 30740},
      {TG_UNIT_COUNT, "1.25M", 1.25e6},
      {TG_UNIT_COUNT, "1.00G", 1e9},
      {TG_UNIT_COUNT, "1.00T", 1e12},
      {TG_UNIT_COUNT, "1.00P", 1e15},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    double value = -1;
    assert_int_equal(tg_quantity_parse(cases[i].kind, cases[i].text, strlen(cases[i].text), &value),
                     strlen(cases[i].text));
    assert_true(value > cases[i].value * (1 - 1e-12) && value < cases[i].value * (1 + 1e-12));
  }
}

static void what_is_not_a_quantity(void **state) {
  (void)state;
  static const struct {
    enum tg_unit kind;
    const char *text;
  } cases[] = {
      {TG_UNIT_SECONDS, ""},     {TG_UNIT_SECONDS, "1.5"},   {TG_UNIT_SECONDS, "ms"},
      {TG_UNIT_SECONDS, "-1ms"}, {TG_UNIT_SECONDS, "1msx"},  {TG_UNIT_SECONDS, "1MS"},
      {TG_UNIT_SECONDS, "1KB"},  {TG_UNIT_SECONDS, "nanus"}, {TG_UNIT_SECONDS, "infs"},
      {TG_UNIT_SECONDS, "1.s"},  {TG_UNIT_SECONDS, ".5s"},   {TG_UNIT_SECONDS, "1..5s"},
      {TG_UNIT_SECONDS, "1 s"},  {TG_UNIT_BYTES, "1"},       {TG_UNIT_BYTES, "1K"},
      {TG_UNIT_BYTES, "1kB"},    {TG_UNIT_BYTES, "1MiB"},    {TG_UNIT_COUNT, "1K"},
      {TG_UNIT_COUNT, "1e3"},    {TG_UNIT_COUNT, "0x10"},    {TG_UNIT_COUNT, "1234567890123456789012345678901"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    double value = -1;
    if (tg_quantity_parse(cases[i].kind, cases[i].text, strlen(cases[i].text), &value) != 0) {
      fail_msg("\"%s\" was read as %f", cases[i].text, value);
    }
  }
}

static void a_quantity_ends_where_its_letters_end(void **state) {
  (void)state;
  double value = 0;
  assert_int_equal(tg_quantity_parse(TG_UNIT_SECONDS, "1.10s, 3.27MB", 13, &value), 5);
  assert_true(value == 1.1);
  assert_int_equal(tg_quantity_parse(TG_UNIT_SECONDS, "10ms", 3, &value), 3);
  assert_true(value == 600);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_unit_that_wrk_prints),
      cmocka_unit_test(what_is_not_a_quantity),
      cmocka_unit_test(a_quantity_ends_where_its_letters_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "perf/tools/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tg_line line_of(const char *text) {
  return (struct tg_line){text, strlen(text), 1};
}

static void a_line_without_its_newline_is_not_a_line(void **state) {
  (void)state;
  const struct tg_text text = {"one\n\ntwo", 8};
  struct tg_line line = {NULL, 0, 0};
  size_t offset = 0;
  assert_true(tg_text_next_line(text, &offset, &line));
  assert_int_equal(line.len, 3);
  assert_int_equal(line.number, 1);
  assert_true(tg_text_next_line(text, &offset, &line));
  assert_int_equal(line.len, 0);
  assert_int_equal(line.number, 2);
  assert_false(tg_text_next_line(text, &offset, &line));
  assert_int_equal(tg_line_find(text, "two", &line), 0);
}

static void a_scan_reads_what_it_expects_and_nothing_else(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool ok;
  } cases[] = {
      {"n  7, 1.5", true},
      {"n 7, 1.5  ", true},
      {"n7, 1.5", false},
      {"n 7,1.5", false},
      {"n 7, 1.5 x", false},
      {"n x, 1.5", false},
      {"n 18446744073709551615, 1", true},
      {"n 18446744073709551616, 1", false},
      {"n 7, ", false},
      {"", false},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const struct tg_line line = line_of(cases[i].text);
    struct tg_scan scan = tg_scan_line(&line);
    uint64_t count = 0;
    double decimal = 0;
    tg_scan_text(&scan, "n ");
    tg_scan_count(&scan, &count);
    tg_scan_text(&scan, ", ");
    tg_scan_decimal(&scan, &decimal);
    if (tg_scan_end(&scan) != cases[i].ok) {
      fail_msg("\"%s\"", cases[i].text);
    }
  }
}

static void a_line_is_shown_without_control_characters(void **state) {
  (void)state;
  char shown[TG_LINE_SHOWN_MAX];
  struct tg_line line = line_of("a\tb\x1b[1m\x7f\xc3\xa9");
  assert_string_equal(tg_line_show(&line, shown), "a?b?[1m?\xc3\xa9");
  char longer[300];
  memset(longer, 'x', sizeof(longer));
  line = (struct tg_line){longer, sizeof(longer), 1};
  assert_int_equal(strlen(tg_line_show(&line, shown)), 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_without_its_newline_is_not_a_line),
      cmocka_unit_test(a_scan_reads_what_it_expects_and_nothing_else),
      cmocka_unit_test(a_line_is_shown_without_control_characters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

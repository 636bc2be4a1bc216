// Scenarios as text: what is measured, what is expected, and what is said of a mistake.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/exact/scenario.h"

#define GOOD                               \
  "# A scenario.\n"                        \
  "# expects: established 1 responses 2\n" \
  "client 0 connect then rest\n"           \
  "client 0 request get then rest\n"       \
  "# measured\n"                           \
  "client 0 request get then rest\n"

static bool parse(const char *file, const char *text, struct tg_scenario *out, struct tg_error *err) {
  err->text[0] = '\0';
  return tg_scenario_parse(file, text, strlen(text), out, err);
}

static void refuses(const char *file, const char *text, const char *expected) {
  static struct tg_scenario scenario;
  struct tg_error err;
  if (parse(file, text, &scenario, &err) || strstr(err.text, expected) == NULL) {
    fail_msg("%s: expected %s", err.text, expected);
  }
}

static void what_comes_behind_the_mark_is_measured(void **state) {
  (void)state;
  static struct tg_scenario scenario;
  struct tg_error err;
  assert_true(parse("folder/again.txt", GOOD, &scenario, &err));
  assert_string_equal(scenario.name, "again");
  assert_int_equal(scenario.schedule.num_steps, 3);
  assert_int_equal(scenario.first_measured, 2);
  assert_int_equal(scenario.num_expectations, 2);
  assert_string_equal(scenario.expectations[1].name, "responses");
  assert_int_equal(scenario.expectations[1].value, 2);
}

static void a_mistake_is_named_with_its_file(void **state) {
  (void)state;
  refuses("again.text", GOOD, "again.text: a scenario is named NAME.txt");
  refuses("a.txt", "# measured\nclient 0 connect\n", "a.txt: needs a line \"# expects:");
  refuses("a.txt", "# expects: established 1\nclient 0 connect\n", "a line \"# measured\"");
  refuses("a.txt", "# expects: establised 1\n# measured\nclient 0 connect\n", "correct it at \"establised\"");
  refuses("a.txt", "# expects: established\n# measured\nclient 0 connect\n", "correct it at \"established\"");
  refuses("a.txt", "# expects: established one\n# measured\nclient 0 connect\n", "correct it at \"established\"");
  refuses("a.txt", "# expects:\n# measured\nclient 0 connect\n", "it could not fail");
  refuses("a.txt", "# expects: established 1\nclient 0 connect\n# measured\n", "it could not fail");
  refuses("a.txt", "# expects: established 1\n# measured\nclient 0 conect\n", "a.txt: line 3: ");
}

static void a_run_that_came_to_something_else_has_failed(void **state) {
  (void)state;
  static struct tg_scenario scenario;
  struct tg_error err;
  assert_true(parse("again.txt", GOOD, &scenario, &err));
  struct tg_counters counters = {.established = 1};
  assert_true(tg_scenario_check(&scenario, &counters, 2, &err));
  assert_false(tg_scenario_check(&scenario, &counters, 1, &err));
  assert_string_equal(err.text, "scenario again: responses is 1 and should be 2");
  counters.established = 0;
  assert_false(tg_scenario_check(&scenario, &counters, 2, &err));
  assert_string_equal(err.text, "scenario again: established is 0 and should be 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_comes_behind_the_mark_is_measured),
      cmocka_unit_test(a_mistake_is_named_with_its_file),
      cmocka_unit_test(a_run_that_came_to_something_else_has_failed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

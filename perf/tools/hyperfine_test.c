#include "perf/tools/hyperfine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/tools/testing/fixture.h"

static void exports_of_good_runs(void **state) {
  (void)state;
  struct tg_hyperfine run;
  struct tg_error err;
  struct tg_text text = tg_fixture_load("hyperfine_ok.json");
  assert_true(tg_hyperfine_parse(text, &run, &err));
  assert_int_equal(run.num_results, 1);
  assert_string_equal(run.results[0].command, "true");
  assert_int_equal(run.results[0].num_times, 5);
  assert_true(run.results[0].times_s[0] == 0.009220152);
  assert_true(run.results[0].times_s[4] == 0.007943851);
  assert_true(run.results[0].user_s == 0.0026287999999999997);
  assert_true(run.results[0].system_s == 0.0006889999999999999);
  tg_hyperfine_free(&run);
  tg_fixture_free(text);

  text = tg_fixture_load("hyperfine_one_run.json");
  assert_true(tg_hyperfine_parse(text, &run, &err));
  assert_int_equal(run.results[0].num_times, 1);
  tg_hyperfine_free(&run);
  tg_fixture_free(text);
}

static void a_command_that_failed_is_refused(void **state) {
  (void)state;
  struct tg_hyperfine run;
  struct tg_error err;
  const struct tg_text text = tg_fixture_load("hyperfine_failed.json");
  assert_false(tg_hyperfine_parse(text, &run, &err));
  assert_string_equal(err.text, "hyperfine: results[0].exit_codes[0] is 1: the timed command failed: run it by hand");
  tg_fixture_free(text);
}

static void exports_that_are_not_right_are_refused(void **state) {
  (void)state;
#define TG_RESULT(command, user, system, times, codes)                                              \
  "{\"results\":[{\"command\":" command ",\"user\":" user ",\"system\":" system ",\"times\":" times \
  ",\"exit_codes\":" codes "}]}"
  static const struct {
    const char *json;
    const char *message;
  } cases[] = {
      {"", "line 1"},
      {"[]", "results: not a list"},
      {"{\"results\":[]}", "results: not a list of at least one command"},
      {"{\"results\":{}}", "results: not a list"},
      {"{\"results\":[1]}", "results[0].: not an object"},
      {"{\"results\":[{}]}", "results[0].command: not a string"},
      {"{\"results\":[],\"results\":[]}", "duplicate"},
      {TG_RESULT("1", "1", "1", "[1]", "[0]"), "command: not a string"},
      {TG_RESULT("\"x\"", "null", "1", "[1]", "[0]"), "user: not a number"},
      {TG_RESULT("\"x\"", "1", "\"1\"", "[1]", "[0]"), "system: not a number"},
      {TG_RESULT("\"x\"", "1", "-1", "[1]", "[0]"), "system: not a number"},
      {TG_RESULT("\"x\"", "1", "1", "[]", "[]"), "times: not a list of at least one run"},
      {TG_RESULT("\"x\"", "1", "1", "1", "[0]"), "times: not a list"},
      {TG_RESULT("\"x\"", "1", "1", "[-1]", "[0]"), "times: holds something else"},
      {TG_RESULT("\"x\"", "1", "1", "[1,null]", "[0,0]"), "times: holds something else"},
      {TG_RESULT("\"x\"", "1", "1", "[1,2]", "[0]"), "exit_codes: not a list with one code for each"},
      {TG_RESULT("\"x\"", "1", "1", "[1]", "[null]"), "exit_codes[0]: run ended by a signal"},
      {TG_RESULT("\"x\"", "1", "1", "[1]", "[false]"), "exit_codes: holds something else than integers"},
      {TG_RESULT("\"x\"", "1", "1", "[1,2]", "[0,3]"), "exit_codes[1] is 3"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tg_hyperfine run;
    struct tg_error err;
    const struct tg_text whole = {cases[i].json, strlen(cases[i].json)};
    const struct tg_text text = tg_fixture_copy(whole, whole.len);
    assert_false(tg_hyperfine_parse(text, &run, &err));
    assert_null(run.results);
    if (strstr(err.text, cases[i].message) == NULL || strncmp(err.text, "hyperfine: ", 11) != 0) {
      fail_msg("%s: %s", cases[i].json, err.text);
    }
    tg_fixture_free(text);
  }
}

static void an_export_cut_anywhere_is_refused(void **state) {
  (void)state;
  const struct tg_text whole = tg_fixture_load("hyperfine_ok.json");
  size_t enough = whole.len;
  while (whole.bytes[enough - 1] != '}') {
    enough--;
  }
  for (size_t len = 0; len <= whole.len; len++) {
    const struct tg_text cut = tg_fixture_copy(whole, len);
    struct tg_hyperfine run;
    struct tg_error err;
    assert_int_equal(tg_hyperfine_parse(cut, &run, &err), len >= enough);
    tg_hyperfine_free(&run);
    tg_fixture_free(cut);
  }
  tg_fixture_free(whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exports_of_good_runs),
      cmocka_unit_test(a_command_that_failed_is_refused),
      cmocka_unit_test(exports_that_are_not_right_are_refused),
      cmocka_unit_test(an_export_cut_anywhere_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

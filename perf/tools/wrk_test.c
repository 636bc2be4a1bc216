#include "perf/tools/wrk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/tools/testing/fixture.h"

static const struct tg_text tg_nothing = {NULL, 0};

static bool parse(const char *fixture, struct tg_wrk *run, struct tg_error *err) {
  const struct tg_text text = tg_fixture_load(fixture);
  err->text[0] = '\0';
  const bool ok = tg_wrk_parse(text, tg_nothing, run, err);
  assert_int_equal(ok, err->text[0] == '\0');
  tg_fixture_free(text);
  return ok;
}

static void near(double value, double expected) {
  if (!(value >= expected * (1 - 1e-12) && value <= expected * (1 + 1e-12))) {
    fail_msg("%.17g where %.17g is expected", value, expected);
  }
}

static void clean_runs(void **state) {
  (void)state;
  struct tg_wrk run;
  struct tg_error err;
  assert_true(parse("wrk_ok.txt", &run, &err));
  assert_int_equal(run.threads, 2);
  assert_int_equal(run.connections, 4);
  assert_int_equal(run.requests, 67165);
  near(run.seconds, 1.10);
  near(run.bytes_read, 3.27 * 1024 * 1024);
  near(run.latency_mean_s, 1.06e-3);
  near(run.latency_stdev_s, 5.82e-3);
  near(run.latency_max_s, 62.93e-3);
  assert_true(run.has_percentiles);
  near(run.latency_p50_s, 44e-6);
  near(run.latency_p75_s, 59e-6);
  near(run.latency_p90_s, 103e-6);
  near(run.latency_p99_s, 35.34e-3);
  near(run.requests_per_second, 61235.56);
  near(run.bytes_per_second, 2.98 * 1024 * 1024);
  assert_true(tg_wrk_judge(&run, 12, &err));

  assert_true(parse("wrk_big.txt", &run, &err));
  assert_false(run.has_percentiles);
  near(run.bytes_per_second, 531.07 * 1024 * 1024);
  assert_true(tg_wrk_judge(&run, 1024 * 1024, &err));
}

static void runs_that_wrk_finished_but_are_not_clean(void **state) {
  (void)state;
  static const struct {
    const char *fixture;
    uint64_t body_bytes;
    const char *message;
  } cases[] = {
      {"wrk_reads.txt", 12, "\"Socket errors: connect 0, read 662, write 0, timeout 0\""},
      {"wrk_short.txt", 1200, "read 483"},
      {"wrk_non2xx.txt", 3, "read 472"},
      {"wrk_slow.txt", 12, "timeout 6"},
      {"wrk_timeout.txt", 12, "\"0 requests in 3.02s\""},
      {"wrk_empty.txt", 12, "read 5382"},
      {"wrk_ok.txt", 100, "\"67165 requests\" but only 3428844 bytes read, less than 100 for each"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tg_wrk run;
    struct tg_error err;
    assert_true(parse(cases[i].fixture, &run, &err));
    assert_false(tg_wrk_judge(&run, cases[i].body_bytes, &err));
    if (strstr(err.text, cases[i].message) == NULL) {
      fail_msg("%s: %s", cases[i].fixture, err.text);
    }
  }
}

static void a_status_other_than_2xx_alone_is_refused(void **state) {
  (void)state;
  struct tg_wrk run;
  struct tg_error err;
  assert_true(parse("wrk_non2xx.txt", &run, &err));
  assert_int_equal(run.non_2xx_responses, 472);
  run.read_errors = 0;
  assert_false(tg_wrk_judge(&run, 3, &err));
  assert_non_null(strstr(err.text, "\"Non-2xx or 3xx responses: 472\""));
}

static void a_wrk_that_gave_up_is_refused(void **state) {
  (void)state;
  const struct tg_text error = tg_fixture_load("wrk_refused.stderr");
  struct tg_wrk run;
  struct tg_error err;
  assert_false(tg_wrk_parse(tg_nothing, error, &run, &err));
  assert_non_null(strstr(err.text, "wrk: \"unable to connect to 127.0.0.1:24434 Connection refused\""));
  assert_false(tg_wrk_parse(tg_nothing, tg_nothing, &run, &err));
  assert_non_null(strstr(err.text, "no line \"N threads and N connections\""));
  tg_fixture_free(error);
}

static void lines_in_another_format_are_named(void **state) {
  (void)state;
  static const struct {
    const char *find;
    const char *replace;  // of the same length
    const char *message;
  } cases[] = {
      {"Requests/sec:  61235.56", "Requests/sec:  61235x56", "Requests/sec:"},
      {"Transfer/sec:      2.98MB", "Transfer/sec:      2.98Mb", "line 13 \"Transfer/sec:      2.98Mb\""},
      {"Latency     1.06ms", "Latency     1.06xs", "line 4"},
      {"     50%   44.00us", "     50%   44.00  ", "line 7"},
      {"3.27MB read", "3.27MB rea ", "no line \"N requests in"},
      {"2 threads and", "2 threads or ", "no line \"N threads and N connections\""},
      {"  Latency Distribution", "Transfer/sec:         ", "2 lines \"Transfer/sec:\""},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const struct tg_text text = tg_fixture_load("wrk_ok.txt");
    char *at = memmem(text.bytes, text.len, cases[i].find, strlen(cases[i].find));
    assert_non_null(at);
    assert_int_equal(strlen(cases[i].find), strlen(cases[i].replace));
    memcpy(at, cases[i].replace, strlen(cases[i].find));
    struct tg_wrk run;
    struct tg_error err;
    assert_false(tg_wrk_parse(text, tg_nothing, &run, &err));
    if (strstr(err.text, cases[i].message) == NULL) {
      fail_msg("%s: %s", cases[i].replace, err.text);
    }
    tg_fixture_free(text);
  }
}

static void an_output_cut_anywhere_is_refused(void **state) {
  (void)state;
  static const char *const fixtures[] = {"wrk_ok.txt", "wrk_big.txt", "wrk_non2xx.txt", "wrk_slow.txt"};
  for (size_t f = 0; f < sizeof(fixtures) / sizeof(fixtures[0]); f++) {
    const struct tg_text whole = tg_fixture_load(fixtures[f]);
    for (size_t len = 0; len <= whole.len; len++) {
      const struct tg_text cut = tg_fixture_copy(whole, len);
      struct tg_wrk run;
      struct tg_error err;
      assert_int_equal(tg_wrk_parse(cut, tg_nothing, &run, &err), len == whole.len);
      tg_fixture_free(cut);
    }
    tg_fixture_free(whole);
  }
}

static void no_changed_byte_crashes_it(void **state) {
  (void)state;
  const struct tg_text text = tg_fixture_load("wrk_non2xx.txt");
  char *bytes = (char *)(uintptr_t)text.bytes;
  static const char changes[] = {'\0', '\n', '9', ' ', '\xff'};
  for (size_t i = 0; i < text.len; i++) {
    const char kept = bytes[i];
    for (size_t c = 0; c < sizeof(changes); c++) {
      bytes[i] = changes[c];
      struct tg_wrk run;
      struct tg_error err = {""};
      assert_int_equal(tg_wrk_parse(text, text, &run, &err), err.text[0] == '\0');
    }
    bytes[i] = kept;
  }
  tg_fixture_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clean_runs),
      cmocka_unit_test(runs_that_wrk_finished_but_are_not_clean),
      cmocka_unit_test(a_status_other_than_2xx_alone_is_refused),
      cmocka_unit_test(a_wrk_that_gave_up_is_refused),
      cmocka_unit_test(lines_in_another_format_are_named),
      cmocka_unit_test(an_output_cut_anywhere_is_refused),
      cmocka_unit_test(no_changed_byte_crashes_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

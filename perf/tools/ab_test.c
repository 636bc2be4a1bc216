#include "perf/tools/ab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/tools/testing/fixture.h"

static const struct tg_text tg_nothing = {NULL, 0};

// Parses captured outputs; `standard_error` may be NULL.
static bool parse(const char *standard_output, const char *standard_error, struct tg_ab *run, struct tg_error *err) {
  const struct tg_text out = tg_fixture_load(standard_output);
  const struct tg_text error = standard_error != NULL ? tg_fixture_load(standard_error) : tg_nothing;
  err->text[0] = '\0';
  const bool ok = tg_ab_parse(out, error, run, err);
  assert_int_equal(ok, err->text[0] == '\0');
  tg_fixture_free(out);
  tg_fixture_free(error);
  return ok;
}

static void a_clean_run(void **state) {
  (void)state;
  struct tg_ab run;
  struct tg_error err;
  assert_true(parse("ab_ok.txt", "ab_ok.stderr", &run, &err));
  assert_int_equal(run.document_bytes, 12);
  assert_int_equal(run.concurrency, 4);
  assert_true(run.seconds == 0.287);
  assert_int_equal(run.complete_requests, 200);
  assert_int_equal(run.failed_requests, 0);
  assert_int_equal(run.total_bytes, 16600);
  assert_int_equal(run.body_bytes, 2400);
  assert_true(run.requests_per_second == 695.96);
  assert_true(run.bytes_per_second == 56.41 * 1024);
  assert_true(tg_ab_judge(&run, 200, 12, &err));
  assert_true(parse("ab_keepalive.txt", NULL, &run, &err));
  assert_true(tg_ab_judge(&run, 200, 12, &err));
}

static void runs_that_ab_finished_but_are_not_clean(void **state) {
  (void)state;
  static const struct {
    const char *fixture;
    uint64_t requests;
    uint64_t body_bytes;
    const char *message;
  } cases[] = {
      {"ab_non2xx.txt", 20, 3, "\"Non-2xx responses: 20\""},
      {"ab_length.txt", 30, 7, "\"Failed requests: 20\" (connect 0, receive 0, length 20, exceptions 0)"},
      {"ab_short.txt", 20, 1200, "\"Document Length: 5 bytes\" where the body has 1200"},
      {"ab_empty.txt", 20, 12, "\"Document Length: 0 bytes\" where the body has 12"},
      {"ab_ok.txt", 300, 12, "\"Complete requests: 200\" where 300 were asked for"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tg_ab run;
    struct tg_error err;
    assert_true(parse(cases[i].fixture, NULL, &run, &err));
    assert_false(tg_ab_judge(&run, cases[i].requests, cases[i].body_bytes, &err));
    if (strstr(err.text, cases[i].message) == NULL) {
      fail_msg("%s: %s", cases[i].fixture, err.text);
    }
  }
}

static void bodies_that_do_not_add_up_are_refused(void **state) {
  (void)state;
  struct tg_ab run;
  struct tg_error err;
  assert_true(parse("ab_ok.txt", NULL, &run, &err));
  run.body_bytes -= 12;
  assert_false(tg_ab_judge(&run, 200, 12, &err));
  assert_non_null(strstr(err.text, "\"HTML transferred: 2388 bytes\" is not 200 bodies of 12 bytes"));
  run.body_bytes += 13;
  assert_false(tg_ab_judge(&run, 200, 12, &err));
  assert_true(parse("ab_ok.txt", NULL, &run, &err));
  run.write_errors = 1;
  assert_false(tg_ab_judge(&run, 200, 12, &err));
  assert_non_null(strstr(err.text, "\"Write errors: 1\""));
}

static void runs_that_ab_gave_up_or_complained_about(void **state) {
  (void)state;
  static const struct {
    const char *standard_output;
    const char *standard_error;
    const char *message;
  } cases[] = {
      {"ab_refused.txt", "ab_refused.stderr", "ab: \"apr_socket_recv: Connection refused (111)\""},
      {"ab_timeout.txt", "ab_timeout.stderr", "ab: \"apr_pollset_poll: The timeout specified has expired (70007)\""},
      {"ab_tls_refused.txt", "ab_tls_refused.stderr", "ab: \"SSL read failed (5) - closing connection\""},
      {"ab_tls_handshake.txt", "ab_tls_handshake.stderr", "ab: \"SSL handshake failed (1).\""},
      {"ab_refused.txt", NULL, "no line \"Document Length:\""},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tg_ab run;
    struct tg_error err;
    assert_false(parse(cases[i].standard_output, cases[i].standard_error, &run, &err));
    if (strstr(err.text, cases[i].message) == NULL) {
      fail_msg("%s: %s", cases[i].standard_output, err.text);
    }
  }
}

static void lines_in_another_format_are_named(void **state) {
  (void)state;
  static const struct {
    const char *find;
    const char *replace;  // of the same length
    const char *message;
  } cases[] = {
      {"Complete requests:      200", "Complete requests:      2e2", "line 19 \"Complete requests:      2e2\""},
      {"Complete requests:      200", "Complete requests:      -20", "line 19"},
      {"56.41 [Kbytes/sec] received", "56.41 [Mbytes/sec] received", "[Mbytes/sec]"},
      {"Document Length:        12 bytes", "Document Length:     Variable   ", "line 15"},
      {"HTML transferred:", "Total transferred", "no line \"HTML transferred:\""},
      {"Server Hostname:  ", "Failed requests:  ", "2 lines \"Failed requests:\""},
      {"Requests per second:    695.96", "Requests per second:    nan   ", "line 23"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const struct tg_text text = tg_fixture_load("ab_ok.txt");
    char *at = memmem(text.bytes, text.len, cases[i].find, strlen(cases[i].find));
    assert_non_null(at);
    assert_int_equal(strlen(cases[i].find), strlen(cases[i].replace));
    memcpy(at, cases[i].replace, strlen(cases[i].find));
    struct tg_ab run;
    struct tg_error err;
    assert_false(tg_ab_parse(text, tg_nothing, &run, &err));
    if (strstr(err.text, cases[i].message) == NULL) {
      fail_msg("%s: %s", cases[i].replace, err.text);
    }
    tg_fixture_free(text);
  }
}

static void an_output_cut_anywhere_before_the_last_figure_is_refused(void **state) {
  (void)state;
  static const char *const fixtures[] = {"ab_ok.txt", "ab_length.txt", "ab_non2xx.txt"};
  for (size_t f = 0; f < sizeof(fixtures) / sizeof(fixtures[0]); f++) {
    const struct tg_text whole = tg_fixture_load(fixtures[f]);
    static const char last[] = "[Kbytes/sec] received\n";
    const char *at = memmem(whole.bytes, whole.len, last, strlen(last));
    assert_non_null(at);
    const size_t enough = (size_t)(at - whole.bytes) + strlen(last);
    for (size_t len = 0; len <= whole.len; len++) {
      const struct tg_text cut = tg_fixture_copy(whole, len);
      struct tg_ab run;
      struct tg_error err;
      assert_int_equal(tg_ab_parse(cut, tg_nothing, &run, &err), len >= enough);
      tg_fixture_free(cut);
    }
    tg_fixture_free(whole);
  }
}

static void no_changed_byte_crashes_it(void **state) {
  (void)state;
  const struct tg_text text = tg_fixture_load("ab_length.txt");
  char *bytes = (char *)(uintptr_t)text.bytes;
  static const char changes[] = {'\0', '\n', '9', ' ', '\xff'};
  for (size_t i = 0; i < text.len; i++) {
    const char kept = bytes[i];
    for (size_t c = 0; c < sizeof(changes); c++) {
      bytes[i] = changes[c];
      struct tg_ab run;
      struct tg_error err = {""};
      assert_int_equal(tg_ab_parse(text, text, &run, &err), err.text[0] == '\0');
    }
    bytes[i] = kept;
  }
  tg_fixture_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clean_run),
      cmocka_unit_test(runs_that_ab_finished_but_are_not_clean),
      cmocka_unit_test(bodies_that_do_not_add_up_are_refused),
      cmocka_unit_test(runs_that_ab_gave_up_or_complained_about),
      cmocka_unit_test(lines_in_another_format_are_named),
      cmocka_unit_test(an_output_cut_anywhere_before_the_last_figure_is_refused),
      cmocka_unit_test(no_changed_byte_crashes_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

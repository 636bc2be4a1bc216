// Build events and the plan of tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/certify/plan.h"
#include "perf/certify/test_results.h"

static char file[] = "/tmp/certify-events-XXXXXX";

static void put(const char *text) {
  FILE *to = fopen(file, "we");
  assert_non_null(to);
  assert_true(fputs(text, to) >= 0);
  assert_int_equal(fclose(to), 0);
}

static int make_file(void **state) {
  (void)state;
  int fd = mkstemp(file);
  return fd < 0 || close(fd) != 0;
}

static int remove_file(void **state) {
  (void)state;
  return unlink(file);
}

// As Bazel 4.2.3 writes them; what is not looked at is shortened.
#define STARTED "{\"id\":{\"started\":{}},\"children\":[{\"progress\":{}}],\"started\":{\"uuid\":\"0\"}}\n"
#define SUMMARY(label, status, more)                       \
  "{\"id\":{\"testSummary\":{\"label\":\"" label           \
  "\",\"configuration\":{\"id\":\"1\"}}},\"testSummary\":" \
  "{\"totalRunCount\":1,\"overallStatus\":\"" status "\",\"totalRunDurationMillis\":\"1200\"" more "}}\n"
#define FINISHED(name, more)                                                                                      \
  "{\"id\":{\"buildFinished\":{}},\"finished\":{\"overallSuccess\":true,\"exitCode\":{\"name\":\"" name "\"" more \
  "}}}\n"

static void load(const char *events, struct tg_test_results *out) {
  struct tg_error err;
  json_t *asked = json_pack("[s, s]", "//a:one_test", "//b:two_test");
  put(events);
  json_t *json = tg_test_results_from_events(file, asked, &err);
  json_decref(asked);
  if (json == NULL) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(json_dump_file(json, file, 0), 0);
  json_decref(json);
  if (!tg_test_results_load(out, file, &err)) {
    fail_msg("%s", err.text);
  }
}

static void test_events_say_what_passed(void **state) {
  (void)state;
  struct tg_test_results results;
  load(STARTED SUMMARY("//b:two_test", "PASSED", ",\"totalNumCached\":1") SUMMARY("//a:one_test", "PASSED", "")
           FINISHED("SUCCESS", ""),
       &results);
  assert_int_equal(results.num, 2);
  assert_int_equal(results.passed, 2);
  assert_int_equal(results.cached, 1);
  assert_true(results.finished);
  assert_int_equal(results.code, 0);
  assert_string_equal(results.tests[0].label, "//a:one_test");
  assert_false(results.tests[0].cached);
  assert_true(results.tests[0].duration_s == 1.2);
  tg_test_results_free(&results);
}

static void test_nothing_but_passed_is_a_pass(void **state) {
  (void)state;
  static const char *const statuses[] = {"FAILED", "TIMEOUT", "FLAKY", "NO_STATUS", "FAILED_TO_BUILD", "INCOMPLETE"};
  for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
    char events[1024];
    struct tg_test_results results;
    (void)snprintf(events, sizeof(events),
                   SUMMARY("//b:two_test", "PASSED", "") SUMMARY("//a:one_test", "%s", "")
                       FINISHED("TESTS_FAILED", ",\"code\":3"),
                   statuses[i]);
    load(events, &results);
    assert_int_equal(results.passed, 1);
    assert_int_equal(results.code, 3);
    assert_string_equal(results.tests[0].status, statuses[i]);
    tg_test_results_free(&results);
  }
}

static void test_a_test_without_a_word_did_not_run(void **state) {
  (void)state;
  struct tg_test_results results;
  // Bazel was killed within a line.
  load(SUMMARY("//a:one_test", "PASSED", "") "{\"id\":{\"testSum", &results);
  assert_int_equal(results.passed, 1);
  assert_false(results.finished);
  assert_string_equal(results.tests[1].status, "NOT RUN");
  tg_test_results_free(&results);
}

static void test_what_is_no_event_is_an_error(void **state) {
  (void)state;
  struct tg_error err;
  json_t *asked = json_pack("[s]", "//a:one_test");
  put(STARTED "nonsense\n");
  assert_null(tg_test_results_from_events(file, asked, &err));
  assert_non_null(strstr(err.text, ":2: no build event"));
  json_decref(asked);
}

static void assert_load_fails(const char *text, const char *says) {
  struct tg_test_results results;
  struct tg_error err;
  put(text);
  assert_false(tg_test_results_load(&results, file, &err));
  if (strstr(err.text, says) == NULL) {
    fail_msg("\"%s\" is not in \"%s\"", says, err.text);
  }
}

static void test_results_are_decoded_strictly(void **state) {
  (void)state;
  assert_load_fails("{\"schema\":1,\"asked\":[],\"exit\":null,\"tests\":[]}", "asked: must have 1 to");
  assert_load_fails("{\"schema\":1,\"asked\":[\"//a:a\",\"//a:a\"],\"exit\":null,\"tests\":[]}", "has //a:a twice");
  assert_load_fails(
      "{\"schema\":1,\"asked\":[\"//a:a\"],\"exit\":null,\"tests\":[{\"label\":\"//b:b\",\"status\":"
      "\"PASSED\",\"cached\":false,\"duration_ms\":1}]}",
      "is not among those asked for");
  assert_load_fails("{\"schema\":1,\"asked\":[\"//a:a\"],\"exit\":null,\"tests\":[],\"more\":1}", "unknown key");
  assert_load_fails("{\"schema\":2,\"asked\":[\"//a:a\"],\"exit\":null,\"tests\":[]}", "version 2 is not known");
}

static void test_every_test_has_its_part(void **state) {
  (void)state;
  static const struct {
    const char *label;
    const char *part;
  } cases[] = {
      {"//perf/stats:stats_test", "release"},
      {"//perf/stats:stats_test_asan", "instrumented"},
      {"//harness/accept:shards_test_tsan", "instrumented"},
      {"//harness/kernel/conformance:conformance_test_asan", "conformance"},
      {"//harness/kernel:nagle_test", "release"},
      {"//harness/faults:no_rearm", "faults"},
      {"//harness/faults/report:report_test_asan", "instrumented"},
      {"//fuzz:accept_schedule_afl_test", "corpora"},
      {"//fuzz/schedule:text_test", "release"},
      {"//perf:gates_selftest", "negative-control"},
      {"//perf:gates_faults", "negative-control"},
      {"//perf:gates_full", NULL},
      {"//perf/exact:gate_test", "release"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const char *part = tg_plan_part_of(cases[i].label);
    if (cases[i].part == NULL) {
      assert_null(part);
    } else {
      assert_non_null(part);
      assert_string_equal(part, cases[i].part);
    }
  }
}

static void test_a_plan_says_which_test_is_in_no_part(void **state) {
  (void)state;
  struct tg_error err;
  json_t *plan = tg_plan_new("//a:a\n//a:a_asan\n//perf:gates_full\n", "//perf:gates\n//b:b\n", &err);
  assert_non_null(plan);
  assert_int_equal(json_array_size(tg_plan_tests(plan, "release")), 1);
  assert_int_equal(json_array_size(tg_plan_tests(plan, "instrumented")), 1);
  assert_null(tg_plan_tests(plan, "gates"));
  const json_t *unplanned = json_object_get(plan, "unplanned");
  assert_int_equal(json_array_size(unplanned), 1);
  assert_string_equal(json_string_value(json_array_get(unplanned, 0)), "//b:b");
  json_decref(plan);
  assert_null(tg_plan_new("Loading: 0 packages\n", "", &err));
  assert_non_null(strstr(err.text, "is no label"));
}

static void test_programs_are_asked_for_by_their_labels(void **state) {
  (void)state;
  struct tg_error err;
  json_t *labels = tg_plan_labels("//perf:gates_run\n//perf/exact:check\n", &err);
  assert_int_equal(json_array_size(labels), 2);
  assert_string_equal(json_string_value(json_array_get(labels, 1)), "//perf/exact:check");
  json_decref(labels);
  assert_null(tg_plan_labels("ERROR: no such target\n", &err));
  assert_non_null(strstr(err.text, "is no label"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_events_say_what_passed),
      cmocka_unit_test(test_nothing_but_passed_is_a_pass),
      cmocka_unit_test(test_a_test_without_a_word_did_not_run),
      cmocka_unit_test(test_what_is_no_event_is_an_error),
      cmocka_unit_test(test_results_are_decoded_strictly),
      cmocka_unit_test(test_every_test_has_its_part),
      cmocka_unit_test(test_a_plan_says_which_test_is_in_no_part),
      cmocka_unit_test(test_programs_are_asked_for_by_their_labels),
  };
  return cmocka_run_group_tests(tests, make_file, remove_file);
}

// Every reason to fail is one by itself, at its tolerance and not before; what the machine spoilt is undecided.
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "perf/probe/judge.h"
#include "perf/probe/report.h"

static struct tg_observed good(void) {
  const struct tg_rest rest = {.threads = 3, .fds = 20, .rss_mib = 30, .cpu = 0.01};
  return (struct tg_observed){.ready = true,
                              .alive = true,
                              .served_after = true,
                              .others = 50,
                              .longest_s = 0.02,
                              .before = rest,
                              .after = rest};
}

static void expect(const struct tg_observed *observed, enum tg_probe_outcome outcome, const char *wanted) {
  char why[TG_PROBE_WHY_SIZE];
  assert_int_equal(tg_probe_judge(observed, why, sizeof(why)), outcome);
  if (strstr(why, wanted) == NULL) {
    fail_msg("\"%s\" does not say \"%s\"", why, wanted);
  }
}

static void test_each_reason(void **state) {
  (void)state;
  struct tg_observed observed = good();
  expect(&observed, TG_PROBE_PASS, "");
  observed.alive = false;
  expect(&observed, TG_PROBE_FAILED, "has died");
  observed = good();
  observed.served_after = false;
  expect(&observed, TG_PROBE_FAILED, "serves no more");
  observed = good();
  observed.others_lost = 1;
  expect(&observed, TG_PROBE_FAILED, "1 of 50 others");
  observed = good();
  observed.ready = false;
  expect(&observed, TG_PROBE_UNDECIDED, "before the probe began");
  observed = good();
  observed.seen.failed = true;
  (void)snprintf(observed.seen.note, sizeof(observed.seen.note), "my note");
  expect(&observed, TG_PROBE_FAILED, "my note");
  observed.seen.failed = false;
  observed.seen.undecided = true;
  expect(&observed, TG_PROBE_UNDECIDED, "my note");
}

static void test_tolerances(void **state) {
  (void)state;
  struct tg_observed observed = good();
  observed.after.threads += TG_REST_THREADS;
  observed.after.fds += TG_REST_FDS;
  observed.after.rss_mib += TG_REST_RSS_MIB;
  observed.after.cpu = 0.05;
  expect(&observed, TG_PROBE_PASS, "");
  observed = good();
  observed.after.threads += TG_REST_THREADS + 1;
  expect(&observed, TG_PROBE_FAILED, "threads 6, were 3");
  observed = good();
  observed.after.fds += TG_REST_FDS + 1;
  expect(&observed, TG_PROBE_FAILED, "descriptors 25, were 20");
  observed = good();
  observed.after.rss_mib += TG_REST_RSS_MIB + 0.1;
  expect(&observed, TG_PROBE_FAILED, "memory 46.1 MiB");
  observed = good();
  observed.after.cpu = 0.5;
  expect(&observed, TG_PROBE_FAILED, "CPU at rest 50 %");
}

static void test_a_late_machine_decides_nothing(void **state) {
  (void)state;
  struct tg_observed observed = good();
  observed.others_lost = 2;
  observed.own_late_s = 0.6;
  expect(&observed, TG_PROBE_UNDECIDED, "this machine itself was late");
  // But it excuses nothing else.
  observed.alive = false;
  expect(&observed, TG_PROBE_FAILED, "has died");
}

static void test_the_worst_counts(void **state) {
  (void)state;
  static struct tg_probe_run run = {.num = 3};
  assert_int_equal(tg_probe_run_outcome(&run), TG_PROBE_PASS);
  run.results[2].outcome = TG_PROBE_UNDECIDED;
  assert_int_equal(tg_probe_run_outcome(&run), TG_PROBE_UNDECIDED);
  run.results[0].outcome = TG_PROBE_FAILED;
  assert_int_equal(tg_probe_run_outcome(&run), TG_PROBE_FAILED);
}

static void test_the_report_says_what_was_seen(void **state) {
  (void)state;
  size_t num = 0;
  static struct tg_probe_run run = {.num = 1};
  const struct tg_server_description description = {.name = "a"};
  const struct tg_probe_config config = {.description = &description, .limit_s = 15, .connections = 2000};
  run.results[0].probe = tg_probes(&num);
  run.results[0].observed = good();
  run.results[0].observed.seen.end = TG_PROBE_END_NONE;
  run.results[0].observed.seen.waited_s = 15;
  json_t *report = tg_probe_report(&config, &run);
  assert_non_null(report);
  assert_int_equal(json_integer_value(json_object_get(report, "schema")), TG_PROBE_REPORT_SCHEMA);
  const json_t *one = json_array_get(json_object_get(report, "probes"), 0);
  const json_t *deadline = json_object_get(one, "deadline");
  assert_string_equal(json_string_value(json_object_get(deadline, "ended_by")), "none_within_limit");
  assert_true(json_is_null(json_object_get(deadline, "after_s")));
  assert_int_equal(json_integer_value(json_object_get(json_object_get(one, "before"), "fds")), 20);
  json_decref(report);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_reason),
      cmocka_unit_test(test_tolerances),
      cmocka_unit_test(test_a_late_machine_decides_nothing),
      cmocka_unit_test(test_the_worst_counts),
      cmocka_unit_test(test_the_report_says_what_was_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

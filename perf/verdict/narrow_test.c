// What a verdict must not say: of a run that cannot be read, of ratios alone, of a host that hides the stall.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/verdict/narrow.h"
#include "perf/verdict/verdict_fixture.h"

static enum tg_status status_of(const struct tg_fixture *f, const char *gate) {
  return tg_verdict_gate(f->verdict, gate)->status;
}

static void an_unreadable_run_decides_its_physics_gates_alone(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "floor");
  tg_fixture_add(f, "floor", 8, 50, false);
  tg_fixture_judge(f, "rtt");
  assert_int_equal(status_of(f, "cpu"), TG_STATUS_PASS);
  tg_verdict_unreadable(f->verdict, "stolen time");
  assert_int_equal(status_of(f, "rtt"), TG_STATUS_PASS);
  assert_int_equal(status_of(f, "stalled"), TG_STATUS_PASS);
  assert_int_equal(status_of(f, "floor"), TG_STATUS_FAIL);
  assert_int_equal(status_of(f, "calls"), TG_STATUS_PASS);  // exact: no clock in it
  assert_int_equal(status_of(f, "cpu"), TG_STATUS_UNDECIDED);
  assert_int_equal(status_of(f, "rps"), TG_STATUS_UNDECIDED);
  assert_int_equal(status_of(f, "churn"), TG_STATUS_UNDECIDED);
  assert_int_equal(status_of(f, "soft"), TG_STATUS_UNDECIDED);
  assert_int_equal(status_of(f, "scaling"), TG_STATUS_UNDECIDED);
  assert_int_equal(status_of(f, "plain"), TG_STATUS_RECORDED);
  assert_int_equal(status_of(f, "off"), TG_STATUS_DISABLED);
  assert_says(tg_verdict_gate(f->verdict, "cpu"), "stolen time");
  assert_false(tg_verdict_gate(f->verdict, "cpu")->open);
  assert_int_equal(f->verdict->status, TG_STATUS_FAIL);
  assert_int_equal(f->verdict->undecided, 5);
  assert_int_equal(f->verdict->failed, 1);
}

static void an_unreadable_run_does_not_fail_its_soft_gates_either(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "cpu");
  tg_fixture_add(f, "cpu", 8, 400, false);
  tg_fixture_judge(f, "rtt");
  assert_int_equal(status_of(f, "cpu"), TG_STATUS_FAIL);
  tg_verdict_unreadable(f->verdict, "stolen time");
  assert_int_equal(status_of(f, "cpu"), TG_STATUS_UNDECIDED);
  assert_int_equal(f->verdict->status, TG_STATUS_UNDECIDED);
}

static void ratios_only_judges_ratios_physics_and_exact_gates(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "cpu");
  tg_fixture_add(f, "cpu", 8, 400, false);
  tg_fixture_judge(f, "rtt");
  tg_verdict_ratios_only(f->verdict);
  assert_int_equal(status_of(f, "cpu"), TG_STATUS_RECORDED);
  assert_int_equal(status_of(f, "soft"), TG_STATUS_RECORDED);
  assert_int_equal(status_of(f, "churn"), TG_STATUS_RECORDED);  // its firm metric is absolute here
  assert_int_equal(status_of(f, "rps"), TG_STATUS_PASS);
  assert_int_equal(status_of(f, "scaling"), TG_STATUS_PASS);
  assert_int_equal(status_of(f, "rtt"), TG_STATUS_PASS);
  assert_int_equal(status_of(f, "calls"), TG_STATUS_PASS);
  assert_int_equal(f->verdict->status, TG_STATUS_PASS);
  assert_int_equal(f->verdict->gated, 6);
  assert_says(tg_verdict_gate(f->verdict, "cpu"), "--ratios-only");
}

static void a_hidden_stall_takes_back_what_passed(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "");
  tg_fixture_judge(f, "rtt");
  tg_verdict_hide(f->verdict, NULL);
  assert_int_equal(f->verdict->status, TG_STATUS_PASS);
  tg_verdict_hide(f->verdict, "quickack 1");
  assert_int_equal(status_of(f, "rtt"), TG_STATUS_UNDECIDED);
  assert_int_equal(status_of(f, "floor"), TG_STATUS_PASS);
  assert_int_equal(f->verdict->status, TG_STATUS_UNDECIDED);
  assert_says(tg_verdict_gate(f->verdict, "rtt"), "quickack 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      VERDICT_TEST(an_unreadable_run_decides_its_physics_gates_alone),
      VERDICT_TEST(an_unreadable_run_does_not_fail_its_soft_gates_either),
      VERDICT_TEST(ratios_only_judges_ratios_physics_and_exact_gates),
      VERDICT_TEST(a_hidden_stall_takes_back_what_passed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

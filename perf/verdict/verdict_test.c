// From samples to verdicts: every status, and what saturated clients and hosts that hide the stall make of them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "perf/verdict/verdict_fixture.h"

static void a_healthy_run_passes(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "");
  const struct tg_gate_verdict *rtt = tg_fixture_judge(f, "rtt");
  assert_int_equal(f->verdict->status, TG_STATUS_PASS);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 0);
  assert_int_equal(f->verdict->passed, 9);
  assert_int_equal(f->verdict->gated, 9);
  assert_true(tg_verdict_settled(f->verdict));
  assert_int_equal(rtt->status, TG_STATUS_PASS);
  assert_true(fabs(rtt->value - 0.1) < 1e-9);
  assert_true(fabs(rtt->distance - 0.02) < 1e-3);
  assert_true(rtt->spread > 0.005 && rtt->spread < 0.03);
  assert_int_equal(rtt->rounds, 8);
  assert_true(fabs(tg_verdict_gate(f->verdict, "rps")->bound - 250) < 1e-9);
  assert_int_equal(tg_verdict_gate(f->verdict, "off")->status, TG_STATUS_DISABLED);
  assert_int_equal(tg_verdict_gate(f->verdict, "plain")->status, TG_STATUS_RECORDED);
  assert_string_equal(tg_verdict_gate(f->verdict, "plain")->message, "a control");
  assert_true(tg_verdict_gate(f->verdict, "churn")->judged_by_firm);
  assert_null(tg_verdict_gate(f->verdict, "nothing"));
}

static void a_stalled_server_fails_and_is_told_so(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "rtt stalled");
  tg_fixture_add(f, "rtt", 8, 43, false);
  tg_fixture_add_counts(f, 99);
  const struct tg_gate_verdict *rtt = tg_fixture_judge(f, "rtt");
  assert_int_equal(rtt->status, TG_STATUS_FAIL);
  assert_says(rtt, "43 ms is over the bound 5 ms");
  assert_says(rtt, "quickack");
  const struct tg_gate_verdict *stalled = tg_verdict_gate(f->verdict, "stalled");
  assert_int_equal(stalled->status, TG_STATUS_FAIL);
  assert_says(stalled, "0.99 fraction is over the bound 0.02");
  assert_int_equal(f->verdict->status, TG_STATUS_FAIL);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 1);
  assert_int_equal(f->verdict->failed, 2);
}

static void a_floor_not_reached_is_under_the_bound(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "floor");
  tg_fixture_add(f, "floor", 8, 60, false);
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "floor");
  assert_int_equal(v->status, TG_STATUS_FAIL);
  assert_says(v, "60 1/s is under the bound 200 1/s");
  assert_true(fabs(v->distance - 200.0 / 60) < 0.1);
}

static void too_few_rounds_or_none_are_undecided_and_open(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "rtt");
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "rtt");
  assert_int_equal(v->status, TG_STATUS_UNDECIDED);
  assert_true(v->open);
  assert_false(v->has_value);
  assert_says(v, "no sample; see what workload w reported");
  tg_fixture_add(f, "rtt", 4, 0.1, false);
  v = tg_fixture_judge(f, "rtt");
  assert_int_equal(v->status, TG_STATUS_UNDECIDED);
  assert_says(v, "4 of at least 5 rounds");
  assert_false(tg_verdict_settled(f->verdict));
  assert_int_equal(f->verdict->status, TG_STATUS_UNDECIDED);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 3);
  assert_int_equal(f->verdict->undecided, 1);
}

static void a_value_at_its_bound_says_indifference_and_noise_says_noise(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "rtt soft");
  tg_fixture_add(f, "rtt", 8, 5.1, false);
  for (size_t i = 0; i < 8; i++) {
    assert_true(tg_samples_add(f->samples, "soft", i, i % 2 == 0 ? 30 : 3000, false, NULL));
  }
  assert_says(tg_fixture_judge(f, "rtt"), "in the indifference zone: 1.02 x outside its bound");
  assert_says(tg_fixture_judge(f, "soft"), "noisy: rounds spread by");
}

static void a_saturated_client_hands_over_to_the_firm_metric(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "rps");
  tg_fixture_add(f, "rps", 8, 100, true);
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "rps");
  assert_int_equal(v->status, TG_STATUS_PASS);
  assert_true(v->judged_by_firm);
  assert_int_equal(v->client_bound, 8);
  assert_says(v, "client-bound, judged by server CPU per unit of work, cpu: pass");
}

static void a_firm_metric_that_fails_fails_the_gates_that_it_decides(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "rps cpu");
  tg_fixture_add(f, "rps", 8, 900, true);
  tg_fixture_add(f, "cpu", 8, 400, false);
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "rps");
  assert_int_equal(v->status, TG_STATUS_FAIL);
  assert_says(v, "cpu: fail; 400 us is over the bound 100 us");
  assert_int_equal(tg_verdict_gate(f->verdict, "churn")->status, TG_STATUS_FAIL);
  assert_int_equal(f->verdict->failed, 3);
}

static void a_saturated_client_in_fewer_than_half_of_the_rounds_is_no_reason(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "rps");
  for (size_t i = 0; i < 8; i++) assert_true(tg_samples_add(f->samples, "rps", i, 600, i < 3, NULL));
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "rps");
  assert_int_equal(v->status, TG_STATUS_PASS);
  assert_false(v->judged_by_firm);
}

static void a_saturated_client_of_the_control_proves_nothing(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "plain");
  tg_fixture_add(f, "plain", 8, 1000, true);
  assert_true(tg_fixture_judge(f, "rps")->judged_by_firm);
}

static void what_is_too_slow_for_a_saturated_control_fails(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "plain rps");
  tg_fixture_add(f, "plain", 8, 1000, true);
  tg_fixture_add(f, "rps", 8, 50, false);
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "rps");
  assert_false(v->judged_by_firm);
  assert_int_equal(v->status, TG_STATUS_FAIL);
  assert_says(v, "under the bound 250 1/s, set by plain");
}

static void without_a_firm_metric_a_saturated_client_is_never_a_pass(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "soft");
  tg_fixture_add(f, "soft", 8, 900, true);
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "soft");
  assert_int_equal(v->status, TG_STATUS_CLIENT_BOUND);
  assert_says(v, "client-bound in 8 of 8 rounds");
  assert_true(tg_verdict_settled(f->verdict));
  assert_int_equal(tg_verdict_exit_code(f->verdict), 3);
}

static void a_floor_from_physics_that_a_saturated_client_exceeds_is_a_pass(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "floor");
  tg_fixture_add(f, "floor", 8, 900, true);
  assert_int_equal(tg_fixture_judge(f, "floor")->status, TG_STATUS_PASS);
}

static void a_floor_that_a_saturated_client_missed_is_client_bound(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "floor");
  tg_fixture_add(f, "floor", 8, 60, true);
  assert_int_equal(tg_fixture_judge(f, "floor")->status, TG_STATUS_CLIENT_BOUND);
}

static void a_host_that_hides_the_stall_leaves_its_gates_undecided(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "");
  const struct tg_gate_verdict *v = tg_fixture_judge_host(f, "net.ipv4.tcp_pingpong_thresh = 3", "rtt");
  assert_int_equal(v->status, TG_STATUS_UNDECIDED);
  assert_false(v->open);
  assert_says(v, "this host hides the stall (net.ipv4.tcp_pingpong_thresh = 3)");
  assert_int_equal(tg_verdict_gate(f->verdict, "stalled")->status, TG_STATUS_UNDECIDED);
  assert_int_equal(tg_verdict_gate(f->verdict, "floor")->status, TG_STATUS_PASS);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 3);
}

static void a_failure_shows_on_a_host_that_hides_the_stall(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "rtt");
  tg_fixture_add(f, "rtt", 8, 43, false);
  assert_int_equal(tg_fixture_judge_host(f, "a route", "rtt")->status, TG_STATUS_FAIL);
}

static void an_exact_count_must_hold_in_every_round(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "calls");
  tg_fixture_add_calls(f, 13);
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "calls");
  assert_int_equal(v->status, TG_STATUS_FAIL);
  assert_true(v->value == 13);
}

static void a_gate_with_an_interval_needs_all_of_it_on_one_side(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "scaling");
  for (size_t i = 0; i < 6; i++) {
    assert_true(tg_samples_add(f->samples, "scaling", i, i % 2 == 0 ? 0.75 : 1.2, false, NULL));
  }
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "scaling");
  assert_int_equal(v->status, TG_STATUS_UNDECIDED);
  assert_true(v->open);
  assert_says(v, "interval");
}

static void relative_bounds_pair_by_round(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "plain rps");
  for (size_t i = 0; i < 16; i++) {
    const double machine = i % 4 == 0 ? 0.2 : 1;
    if (i % 2 == 0) assert_true(tg_samples_add(f->samples, "rps", i, 600 * machine, false, NULL));
    assert_true(tg_samples_add(f->samples, "plain", i, 1000 * machine, false, NULL));
  }
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "rps");
  assert_int_equal(v->status, TG_STATUS_PASS);
  assert_true(fabs(v->distance - 250.0 / 600) < 1e-9);
}

static void counts_for_a_gate_on_values_are_an_error_in_words(void **state) {
  struct tg_fixture *f = *state;
  tg_fixture_add_healthy(f, "soft stalled");
  assert_true(tg_samples_add_count(f->samples, "soft", 0, 1, 2, NULL));
  tg_fixture_add(f, "stalled", 8, 0.001, false);
  const struct tg_gate_verdict *v = tg_fixture_judge(f, "soft");
  assert_int_equal(v->status, TG_STATUS_UNDECIDED);
  assert_says(v, "samples are counts");
  assert_says(tg_verdict_gate(f->verdict, "stalled"), "samples are values");
}

static void what_is_no_measurement_is_no_sample(void **state) {
  struct tg_fixture *f = *state;
  struct tg_error err;
  assert_false(tg_samples_add(f->samples, "rtt", 0, 0, false, &err));
  assert_non_null(strstr(err.text, "metric rtt: 0 in round 0 is not a measurement"));
  assert_false(tg_samples_add(f->samples, "rtt", 0, NAN, false, &err));
  assert_false(tg_samples_add(f->samples, "rtt", 0, INFINITY, false, &err));
  assert_false(tg_samples_add(f->samples, "rtt", 0, -1, false, &err));
  assert_false(tg_samples_add(f->samples, "rtt", TG_ROUNDS_MAX, 1, false, &err));
  assert_false(tg_samples_add_count(f->samples, "rtt", 0, 0, 0, &err));
  assert_false(tg_samples_add_count(f->samples, "rtt", 0, 2, 1, &err));
  assert_null(tg_samples_find(f->samples, "rtt"));
  assert_int_equal(tg_samples_rounds(f->samples), 0);
  assert_true(tg_samples_add(f->samples, "rtt", 3, 1, false, &err));
  assert_false(tg_samples_add(f->samples, "rtt", 3, 1, false, &err));
  assert_non_null(strstr(err.text, "a sample of round 3 after one of round 3"));
  assert_false(tg_samples_add_count(f->samples, "rtt", 4, 1, 2, &err));
  assert_non_null(strstr(err.text, "cannot be mixed"));
  assert_int_equal(tg_samples_find(f->samples, "rtt")->num, 1);
  assert_int_equal(tg_samples_rounds(f->samples), 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      VERDICT_TEST(a_healthy_run_passes),
      VERDICT_TEST(a_stalled_server_fails_and_is_told_so),
      VERDICT_TEST(a_floor_not_reached_is_under_the_bound),
      VERDICT_TEST(too_few_rounds_or_none_are_undecided_and_open),
      VERDICT_TEST(a_value_at_its_bound_says_indifference_and_noise_says_noise),
      VERDICT_TEST(a_saturated_client_hands_over_to_the_firm_metric),
      VERDICT_TEST(a_firm_metric_that_fails_fails_the_gates_that_it_decides),
      VERDICT_TEST(a_saturated_client_in_fewer_than_half_of_the_rounds_is_no_reason),
      VERDICT_TEST(a_saturated_client_of_the_control_proves_nothing),
      VERDICT_TEST(what_is_too_slow_for_a_saturated_control_fails),
      VERDICT_TEST(without_a_firm_metric_a_saturated_client_is_never_a_pass),
      VERDICT_TEST(a_floor_from_physics_that_a_saturated_client_exceeds_is_a_pass),
      VERDICT_TEST(a_floor_that_a_saturated_client_missed_is_client_bound),
      VERDICT_TEST(a_host_that_hides_the_stall_leaves_its_gates_undecided),
      VERDICT_TEST(a_failure_shows_on_a_host_that_hides_the_stall),
      VERDICT_TEST(an_exact_count_must_hold_in_every_round),
      VERDICT_TEST(a_gate_with_an_interval_needs_all_of_it_on_one_side),
      VERDICT_TEST(relative_bounds_pair_by_round),
      VERDICT_TEST(counts_for_a_gate_on_values_are_an_error_in_words),
      VERDICT_TEST(what_is_no_measurement_is_no_sample),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

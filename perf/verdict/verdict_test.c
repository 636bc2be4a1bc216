// From samples to verdicts: every status, what saturated clients and hosts that hide the stall make of them, and the
// table. Usage: verdict_test PUBLISHED
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/manifest/manifest.h"
#include "perf/verdict/samples.h"
#include "perf/verdict/table.h"
#include "perf/verdict/verdict.h"

static const char *published_file;

static const char kGates[] =
    "{\"schema\": 1, \"about\": \"x\", \"purpose\": \"run\", \"gates\": ["
    "{\"name\": \"rtt\", \"unit\": \"ms\", \"kind\": \"physics\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": 5, \"why\": \"y\", \"fault\": \"f\", \"stall_sensitive\": true},"
    "{\"name\": \"stalled\", \"unit\": \"fraction\", \"kind\": \"physics\", \"direction\": \"at_most\", \"workload\": "
    "\"w\","
    " \"judged_by\": \"fraction\", \"bound\": 0.02, \"min_trials\": 400, \"why\": \"y\", \"fault\": \"f\","
    " \"stall_sensitive\": true},"
    "{\"name\": \"floor\", \"unit\": \"1/s\", \"kind\": \"physics\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"bound\": 200, \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"rps\", \"unit\": \"1/s\", \"kind\": \"relative\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"relative_to\": {\"metric\": \"plain\", \"factor\": 0.25}, \"firm\": \"cpu\", \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"cpu\", \"unit\": \"us\", \"kind\": \"absolute\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": 100, \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"churn\", \"unit\": \"1/s\", \"kind\": \"relative\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"judged_by\": \"firm\", \"firm\": \"cpu\", \"fault\": \"f\"},"
    "{\"name\": \"soft\", \"unit\": \"1/s\", \"kind\": \"absolute\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"bound\": 200, \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"calls\", \"unit\": \"calls\", \"kind\": \"exact\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": 12, \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"scaling\", \"unit\": \"ratio\", \"kind\": \"relative\", \"direction\": \"at_least\", \"workload\": "
    "\"w\","
    " \"bound\": 0.7, \"interval\": true, \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"off\", \"unit\": \"ms\", \"kind\": \"absolute\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": null, \"why\": \"y\"},"
    "{\"name\": \"plain\", \"unit\": \"1/s\", \"kind\": \"absolute\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"recorded_only\": \"a control\"}]}";

struct fixture {
  struct tg_manifest *manifest;
  struct tg_samples *samples;
  struct tg_verdict *verdict;
};

static int set_up(void **state) {
  struct fixture *f = calloc(1, sizeof(*f));
  struct tg_error err = {""};
  f->manifest = tg_manifest_parse("kGates", kGates, strlen(kGates), &err);
  if (f->manifest == NULL) print_error("%s\n", err.text);
  f->samples = tg_samples_create();
  *state = f;
  return f->manifest == NULL;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  tg_verdict_free(f->verdict);
  tg_samples_free(f->samples);
  tg_manifest_free(f->manifest);
  free(f);
  return 0;
}

static void add(struct fixture *f, const char *metric, size_t rounds, double value, bool client_bound) {
  struct tg_error err = {""};
  for (size_t i = 0; i < rounds; i++) {
    const double wobble = i % 2 == 0 ? 1.01 : 0.99;
    assert_true(tg_samples_add(f->samples, metric, i, value * wobble, client_bound, &err));
  }
}

static void add_counts(struct fixture *f, uint64_t hits) {
  for (size_t i = 0; i < 8; i++) assert_true(tg_samples_add_count(f->samples, "stalled", i, hits, 100, NULL));
}

static void add_calls(struct fixture *f, double worst) {
  for (size_t i = 0; i < 3; i++) assert_true(tg_samples_add(f->samples, "calls", i, i == 1 ? worst : 12, false, NULL));
}

// Eight rounds in which everything is well, but for the metrics named in `except`.
static void add_healthy(struct fixture *f, const char *except) {
  static const struct {
    const char *metric;
    double value;
  } healthy[] = {{"rtt", 0.1},   {"floor", 900}, {"rps", 600},     {"cpu", 20},
                 {"churn", 500}, {"soft", 900},  {"scaling", 1.1}, {"plain", 1000}};
  for (size_t i = 0; i < sizeof(healthy) / sizeof(healthy[0]); i++) {
    if (strstr(except, healthy[i].metric) == NULL) add(f, healthy[i].metric, 8, healthy[i].value, false);
  }
  if (strstr(except, "stalled") == NULL) add_counts(f, 0);
  if (strstr(except, "calls") == NULL) add_calls(f, 12);
}

static const struct tg_gate_verdict *judge_host(struct fixture *f, const char *hidden_by, const char *gate) {
  const struct tg_host_view host = {.stall_hidden_by = hidden_by};
  tg_verdict_free(f->verdict);
  f->verdict = tg_verdict_judge(f->manifest, f->samples, &host);
  return tg_verdict_gate(f->verdict, gate);
}

static const struct tg_gate_verdict *judge(struct fixture *f, const char *gate) {
  return judge_host(f, NULL, gate);
}

#define assert_says(v, text)                                                                     \
  do {                                                                                           \
    if (strstr((v)->message, text) == NULL) fail_msg("\"%s\" lacks \"%s\"", (v)->message, text); \
  } while (0)

static void a_healthy_run_passes(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "");
  const struct tg_gate_verdict *rtt = judge(f, "rtt");
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
  struct fixture *f = *state;
  add_healthy(f, "rtt stalled");
  add(f, "rtt", 8, 43, false);
  add_counts(f, 99);
  const struct tg_gate_verdict *rtt = judge(f, "rtt");
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
  struct fixture *f = *state;
  add_healthy(f, "floor");
  add(f, "floor", 8, 60, false);
  const struct tg_gate_verdict *v = judge(f, "floor");
  assert_int_equal(v->status, TG_STATUS_FAIL);
  assert_says(v, "60 1/s is under the bound 200 1/s");
  assert_true(fabs(v->distance - 200.0 / 60) < 0.1);
}

static void too_few_rounds_or_none_are_undecided_and_open(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "rtt");
  const struct tg_gate_verdict *v = judge(f, "rtt");
  assert_int_equal(v->status, TG_STATUS_UNDECIDED);
  assert_true(v->open);
  assert_false(v->has_value);
  assert_says(v, "no sample; see what workload w reported");
  add(f, "rtt", 4, 0.1, false);
  v = judge(f, "rtt");
  assert_int_equal(v->status, TG_STATUS_UNDECIDED);
  assert_says(v, "4 of at least 5 rounds");
  assert_false(tg_verdict_settled(f->verdict));
  assert_int_equal(f->verdict->status, TG_STATUS_UNDECIDED);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 3);
  assert_int_equal(f->verdict->undecided, 1);
}

static void a_value_at_its_bound_says_indifference_and_noise_says_noise(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "rtt soft");
  add(f, "rtt", 8, 5.1, false);
  for (size_t i = 0; i < 8; i++) {
    assert_true(tg_samples_add(f->samples, "soft", i, i % 2 == 0 ? 30 : 3000, false, NULL));
  }
  assert_says(judge(f, "rtt"), "in the indifference zone: 1.02 x outside its bound");
  assert_says(judge(f, "soft"), "noisy: rounds spread by");
}

static void a_saturated_client_hands_over_to_the_firm_metric(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "rps");
  add(f, "rps", 8, 100, true);
  const struct tg_gate_verdict *v = judge(f, "rps");
  assert_int_equal(v->status, TG_STATUS_PASS);
  assert_true(v->judged_by_firm);
  assert_int_equal(v->client_bound, 8);
  assert_says(v, "client-bound, judged by server CPU per unit of work, cpu: pass");
}

static void a_firm_metric_that_fails_fails_the_gates_that_it_decides(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "rps cpu");
  add(f, "rps", 8, 900, true);
  add(f, "cpu", 8, 400, false);
  const struct tg_gate_verdict *v = judge(f, "rps");
  assert_int_equal(v->status, TG_STATUS_FAIL);
  assert_says(v, "cpu: fail; 400 us is over the bound 100 us");
  assert_int_equal(tg_verdict_gate(f->verdict, "churn")->status, TG_STATUS_FAIL);
  assert_int_equal(f->verdict->failed, 3);
}

static void a_saturated_client_in_fewer_than_half_of_the_rounds_is_no_reason(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "rps");
  for (size_t i = 0; i < 8; i++) assert_true(tg_samples_add(f->samples, "rps", i, 600, i < 3, NULL));
  const struct tg_gate_verdict *v = judge(f, "rps");
  assert_int_equal(v->status, TG_STATUS_PASS);
  assert_false(v->judged_by_firm);
}

static void a_saturated_client_of_the_control_proves_nothing(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "plain");
  add(f, "plain", 8, 1000, true);
  assert_true(judge(f, "rps")->judged_by_firm);
}

static void what_is_too_slow_for_a_saturated_control_fails(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "plain rps");
  add(f, "plain", 8, 1000, true);
  add(f, "rps", 8, 50, false);
  const struct tg_gate_verdict *v = judge(f, "rps");
  assert_false(v->judged_by_firm);
  assert_int_equal(v->status, TG_STATUS_FAIL);
  assert_says(v, "under the bound 250 1/s, set by plain");
}

static void without_a_firm_metric_a_saturated_client_is_never_a_pass(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "soft");
  add(f, "soft", 8, 900, true);
  const struct tg_gate_verdict *v = judge(f, "soft");
  assert_int_equal(v->status, TG_STATUS_CLIENT_BOUND);
  assert_says(v, "client-bound in 8 of 8 rounds");
  assert_true(tg_verdict_settled(f->verdict));
  assert_int_equal(tg_verdict_exit_code(f->verdict), 3);
}

static void a_floor_from_physics_that_a_saturated_client_exceeds_is_a_pass(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "floor");
  add(f, "floor", 8, 900, true);
  assert_int_equal(judge(f, "floor")->status, TG_STATUS_PASS);
}

static void a_floor_that_a_saturated_client_missed_is_client_bound(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "floor");
  add(f, "floor", 8, 60, true);
  assert_int_equal(judge(f, "floor")->status, TG_STATUS_CLIENT_BOUND);
}

static void a_host_that_hides_the_stall_leaves_its_gates_undecided(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "");
  const struct tg_gate_verdict *v = judge_host(f, "net.ipv4.tcp_pingpong_thresh = 3", "rtt");
  assert_int_equal(v->status, TG_STATUS_UNDECIDED);
  assert_false(v->open);
  assert_says(v, "this host hides the stall (net.ipv4.tcp_pingpong_thresh = 3)");
  assert_int_equal(tg_verdict_gate(f->verdict, "stalled")->status, TG_STATUS_UNDECIDED);
  assert_int_equal(tg_verdict_gate(f->verdict, "floor")->status, TG_STATUS_PASS);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 3);
}

static void a_failure_shows_on_a_host_that_hides_the_stall(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "rtt");
  add(f, "rtt", 8, 43, false);
  assert_int_equal(judge_host(f, "a route", "rtt")->status, TG_STATUS_FAIL);
}

static void an_exact_count_must_hold_in_every_round(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "calls");
  add_calls(f, 13);
  const struct tg_gate_verdict *v = judge(f, "calls");
  assert_int_equal(v->status, TG_STATUS_FAIL);
  assert_true(v->value == 13);
}

static void a_gate_with_an_interval_needs_all_of_it_on_one_side(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "scaling");
  for (size_t i = 0; i < 6; i++) {
    assert_true(tg_samples_add(f->samples, "scaling", i, i % 2 == 0 ? 0.75 : 1.2, false, NULL));
  }
  const struct tg_gate_verdict *v = judge(f, "scaling");
  assert_int_equal(v->status, TG_STATUS_UNDECIDED);
  assert_true(v->open);
  assert_says(v, "interval");
}

static void relative_bounds_pair_by_round(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "plain rps");
  for (size_t i = 0; i < 16; i++) {
    const double machine = i % 4 == 0 ? 0.2 : 1;
    if (i % 2 == 0) assert_true(tg_samples_add(f->samples, "rps", i, 600 * machine, false, NULL));
    assert_true(tg_samples_add(f->samples, "plain", i, 1000 * machine, false, NULL));
  }
  const struct tg_gate_verdict *v = judge(f, "rps");
  assert_int_equal(v->status, TG_STATUS_PASS);
  assert_true(fabs(v->distance - 250.0 / 600) < 1e-9);
}

static void counts_for_a_gate_on_values_are_an_error_in_words(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "soft stalled");
  assert_true(tg_samples_add_count(f->samples, "soft", 0, 1, 2, NULL));
  add(f, "stalled", 8, 0.001, false);
  const struct tg_gate_verdict *v = judge(f, "soft");
  assert_int_equal(v->status, TG_STATUS_UNDECIDED);
  assert_says(v, "samples are counts");
  assert_says(tg_verdict_gate(f->verdict, "stalled"), "samples are values");
}

static void what_is_no_measurement_is_no_sample(void **state) {
  struct fixture *f = *state;
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

static char *printed(const struct tg_verdict *verdict, bool colour) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  tg_table_print(out, verdict, colour);
  fclose(out);
  return text;
}

static void the_table_has_failures_first_and_ends_with_the_summary(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "floor soft");
  add(f, "floor", 8, 60, false);
  add(f, "soft", 8, 900, true);
  judge(f, "floor");
  char *text = printed(f->verdict, false);
  const char *fail_line = strstr(text, "\nfail ");
  const char *bound_line = strstr(text, "\nclient-bound ");
  const char *pass_line = strstr(text, "\npass ");
  assert_true(fail_line != NULL && fail_line < bound_line && bound_line < pass_line);
  assert_non_null(strstr(text, "60 1/s is under the bound 200 1/s"));
  assert_non_null(strstr(text, "\n7/9 passed, 1 failed: floor, 1 undecided: soft\n"));
  assert_null(strchr(text, '\033'));
  free(text);
  text = printed(f->verdict, true);
  assert_non_null(strstr(text, "\033[1;31mfail"));
  free(text);
}

static void the_columns_of_the_table_are_aligned(void **state) {
  struct fixture *f = *state;
  add_healthy(f, "");
  judge(f, "rtt");
  char *text = printed(f->verdict, false);
  const char *header_end = strchr(text, '\n');
  const size_t width = (size_t)(header_end - text);
  size_t lines = 0;
  for (const char *line = strstr(text, "\npass"); line != NULL; line = strstr(line + 1, "\npass")) {
    assert_int_equal(strcspn(line + 1, "\n"), width);
    lines++;
  }
  assert_int_equal(lines, 9);
  free(text);
}

static void numbers_are_short_and_grouped(void **state) {
  (void)state;
  char out[32];
  assert_string_equal(tg_table_number(out, 43.182), "43.182");
  assert_string_equal(tg_table_number(out, 0.0214), "0.0214");
  assert_string_equal(tg_table_number(out, 179188), "179,188");
  assert_string_equal(tg_table_number(out, 1234567.8), "1,234,568");
  assert_string_equal(tg_table_number(out, -123456), "-123,456");
  assert_string_equal(tg_table_number(out, 9999), "9999");
}

static const struct tg_gate_verdict *replay(struct fixture *f, const char *set, const char *row) {
  struct tg_error err = {""};
  tg_verdict_free(f->verdict);
  f->verdict = NULL;
  tg_manifest_free(f->manifest);
  f->manifest = tg_manifest_load(published_file, &err);
  if (f->manifest == NULL) fail_msg("%s", err.text);
  if (set != NULL) assert_true(tg_manifest_use_set(f->manifest, set, &err));
  f->verdict = tg_verdict_replay(f->manifest, tg_manifest_row(f->manifest, row));
  assert_int_equal(f->verdict->gated, 7);
  return f->verdict->gates;
}

static void the_published_rows_get_the_published_verdicts(void **state) {
  struct fixture *f = *state;
  replay(f, NULL, "healthy");
  assert_int_equal(f->verdict->passed, 7);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 0);
  replay(f, "first", "healthy");
  assert_int_equal(f->verdict->passed, 7);
  replay(f, NULL, "shared_runner");
  assert_int_equal(f->verdict->passed, 7);
  replay(f, "first", "shared_runner");
  assert_int_equal(f->verdict->passed, 6);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 1);
  replay(f, NULL, "stalled");
  assert_int_equal(f->verdict->passed, 5);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 1);
  size_t over = 0;
  size_t under = 0;
  for (size_t i = 0; i < f->verdict->num_gates; i++) {
    over += strstr(f->verdict->gates[i].message, "over the bound") != NULL;
    under += strstr(f->verdict->gates[i].message, "under the bound") != NULL;
  }
  assert_int_equal(over, 1);
  assert_int_equal(under, 1);
}

static void a_row_without_a_gated_metric_is_undecided(void **state) {
  struct fixture *f = *state;
  struct tg_row_value values[] = {{"rtt", 0.1}, {"rps", 100}};
  const struct tg_row row = {.values = values, .num_values = 2};
  f->verdict = tg_verdict_replay(f->manifest, &row);
  assert_int_equal(tg_verdict_gate(f->verdict, "rtt")->status, TG_STATUS_PASS);
  assert_says(tg_verdict_gate(f->verdict, "rps"), "the row has no plain");
  assert_says(tg_verdict_gate(f->verdict, "cpu"), "the row has no cpu");
  assert_int_equal(tg_verdict_gate(f->verdict, "churn")->status, TG_STATUS_UNDECIDED);
  assert_int_equal(tg_verdict_exit_code(f->verdict), 3);
}

#define VERDICT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: verdict_test PUBLISHED\n", stderr);
    return 2;
  }
  published_file = argv[1];
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
      VERDICT_TEST(the_table_has_failures_first_and_ends_with_the_summary),
      VERDICT_TEST(the_columns_of_the_table_are_aligned),
      cmocka_unit_test(numbers_are_short_and_grouped),
      VERDICT_TEST(the_published_rows_get_the_published_verdicts),
      VERDICT_TEST(a_row_without_a_gated_metric_is_undecided),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

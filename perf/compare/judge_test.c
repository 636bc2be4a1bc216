// What becomes of samples written by hand: healthy, regressed, noisy, and such that are no comparison.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/compare/judge.h"
#include "perf/stats/random.h"

#define ALLOW 0.05

struct shape {
  size_t rounds;
  double noise;  // log-standard deviation of a run
  double worse;  // of the metric `regressed`: 1.1 is 10 % worse
  const char *regressed;
  bool client_bound;    // of the soft metrics
  const char *missing;  // a metric that the candidate lacks; NULL
  uint64_t seed;
};

static void fill(struct tg_compare_set *set, const struct shape *shape) {
  struct tg_random random = {.state = shape->seed};
  tg_compare_set_init(set);
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    const struct tg_compare_metric *metric = &tg_compare_metrics[i];
    for (size_t run = 0; run < 2 * shape->rounds; run++) {
      for (int side = 0; side < TG_COMPARE_SIDES; side++) {
        double value = 100 * exp(shape->noise * tg_random_normal(&random));
        if (side == TG_CANDIDATE && shape->regressed != NULL && strcmp(shape->regressed, metric->name) == 0) {
          value = metric->direction == TG_AT_MOST ? value * shape->worse : value / shape->worse;
        }
        if (side == TG_CANDIDATE && shape->missing != NULL && strcmp(shape->missing, metric->name) == 0) {
          continue;
        }
        assert_true(
            tg_samples_add(set->sides[side], metric->name, run, value, !metric->firm && shape->client_bound, NULL));
      }
    }
  }
}

static void judge(struct tg_ab_judgement *out, const struct shape *first, const struct shape *second) {
  struct tg_compare_set sets[TG_COMPARE_SETS];
  struct tg_error err;
  fill(&sets[0], first);
  if (second != NULL) {
    fill(&sets[1], second);
  }
  if (!tg_compare_judge(out, &sets[0], second != NULL ? &sets[1] : NULL, ALLOW, &err)) {
    fail_msg("%s", err.text);
  }
  tg_compare_set_free(&sets[0]);
  if (second != NULL) {
    tg_compare_set_free(&sets[1]);
  }
}

static const struct tg_compare_row *row_of(const struct tg_ab_judgement *comparison, const char *metric) {
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    if (strcmp(comparison->rows[i].metric->name, metric) == 0) {
      return &comparison->rows[i];
    }
  }
  fail_msg("no row %s", metric);
  return NULL;
}

static void a_healthy_candidate_passes(void **state) {
  (void)state;
  const struct shape healthy = {.rounds = 8, .noise = 0.02, .seed = 1};
  struct tg_ab_judgement comparison;
  judge(&comparison, &healthy, NULL);
  assert_int_equal(comparison.status, TG_STATUS_PASS);
  assert_int_equal(comparison.suspected, 0);
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    const struct tg_compare_row *row = &comparison.rows[i];
    assert_int_equal(row->status, row->metric->firm ? TG_STATUS_PASS : TG_STATUS_RECORDED);
    assert_true(row->sets[0].worse.low < 1.02 && row->sets[0].worse.high > 0.98);
  }
}

static void a_better_candidate_passes(void **state) {
  (void)state;
  const struct shape better = {
      .rounds = 8, .noise = 0.02, .worse = 0.7, .regressed = "full_handshake_cpu_us", .seed = 1};
  struct tg_ab_judgement comparison;
  judge(&comparison, &better, NULL);
  assert_int_equal(comparison.status, TG_STATUS_PASS);
}

static void each_firm_metric_can_fail_and_only_after_a_second_set(void **state) {
  (void)state;
  size_t firm = 0;
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    if (!tg_compare_metrics[i].firm) {
      continue;
    }
    firm++;
    const struct shape first = {
        .rounds = 8, .noise = 0.02, .worse = 1.15, .regressed = tg_compare_metrics[i].name, .seed = 1};
    struct shape second = first;
    second.seed = 2;
    struct tg_ab_judgement comparison;
    judge(&comparison, &first, NULL);
    const struct tg_compare_row *row = &comparison.rows[i];
    assert_int_equal(comparison.status, TG_STATUS_UNDECIDED);
    assert_true(row->suspected);
    assert_int_equal(comparison.suspected, 1);
    assert_non_null(strstr(row->message, "not yet confirmed"));
    bool needed[TG_COMPARE_WORKLOADS];
    tg_compare_needs(&comparison, needed);
    for (int workload = 0; workload < TG_COMPARE_WORKLOADS; workload++) {
      assert_int_equal(needed[workload], workload == (int)row->metric->workload);
    }
    judge(&comparison, &first, &second);
    assert_int_equal(comparison.status, TG_STATUS_FAIL);
    assert_int_equal(row->status, TG_STATUS_FAIL);
    assert_non_null(strstr(row->message, "% worse, and"));
  }
  assert_int_equal(firm, 5);
}

static void a_suspicion_that_is_not_confirmed_is_neither_fail_nor_pass(void **state) {
  (void)state;
  const struct shape first = {.rounds = 8, .noise = 0.02, .worse = 1.15, .regressed = "mib_cpu_us", .seed = 1};
  const struct shape second = {.rounds = 8, .noise = 0.02, .seed = 2};
  struct tg_ab_judgement comparison;
  judge(&comparison, &first, &second);
  assert_int_equal(comparison.status, TG_STATUS_UNDECIDED);
  assert_int_equal(row_of(&comparison, "mib_cpu_us")->status, TG_STATUS_UNDECIDED);
  assert_non_null(strstr(row_of(&comparison, "mib_cpu_us")->message, "not confirmed"));
}

static void what_lies_at_the_allowed_regression_is_undecided(void **state) {
  (void)state;
  const struct shape shape = {.rounds = 12, .noise = 0.03, .worse = 1 + ALLOW, .regressed = "rtt_p50_ms", .seed = 3};
  struct tg_ab_judgement comparison;
  judge(&comparison, &shape, NULL);
  assert_int_equal(comparison.status, TG_STATUS_UNDECIDED);
  assert_non_null(strstr(row_of(&comparison, "rtt_p50_ms")->message, "more --rounds"));
}

static void noise_is_undecided(void **state) {
  (void)state;
  const struct shape noisy = {.rounds = 8, .noise = 0.4, .seed = 4};
  struct tg_ab_judgement comparison;
  judge(&comparison, &noisy, NULL);
  assert_int_equal(comparison.status, TG_STATUS_UNDECIDED);
}

static void too_few_rounds_are_undecided_however_bad(void **state) {
  (void)state;
  const struct shape few = {
      .rounds = TG_BOOTSTRAP_LEAST - 1, .noise = 0.001, .worse = 3, .regressed = "rtt_p50_ms", .seed = 5};
  struct tg_ab_judgement comparison;
  judge(&comparison, &few, NULL);
  assert_int_equal(comparison.status, TG_STATUS_UNDECIDED);
  assert_int_equal(comparison.suspected, 0);
  assert_non_null(strstr(row_of(&comparison, "mib_cpu_us")->message, "--budget"));
}

static void throughput_of_a_saturated_client_is_soft_and_says_so(void **state) {
  (void)state;
  struct shape shape = {
      .rounds = 8, .noise = 0.02, .worse = 1.5, .regressed = "keepalive_rps", .client_bound = true, .seed = 6};
  struct tg_ab_judgement comparison;
  judge(&comparison, &shape, NULL);
  assert_int_equal(comparison.status, TG_STATUS_PASS);
  assert_int_equal(row_of(&comparison, "keepalive_rps")->status, TG_STATUS_CLIENT_BOUND);
  assert_non_null(strstr(row_of(&comparison, "keepalive_rps")->message, "the client was the limit"));
  // Where the server was the limit, the same drop is a failure.
  shape.client_bound = false;
  struct shape second = shape;
  second.seed = 7;
  judge(&comparison, &shape, &second);
  assert_int_equal(comparison.status, TG_STATUS_FAIL);
  assert_int_equal(row_of(&comparison, "keepalive_rps")->status, TG_STATUS_FAIL);
  // But noise in a throughput keeps nothing from passing.
  second.regressed = NULL;
  judge(&comparison, &shape, &second);
  assert_int_equal(comparison.status, TG_STATUS_PASS);
}

static void what_is_no_comparison_is_refused(void **state) {
  (void)state;
  struct shape shape = {.rounds = 8, .noise = 0.02, .missing = "resumed_handshake_cpu_us", .seed = 8};
  struct tg_compare_set set;
  struct tg_ab_judgement comparison;
  struct tg_error err;
  fill(&set, &shape);
  assert_false(tg_compare_judge(&comparison, &set, NULL, ALLOW, &err));
  assert_non_null(strstr(err.text, "resumed_handshake_cpu_us: the candidate has no samples"));
  tg_compare_set_free(&set);

  shape.missing = NULL;
  fill(&set, &shape);
  assert_true(tg_samples_add(set.sides[TG_BASE], "mib_cpu_us", 16, 100, false, NULL));
  assert_false(tg_compare_judge(&comparison, &set, NULL, ALLOW, &err));
  assert_non_null(strstr(err.text, "mib_cpu_us: 17 runs of the base and 16 of the candidate"));
  assert_true(tg_samples_add(set.sides[TG_CANDIDATE], "mib_cpu_us", 16, 100, false, NULL));
  assert_false(tg_compare_judge(&comparison, &set, NULL, ALLOW, &err));
  assert_non_null(strstr(err.text, "a round has two of each"));
  tg_compare_set_free(&set);
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void a_recorded_set_comes_back_and_a_damaged_one_does_not(void **state) {
  (void)state;
  const struct shape shape = {.rounds = 6, .noise = 0.02, .client_bound = true, .seed = 9};
  struct tg_compare_set set;
  struct tg_compare_set read;
  struct tg_error err;
  char path[256];
  (void)snprintf(path, sizeof(path), "%.200s/record.json", getenv("TEST_TMPDIR"));
  fill(&set, &shape);
  json_t *provenance = json_pack("{s:s, s:i}", "cpu_model", "some CPU", "cpus", 2);
  json_t *record = tg_compare_record_json(&set, provenance);
  assert_int_equal(json_dump_file(record, path, JSON_INDENT(1)), 0);
  if (!tg_compare_record_load(&read, path, &err)) {
    fail_msg("%s", err.text);
  }
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    const char *metric = tg_compare_metrics[i].name;
    assert_int_equal(tg_compare_set_rounds(&read, metric), 6);
    for (int side = 0; side < TG_COMPARE_SIDES; side++) {
      const struct tg_series *a = tg_samples_find(set.sides[side], metric);
      const struct tg_series *b = tg_samples_find(read.sides[side], metric);
      for (size_t run = 0; run < 12; run++) {
        assert_true(fabs(a->samples[run].value - b->samples[run].value) < 1e-9);
        assert_int_equal(a->samples[run].client_bound, b->samples[run].client_bound);
      }
    }
  }
  tg_compare_set_free(&read);

  json_t *series = json_object_get(json_object_get(json_object_get(record, "samples"), "base"), "mib_cpu_us");
  (void)json_array_append_new(json_object_get(series, "values"), json_real(-1));
  assert_int_equal(json_dump_file(record, path, 0), 0);
  assert_false(tg_compare_record_load(&read, path, &err));
  assert_non_null(strstr(err.text, "samples.base.mib_cpu_us"));
  (void)json_array_append_new(json_object_get(series, "client_bound"), json_false());
  assert_int_equal(json_dump_file(record, path, 0), 0);
  assert_false(tg_compare_record_load(&read, path, &err));
  assert_non_null(strstr(err.text, "is not a measurement"));
  write_file(path, "{\"schema\": 2}");
  assert_false(tg_compare_record_load(&read, path, &err));
  assert_non_null(strstr(err.text, "schema"));
  write_file(path, "{\"schema\": 1, \"machine\": {}, \"samples\": {}}");
  assert_false(tg_compare_record_load(&read, path, &err));
  assert_non_null(strstr(err.text, "cpu_model"));
  json_decref(record);
  json_decref(provenance);
  tg_compare_set_free(&set);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_healthy_candidate_passes),
      cmocka_unit_test(a_better_candidate_passes),
      cmocka_unit_test(each_firm_metric_can_fail_and_only_after_a_second_set),
      cmocka_unit_test(a_suspicion_that_is_not_confirmed_is_neither_fail_nor_pass),
      cmocka_unit_test(what_lies_at_the_allowed_regression_is_undecided),
      cmocka_unit_test(noise_is_undecided),
      cmocka_unit_test(too_few_rounds_are_undecided_however_bad),
      cmocka_unit_test(throughput_of_a_saturated_client_is_soft_and_says_so),
      cmocka_unit_test(what_is_no_comparison_is_refused),
      cmocka_unit_test(a_recorded_set_comes_back_and_a_damaged_one_does_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

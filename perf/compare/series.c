#include "perf/compare/series.h"

#include <math.h>
#include <stdio.h>

#include "perf/compare/compare.h"
#include "perf/process/child.h"
#include "perf/stats/quantile.h"

enum { KINDS = 3, COMPARISONS = 20 };

// A comparison has its first round even when the time is over: a series has all its lines.
#define LEAST_S 1.0

struct kind {
  const char *name;
  double burn;  // of a full handshake's CPU
};
static const struct kind kinds[KINDS] = {
    {"A/A", 0},
    {"+5 % handshake CPU", 0.05},
    {"+10 % handshake CPU", 0.10},
};

// In turns, so that an hour's drift of the machine meets all kinds.
static const int turns[] = {0, 1, 0, 2};

struct tally {
  size_t pass, fail, undecided;
  size_t unconfirmed;          // comparisons in which the second set did not say what the first one did
  double ratios[COMPARISONS];  // of a full handshake's CPU
  size_t num;
};

static void count(struct tally *tally, const struct tg_ab_judgement *comparison) {
  tally->pass += comparison->status == TG_STATUS_PASS;
  tally->fail += comparison->status == TG_STATUS_FAIL;
  tally->undecided += comparison->status == TG_STATUS_UNDECIDED;
  bool unconfirmed = false;
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    const struct tg_compare_row *row = &comparison->rows[i];
    unconfirmed = unconfirmed || (row->sets[0].status == TG_STATUS_FAIL && row->status != TG_STATUS_FAIL);
  }
  tally->unconfirmed += unconfirmed;
  tally->ratios[tally->num++] = comparison->rows[0].sets[0].worse.centre;
}

// The firm metrics that kept a comparison from passing.
static void print_reasons(const struct tg_ab_judgement *comparison) {
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    const struct tg_compare_row *row = &comparison->rows[i];
    if (row->status == TG_STATUS_FAIL || row->status == TG_STATUS_UNDECIDED) {
      printf("; %s %s (%.3f to %.3f)", row->metric->name, tg_status_name(row->status), row->sets[0].worse.low,
             row->sets[0].worse.high);
    }
  }
}

// What is left is shared among the comparisons that are left; one that has to confirm a suspicion may take two shares.
static double share_of(double left_s, size_t comparisons) {
  return fmax(fmin(2 * left_s / (double)comparisons, left_s), LEAST_S);
}

static bool run_one(const char *faulty_server, const char *rtt_client, const struct tg_compare_options *options,
                    double budget_s, int kind, size_t index, long handshake_ns, struct tally *tally, json_t *all,
                    struct tg_error *err) {
  static const char *const none[] = {"TLSGATE_FAULT=burn_handshake", "TLSGATE_BURN_NS=0", NULL};
  char burn[64];
  char what[64];
  const char *const burnt[] = {"TLSGATE_FAULT=burn_handshake", burn, NULL};
  (void)snprintf(burn, sizeof(burn), "TLSGATE_BURN_NS=%ld", (long)(kinds[kind].burn * (double)handshake_ns));
  (void)snprintf(what, sizeof(what), "%zu of %d, %s", index + 1, COMPARISONS, kinds[kind].name);
  struct tg_compare_config config = {
      .servers = {{.program = faulty_server, .env = none}, {.program = faulty_server, .env = burnt}},
      .rtt_client = rtt_client,
      .rounds = options->rounds,
      .budget_s = budget_s,
      .allow = options->allow,
      .what = options->quiet ? NULL : what,
  };
  struct tg_compare_result result;
  struct tg_error why;
  if (!tg_compare_run(&config, &result, &why)) {
    tg_error_set(err, "comparison %s: %.400s", what, why.text);
    return false;
  }
  const struct tg_compare_estimate *handshake = &result.verdict.rows[0].sets[0];
  count(tally, &result.verdict);
  printf("%2zu  %-20s %-10s full handshake CPU x %.3f (%.3f to %.3f)", index + 1, kinds[kind].name,
         tg_status_name(result.verdict.status), handshake->worse.centre, handshake->worse.low, handshake->worse.high);
  print_reasons(&result.verdict);
  printf("\n");
  (void)fflush(stdout);
  json_t *metrics = json_object();
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    (void)json_object_set_new(metrics, result.verdict.rows[i].metric->name,
                              json_string(tg_status_name(result.verdict.rows[i].status)));
  }
  (void)json_array_append_new(all, json_pack("{s:s, s:f, s:s, s:o, s:f, s:b, s:[o]}", "kind", kinds[kind].name, "burn",
                                             kinds[kind].burn, "verdict", tg_status_name(result.verdict.status),
                                             "metrics", metrics, "measured_s", result.measured_s, "second_set",
                                             result.has_second, "samples", tg_compare_set_json(&result.sets[0])));
  if (result.has_second) {
    (void)json_array_append_new(json_object_get(json_array_get(all, json_array_size(all) - 1), "samples"),
                                tg_compare_set_json(&result.sets[1]));
  }
  tg_compare_result_free(&result);
  return true;
}

static void print_table(const struct tally tallies[KINDS], double allow) {
  printf("\n%-22s %11s %5s %5s %10s %12s  %s\n", "candidate", "comparisons", "pass", "fail", "undecided", "unconfirmed",
         "full handshake CPU, median (least to most)");
  for (int kind = 0; kind < KINDS; kind++) {
    const struct tally *tally = &tallies[kind];
    printf("%-22s %11zu %5zu %5zu %10zu %12zu  x %.3f (%.3f to %.3f)\n", kinds[kind].name, tally->num, tally->pass,
           tally->fail, tally->undecided, tally->unconfirmed, tg_median(tally->ratios, tally->num),
           tg_quantile(tally->ratios, tally->num, 0), tg_quantile(tally->ratios, tally->num, 1));
  }
  printf("%.3g %% worse is allowed; unconfirmed: suspected by a first set of rounds and not by the second\n",
         100 * allow);
}

int tg_series_run(const char *faulty_server, const char *rtt_client, const struct tg_compare_options *options,
                  json_t **report, struct tg_error *err) {
  static const char *const none[] = {"TLSGATE_FAULT=burn_handshake", "TLSGATE_BURN_NS=0", NULL};
  const struct tg_compare_server plain = {.program = faulty_server, .env = none};
  struct tally tallies[KINDS] = {{.num = 0}};
  const double deadline = tg_now_s() + options->budget_s;
  double handshake_us = 0;
  if (!tg_compare_handshake_us(&plain, &handshake_us, err)) {
    return -1;
  }
  printf(
      "%d comparisons in at most %.0f minutes; a full handshake with its connection and request costs the server %.1f "
      "us "
      "of CPU\n",
      COMPARISONS, ceil(options->budget_s / 60) + 1, handshake_us);
  (void)fflush(stdout);
  json_t *all = json_array();
  bool ok = true;
  for (size_t i = 0; ok && i < COMPARISONS; i++) {
    const int kind = turns[i % (sizeof(turns) / sizeof(turns[0]))];
    const double budget_s = share_of(deadline - tg_now_s(), COMPARISONS - i);
    ok = run_one(faulty_server, rtt_client, options, budget_s, kind, i, (long)(handshake_us * 1000), &tallies[kind],
                 all, err);
  }
  if (!ok) {
    json_decref(all);
    return -1;
  }
  print_table(tallies, options->allow);
  *report = json_pack("{s:i, s:s, s:f, s:f, s:I, s:o}", "schema", 1, "kind", "ab-series", "allowed_regression",
                      options->allow, "handshake_us", handshake_us, "rounds_of_a_set", (json_int_t)options->rounds,
                      "comparisons", all);
  const bool wrong = tallies[0].fail > 0 || tallies[2].pass > 0;
  return wrong ? 1 : tallies[2].fail == tallies[2].num ? 0 : 3;
}

#include "perf/compare/judge.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "perf/stats/quantile.h"

// Any will do; a fixed one makes a report's figures repeatable from its samples.
#define SEED 1993

static bool check(const struct tg_compare_metric *metric, const struct tg_series *const series[TG_COMPARE_SIDES],
                  struct tg_error *err) {
  for (int side = 0; side < TG_COMPARE_SIDES; side++) {
    if (series[side] == NULL) {
      tg_error_set(err, "metric %s: the %s has no samples; a comparison needs both sides", metric->name,
                   tg_compare_side_names[side]);
      return false;
    }
  }
  if (series[TG_BASE]->num != series[TG_CANDIDATE]->num || series[TG_BASE]->num % 2 != 0) {
    tg_error_set(err, "metric %s: %zu runs of the base and %zu of the candidate; a round has two of each", metric->name,
                 series[TG_BASE]->num, series[TG_CANDIDATE]->num);
    return false;
  }
  return true;
}

static double median_of(const struct tg_series *series) {
  double values[2 * TG_COMPARE_ROUNDS_MAX];
  for (size_t i = 0; i < series->num; i++) {
    values[i] = series->samples[i].value;
  }
  return tg_median(values, series->num);
}

static enum tg_status place(const struct tg_interval *worse, double allow) {
  return worse->high <= 1 + allow ? TG_STATUS_PASS : worse->low > 1 + allow ? TG_STATUS_FAIL : TG_STATUS_UNDECIDED;
}

// Estimates a metric from a set that has it on both sides.
static void estimate(struct tg_compare_estimate *out, const struct tg_compare_metric *metric,
                     const struct tg_series *const series[TG_COMPARE_SIDES], double allow) {
  const struct tg_sample *base = series[TG_BASE]->samples;
  const struct tg_sample *candidate = series[TG_CANDIDATE]->samples;
  double logs[TG_COMPARE_ROUNDS_MAX];
  size_t rounds = series[TG_BASE]->num / 2;
  assert(rounds >= 1 && rounds <= TG_COMPARE_ROUNDS_MAX);
  *out = (struct tg_compare_estimate){.rounds = rounds, .status = TG_STATUS_UNDECIDED};
  for (size_t r = 0; r < rounds; r++) {
    const double log_ratio =
        (log(candidate[2 * r].value / base[2 * r].value) + log(candidate[2 * r + 1].value / base[2 * r + 1].value)) / 2;
    logs[r] = metric->direction == TG_AT_MOST ? log_ratio : -log_ratio;
  }
  size_t worst = 0;  // client-bound runs of the side that has more of them
  for (int side = 0; side < TG_COMPARE_SIDES; side++) {
    size_t bound = 0;
    for (size_t i = 0; i < 2 * rounds; i++) {
      bound += series[side]->samples[i].client_bound;
    }
    out->client_bound += bound;
    worst = bound > worst ? bound : worst;
    out->median[side] = median_of(series[side]);
  }
  if (rounds >= TG_BOOTSTRAP_LEAST) {
    tg_bootstrap_interval(&out->worse, logs, rounds, TG_COMPARE_CONFIDENCE, SEED);
    out->worse = (struct tg_interval){
        .centre = exp(out->worse.centre), .low = exp(out->worse.low), .high = exp(out->worse.high)};
    out->has_interval = true;
    out->status = place(&out->worse, allow);
  } else {
    out->worse.centre = exp(tg_trimmed_mean(logs, rounds));
  }
  if (!metric->firm && worst >= rounds) {
    out->status = TG_STATUS_CLIENT_BOUND;
  }
}

static bool estimate_set(struct tg_compare_estimate *out, const struct tg_compare_metric *metric,
                         const struct tg_compare_set *set, double allow, struct tg_error *err) {
  const struct tg_series *series[TG_COMPARE_SIDES] = {tg_samples_find(set->sides[TG_BASE], metric->name),
                                                      tg_samples_find(set->sides[TG_CANDIDATE], metric->name)};
  if (!check(metric, series, err)) {
    return false;
  }
  estimate(out, metric, series, allow);
  return true;
}

static void say(struct tg_compare_row *row, double allow) {
  const struct tg_compare_estimate *first = &row->sets[0];
  const struct tg_compare_estimate *second = &row->sets[1];
  char *out = row->message;
  size_t size = sizeof(row->message);
  if (row->status == TG_STATUS_FAIL) {
    (void)snprintf(out, size, "%.1f %% worse, and %.1f %% in a second set of rounds, where %.3g %% are allowed",
                   100 * (first->worse.centre - 1), 100 * (second->worse.centre - 1), 100 * allow);
  } else if (row->suspected) {
    (void)snprintf(out, size, "%.1f %% worse where %.3g %% are allowed: not yet confirmed by a second set of rounds",
                   100 * (first->worse.centre - 1), 100 * allow);
  } else if (first->status == TG_STATUS_FAIL) {
    (void)snprintf(out, size, "%.1f %% worse at first, but %+.1f %% in a second set of rounds: not confirmed; %s",
                   100 * (first->worse.centre - 1), 100 * (second->worse.centre - 1),
                   "compare again when the machine is quiet, or with more --rounds");
  } else if (first->status == TG_STATUS_CLIENT_BOUND) {
    (void)snprintf(out, size, "soft: the client was the limit in %zu of %zu runs, so the server CPU decides",
                   first->client_bound, 4 * first->rounds);
  } else if (!row->metric->firm) {
    (void)snprintf(out, size, "soft: shown, and fails only if a whole interval is beyond what is allowed");
  } else if (row->status == TG_STATUS_UNDECIDED && !first->has_interval) {
    (void)snprintf(out, size, "%zu rounds, where an interval needs %d: a larger --budget", first->rounds,
                   TG_BOOTSTRAP_LEAST);
  } else if (row->status == TG_STATUS_UNDECIDED) {
    (void)snprintf(out, size, "the interval holds the %.3g %% that are allowed: more --rounds, or a quieter machine",
                   100 * allow);
  }
}

static void conclude(struct tg_compare_row *row, bool has_second) {
  const enum tg_status first = row->sets[0].status;
  row->suspected = first == TG_STATUS_FAIL && !has_second;
  if (first == TG_STATUS_FAIL && has_second && row->sets[1].status == TG_STATUS_FAIL) {
    row->status = TG_STATUS_FAIL;
  } else if (row->metric->firm) {
    row->status = first == TG_STATUS_FAIL ? TG_STATUS_UNDECIDED : first;
  } else {
    row->status = first == TG_STATUS_CLIENT_BOUND ? first : TG_STATUS_RECORDED;
  }
}

bool tg_compare_judge(struct tg_ab_judgement *out, const struct tg_compare_set *first,
                      const struct tg_compare_set *second, double allow, struct tg_error *err) {
  assert(allow > 0);
  memset(out, 0, sizeof(*out));
  out->allow = allow;
  bool failed = false;
  bool undecided = false;
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    struct tg_compare_row *row = &out->rows[i];
    row->metric = &tg_compare_metrics[i];
    if (!estimate_set(&row->sets[0], row->metric, first, allow, err) ||
        (second != NULL && row->sets[0].status == TG_STATUS_FAIL &&
         !estimate_set(&row->sets[1], row->metric, second, allow, err))) {
      return false;
    }
    conclude(row, second != NULL);
    say(row, allow);
    out->suspected += row->suspected;
    failed = failed || row->status == TG_STATUS_FAIL;
    undecided = undecided || row->suspected || row->status == TG_STATUS_UNDECIDED;
  }
  out->status = failed ? TG_STATUS_FAIL : undecided ? TG_STATUS_UNDECIDED : TG_STATUS_PASS;
  return true;
}

void tg_compare_needs(const struct tg_ab_judgement *comparison, bool needed[TG_COMPARE_WORKLOADS]) {
  memset(needed, 0, TG_COMPARE_WORKLOADS * sizeof(*needed));
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    const struct tg_compare_row *row = &comparison->rows[i];
    needed[row->metric->workload] = needed[row->metric->workload] || row->suspected;
  }
}

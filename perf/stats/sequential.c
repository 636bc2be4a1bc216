#include "perf/stats/sequential.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "perf/stats/binomial.h"
#include "perf/stats/quantile.h"

void tg_rule_for_suite(struct tg_rule *out, size_t num_gates) {
  assert(num_gates >= 1);
  *out = (struct tg_rule){
      .inside = -log(1.5),
      .outside = log(2),
      .noise = 0.3,
      .correlation = 0.5,
      .false_fail = 0.001 / (double)num_gates / 2,
      .false_pass = 0.002,
      .min_rounds = 5,
  };
}

double tg_distance_at_most(double value, double bound) {
  assert(isfinite(value) && value > 0);
  assert(isfinite(bound) && bound > 0);
  return log(value / bound);
}

double tg_distance_at_least(double value, double bound) {
  return -tg_distance_at_most(value, bound);
}

// The log likelihood ratio of a stationary autoregression with the two means: with s = distance - midpoint,
//
//   gap / noise^2 * ( (1 - r) / (1 + r) * sum of s  +  r / (1 + r) * (first s + last s) )
//
// The first factor is the usual inflation of the variance by (1 + r) / (1 - r); the ends have one neighbour less.
static double log_odds(const struct tg_rule *rule, double noise, const double *distances, size_t n) {
  const double gap = rule->outside - rule->inside;
  const double midpoint = (rule->outside + rule->inside) / 2;
  const double limit = gap / 2;
  const double r = rule->correlation;
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    const double vote = fmax(-limit, fmin(limit, distances[i] - midpoint));
    double weight = (1 - r) / (1 + r);
    if (i == 0) weight += r / (1 + r);
    if (i == n - 1) weight += r / (1 + r);
    sum += weight * vote;
  }
  return gap / (noise * noise) * sum;
}

void tg_sequential_judge(struct tg_judgement *out, const struct tg_rule *rule, const double *distances, size_t n) {
  assert(n <= TG_VALUES_MAX);
  *out = (struct tg_judgement){.decision = TG_DECISION_UNDECIDED};
  if (n == 0) return;
  out->centre = tg_median(distances, n);
  out->scale = tg_robust_scale_around(out->centre, distances, n);
  out->log_odds = log_odds(rule, fmax(rule->noise, out->scale), distances, n);
  if (n < rule->min_rounds) return;
  if (out->log_odds >= -log(rule->false_fail) && out->centre > 0) out->decision = TG_DECISION_FAIL;
  if (out->log_odds <= log(rule->false_pass) && out->centre <= 0) out->decision = TG_DECISION_PASS;
}

// What look `k`, counted from 1, may spend of an error: the terms add up to 1.
static double spent_at(size_t k, double error) {
  return error / ((double)k * (double)(k + 1));
}

static double fraction_log_odds(double bound, uint64_t hits, uint64_t trials) {
  const double inside = bound / 1.5;
  const double outside = bound * 2;
  return (double)hits * log(outside / inside) + (double)(trials - hits) * log((1 - outside) / (1 - inside));
}

void tg_fraction_judge(struct tg_fraction_judgement *out, const struct tg_fraction_rule *rule, const uint64_t *hits,
                       const uint64_t *trials, size_t n) {
  assert(rule->bound > 0 && rule->bound < 0.5);
  *out = (struct tg_fraction_judgement){.decision = TG_DECISION_UNDECIDED, .upper = 1};
  size_t looks = 0;
  for (size_t i = 0; i < n; i++) {
    assert(hits[i] <= trials[i]);
    out->hits += hits[i];
    out->trials += trials[i];
    if (i + 1 >= rule->min_rounds && out->trials >= rule->min_trials) looks++;
  }
  if (out->trials == 0) return;
  out->upper = tg_binomial_upper(out->hits, out->trials, spent_at(looks > 0 ? looks : 1, rule->false_pass));
  out->log_odds = fraction_log_odds(rule->bound, out->hits, out->trials);
  if (n < rule->min_rounds) return;
  const bool beyond = (double)out->hits > rule->bound * (double)out->trials;
  if (beyond && out->log_odds >= -log(rule->false_fail)) out->decision = TG_DECISION_FAIL;
  if (looks > 0 && out->upper <= rule->bound) out->decision = TG_DECISION_PASS;
}

#include "perf/verdict/judge_gate.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "perf/stats/quantile.h"
#include "perf/stats/ratio.h"
#include "perf/verdict/table.h"

_Static_assert(TG_ROUNDS_MAX <= TG_VALUES_MAX, "a series must fit the statistics");

// Both limits of the interval that a gate with `interval` needs on one side of its bound: 5 % beyond each.
static const double kIntervalConfidence = 0.9;

void tg_describe_series(struct tg_gate_verdict *out, const struct tg_series *series) {
  if (series == NULL) return;
  double values[TG_ROUNDS_MAX];
  double logs[TG_ROUNDS_MAX];
  uint64_t hits = 0;
  uint64_t trials = 0;
  for (size_t i = 0; i < series->num; i++) {
    const struct tg_sample *sample = &series->samples[i];
    values[i] = sample->value;
    logs[i] = sample->trials > 0 ? 0 : log(sample->value);
    hits += sample->hits;
    trials += sample->trials;
    out->client_bound += sample->client_bound;
  }
  out->rounds = series->num;
  out->has_value = true;
  out->value = trials > 0 ? (double)hits / (double)trials : tg_median(values, series->num);
  out->spread = trials > 0 ? 0 : tg_robust_scale(logs, series->num);
}

static void say(struct tg_gate_verdict *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct tg_gate_verdict *out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(out->message, sizeof(out->message), format, args);
  va_end(args);
}

static void set_status(struct tg_gate_verdict *out, enum tg_decision decision) {
  out->status = decision == TG_DECISION_PASS   ? TG_STATUS_PASS
                : decision == TG_DECISION_FAIL ? TG_STATUS_FAIL
                                               : TG_STATUS_UNDECIDED;
  out->open = out->status == TG_STATUS_UNDECIDED;
}

void tg_gate_explain(struct tg_gate_verdict *out, const char *why) {
  const struct tg_gate *gate = out->gate;
  char value[32];
  char bound[32];
  say(out, "%s %s is %s the bound %s %s%s%s; %s", tg_table_number(value, out->value), gate->unit,
      gate->direction == TG_AT_MOST ? "over" : "under", tg_table_number(bound, out->bound), gate->unit,
      gate->relative_to != NULL ? ", set by " : "", gate->relative_to != NULL ? gate->relative_to : "", why);
}

static void say_beyond(struct tg_gate_verdict *out) {
  tg_gate_explain(out, out->gate->stall_sensitive
                           ? "look for a lost quickack re-arm first, then for what else makes a connection wait"
                           : "look for what the change made slower (docs/gates.md: when a gate fails)");
}

void tg_compare(struct tg_gate_verdict *out, double bound) {
  const bool within = out->gate->direction == TG_AT_MOST ? out->value <= bound : out->value >= bound;
  out->has_bound = true;
  out->bound = bound;
  if (bound > 0 && out->value > 0) {
    out->distance = out->gate->direction == TG_AT_MOST ? out->value / bound : bound / out->value;
  }
  out->status = within ? TG_STATUS_PASS : TG_STATUS_FAIL;
  if (!within) say_beyond(out);
}

static void judge_every_round(struct tg_gate_verdict *out, const struct tg_series *series) {
  const struct tg_gate *gate = out->gate;
  out->value = series->samples[0].value;
  for (size_t i = 1; i < series->num; i++) {
    const double value = series->samples[i].value;
    const bool worse = gate->direction == TG_AT_MOST ? value > out->value : value < out->value;
    if (worse) out->value = value;
  }
  tg_compare(out, gate->bound);
}

static void judge_fraction(struct tg_gate_verdict *out, const struct tg_series *series, const struct tg_rule *rule) {
  const struct tg_gate *gate = out->gate;
  const struct tg_fraction_rule fraction = {
      .bound = gate->bound,
      .false_pass = 0.001,
      .false_fail = rule->false_fail,
      .min_trials = gate->min_trials,
      .min_rounds = gate->min_rounds > rule->min_rounds ? gate->min_rounds : rule->min_rounds,
  };
  uint64_t hits[TG_ROUNDS_MAX];
  uint64_t trials[TG_ROUNDS_MAX];
  for (size_t i = 0; i < series->num; i++) {
    hits[i] = series->samples[i].hits;
    trials[i] = series->samples[i].trials;
  }
  struct tg_fraction_judgement judged;
  tg_fraction_judge(&judged, &fraction, hits, trials, series->num);
  out->has_bound = true;
  out->bound = gate->bound;
  out->limit = judged.upper;
  out->distance = judged.upper / gate->bound;
  set_status(out, judged.decision);
  if (out->status == TG_STATUS_FAIL) {
    say_beyond(out);
  } else if (out->open) {
    say(out, "%llu of %llu, at most %.4f with 99.9 %% confidence; take more rounds (at least %llu trials)",
        (unsigned long long)judged.hits, (unsigned long long)judged.trials, judged.upper,
        (unsigned long long)gate->min_trials);
  }
}

// The bound of one round; false if the metric that it refers to has no sample then.
static bool bound_in_round(struct tg_gate_verdict *out, const struct tg_series *other, size_t round, double *bound) {
  const struct tg_gate *gate = out->gate;
  if (gate->relative_to == NULL) {
    *bound = gate->bound;
    return true;
  }
  for (size_t i = 0; other != NULL && i < other->num; i++) {
    if (other->samples[i].round != round) continue;
    *bound = gate->factor * other->samples[i].value;
    out->control_client_bound += other->samples[i].client_bound;
    return true;
  }
  return false;
}

static void say_undecided(struct tg_gate_verdict *out, const struct tg_rule *rule, const struct tg_judgement *judged,
                          size_t n) {
  const double beyond = out->distance;
  if (n < rule->min_rounds) {
    say(out, "%zu of at least %zu rounds; raise the budget", n, rule->min_rounds);
  } else if (judged->scale > 1.5 * rule->noise) {
    say(out, "noisy: rounds spread by %.0f %%; quiet the machine, or raise the budget", 100 * judged->scale);
  } else if (judged->centre > rule->inside && judged->centre < rule->outside) {
    say(out, "in the indifference zone: %.2f x %s its bound; raise the budget, or find out why it is so near",
        beyond > 1 ? beyond : 1 / beyond, beyond > 1 ? "outside" : "inside");
  } else {
    say(out, "%zu rounds do not suffice yet; raise the budget", n);
  }
}

// Takes back a decision whose interval reaches over the bound.
static void require_interval(struct tg_gate_verdict *out, const double *distances, size_t n) {
  struct tg_interval interval;
  tg_log_interval(&interval, distances, n, kIntervalConfidence);
  if (out->status == TG_STATUS_PASS ? interval.high <= 0 : interval.low > 0) return;
  set_status(out, TG_DECISION_UNDECIDED);
  say(out, "the 90 %% interval, %.2f to %.2f x the distance to the bound, reaches over it; raise the budget",
      exp(interval.low), exp(interval.high));
}

static void judge_sequential(struct tg_gate_verdict *out, const struct tg_series *series,
                             const struct tg_samples *samples, const struct tg_rule *suite_rule) {
  const struct tg_gate *gate = out->gate;
  struct tg_rule rule = *suite_rule;
  if (gate->min_rounds > rule.min_rounds) rule.min_rounds = gate->min_rounds;
  const struct tg_series *other = gate->relative_to != NULL ? tg_samples_find(samples, gate->relative_to) : NULL;
  double distances[TG_ROUNDS_MAX];
  double bounds[TG_ROUNDS_MAX];
  size_t n = 0;
  for (size_t i = 0; i < series->num; i++) {
    const struct tg_sample *sample = &series->samples[i];
    if (!bound_in_round(out, other, sample->round, &bounds[n])) continue;
    distances[n] = gate->direction == TG_AT_MOST ? tg_distance_at_most(sample->value, bounds[n])
                                                 : tg_distance_at_least(sample->value, bounds[n]);
    n++;
  }
  if (n == 0) {
    set_status(out, TG_DECISION_UNDECIDED);
    say(out, "no round has both this metric and %s; see what its workload reported", gate->relative_to);
    return;
  }
  struct tg_judgement judged;
  tg_sequential_judge(&judged, &rule, distances, n);
  out->has_bound = true;
  out->bound = tg_median(bounds, n);
  out->distance = exp(judged.centre);
  set_status(out, judged.decision);
  if (gate->interval && !out->open) require_interval(out, distances, n);
  if (out->status == TG_STATUS_FAIL) say_beyond(out);
  if (out->open && out->message[0] == '\0') say_undecided(out, &rule, &judged, n);
}

void tg_judge_gate(struct tg_gate_verdict *out, const struct tg_gate *gate, const struct tg_samples *samples,
                   const struct tg_rule *rule) {
  assert(tg_gate_is_gated(gate) && gate->judged_by != TG_JUDGED_FIRM);
  const struct tg_series *series = tg_samples_find(samples, gate->name);
  tg_describe_series(out, series);
  if (series == NULL) {
    set_status(out, TG_DECISION_UNDECIDED);
    say(out, "no sample; see what workload %s reported", gate->workload != NULL ? gate->workload : "of this metric");
    return;
  }
  const bool counts = series->samples[0].trials > 0;
  if (counts != (gate->judged_by == TG_JUDGED_FRACTION)) {
    set_status(out, TG_DECISION_UNDECIDED);
    out->open = false;
    say(out, "samples are %s, which this gate's rule cannot judge; correct judged_by, or the workload",
        counts ? "counts" : "values");
    return;
  }
  switch (gate->judged_by) {
    case TG_JUDGED_SEQUENTIAL:
      judge_sequential(out, series, samples, rule);
      break;
    case TG_JUDGED_FRACTION:
      judge_fraction(out, series, rule);
      break;
    case TG_JUDGED_EVERY_ROUND:
      judge_every_round(out, series);
      break;
    case TG_JUDGED_FIRM:
      break;
  }
}

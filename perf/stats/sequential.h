// The rule that decides a gate from samples that arrive one per round, and that may be applied after every round.
//
// A sample is turned into a distance: the log of how far the value lies beyond its bound, positive outside. The rule is
// a sequential probability ratio test (Wald 1945) between "1.5 x inside the bound" and "2 x outside it", for distances
// that are a stationary first-order autoregression with a lag-1 correlation of 0.5. Three things make it robust:
// each distance counts no more than either hypothesis would make it (one outlier is one vote), the noise is the larger
// of the declared one and a robust estimate, and a verdict also needs the median of the rounds on its own side of the
// bound.
//
// Why looking often is safe: while the true value is 1.5 x inside, the likelihood ratio in favour of "outside" has an
// expectation of at most 1, so by Ville's inequality the chance that it *ever* exceeds A, at any of any number of
// looks, is at most 1 / A. With A = (number of gates) / (half the error of the suite), the sum over the gates bounds
// the suite, whether the gates depend on each other or not. So a run may look after every round and stop measuring what
// is decided.
//
// What is claimed, for samples with a log-standard deviation of 0.3, correlation 0.5 and 1 % outliers of x 3: of suites
// whose values are all at least 1.5 x inside, at most 1 in 1,000 fails; a value 2 x outside fails in at least 95 %; at
// most 5 % of either are undecided after 24 rounds. stats_montecarlo_test counts it for the rule alone, and
// //perf/verdict:suite_montecarlo_test for the shipped manifest.
//
// What is not claimed: between 1.5 x inside and 2 x outside (the indifference zone) the rule may say pass, fail or
// undecided, and a value slightly outside its bound often passes. Noise that is correlated over more rounds than
// declared, and drift within a run, are not covered.
#ifndef TLSGATE_PERF_STATS_SEQUENTIAL_H
#define TLSGATE_PERF_STATS_SEQUENTIAL_H

#include <stddef.h>
#include <stdint.h>

enum tg_decision { TG_DECISION_UNDECIDED, TG_DECISION_PASS, TG_DECISION_FAIL };

struct tg_rule {
  double inside;       // distance of the hypothesis "inside": -log(1.5)
  double outside;      // distance of the hypothesis "outside": log(2)
  double noise;        // declared standard deviation of a distance: 0.3, the variation of a busy shared machine
  double correlation;  // lag-1 correlation of the distances, 0 <= correlation < 1: 0.5
  double false_fail;   // probability that one gate whose value is `inside` ever fails: 0.001 / number of gates / 2
  double false_pass;   // probability that one whose value is `outside` ever passes: 0.002
  size_t min_rounds;   // no decision before this many rounds: 5, so that no two outliers are a majority
};

// tg_rule_for_suite fills in the rule for a suite of `num_gates` >= 1 gates with the values above. Half of the suite's
// error is kept in reserve for what the model of the noise leaves out (outliers).
void tg_rule_for_suite(struct tg_rule *out, size_t num_gates);

struct tg_judgement {
  enum tg_decision decision;
  double centre;    // median distance; exp(centre) is how many times the value is outside the bound
  double scale;     // robust standard deviation of the distances, as estimated
  double log_odds;  // log likelihood ratio, outside over inside
};

// tg_distance_at_most returns the distance of `value` from an upper bound; both must be positive and finite.
double tg_distance_at_most(double value, double bound);

// tg_distance_at_least returns the distance of `value` from a lower bound; both must be positive and finite.
double tg_distance_at_least(double value, double bound);

// tg_sequential_judge decides from `n` distances in the order of their rounds, 0 <= n <= TG_VALUES_MAX. It depends
// on nothing else: a later call with more rounds may take a decision back, and the last call counts.
void tg_sequential_judge(struct tg_judgement *out, const struct tg_rule *rule, const double *distances, size_t n);

// A gate on a proportion, such as the fraction of connections that stalled.
struct tg_fraction_rule {
  double bound;         // greatest proportion allowed, 0 < bound < 0.5
  double false_pass;    // 1 - confidence of the upper limit that must lie within the bound, over all looks: 0.001
  double false_fail;    // probability that a proportion of bound / 1.5 ever fails: that of tg_rule
  uint64_t min_trials;  // no pass before this many trials
  size_t min_rounds;    // no decision before this many rounds
};

struct tg_fraction_judgement {
  enum tg_decision decision;
  uint64_t hits;
  uint64_t trials;
  double upper;     // exact upper limit at the confidence that this look may spend; 1 without trials
  double log_odds;  // log likelihood ratio of 2 x bound over bound / 1.5
};

// tg_fraction_judge decides from `hits` in `trials` of each of `n` rounds.
//
// It passes when the exact upper limit (Clopper-Pearson) is within the bound. Look k may err with probability
// false_pass / (k (k + 1)), which adds up to no more than false_pass over any number of looks; looks are counted from
// the first round with min_trials. It fails when the hits are beyond the bound and Wald's ratio for "2 x the bound"
// over "1.5 x inside" exceeds 1 / false_fail, which holds for any number of looks as it is. Both are exact for
// independent trials. A proportion between, say 1.5 x inside, takes some 5,000 trials to pass. As for
// tg_sequential_judge, the last call counts.
void tg_fraction_judge(struct tg_fraction_judgement *out, const struct tg_fraction_rule *rule, const uint64_t *hits,
                       const uint64_t *trials, size_t n);

#endif

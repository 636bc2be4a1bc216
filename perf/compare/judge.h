// Whether a candidate has become worse than its base: metric by metric, from paired rounds.
//
//     first set -> pass, fail suspected, undecided;   suspected -> second set -> fail, or undecided
//
// Each round of a metric gives one log of candidate over base (inverted where more is better, so that above 0 is always
// worse), the mean of its pairs of runs. Their trimmed mean and its 95 % bootstrap interval (perf/stats/bootstrap.h)
// are held against the log of 1 + the allowed regression: wholly at or below it passes, wholly above it is suspected,
// across it is undecided. A suspicion is reported as a failure only if a second set of rounds, judged on its own, says
// the same.
#ifndef TLSGATE_PERF_COMPARE_JUDGE_H
#define TLSGATE_PERF_COMPARE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/compare/metric.h"
#include "perf/compare/set.h"
#include "perf/stats/bootstrap.h"
#include "perf/verdict/verdict.h"

#define TG_COMPARE_CONFIDENCE 0.95

// The first and the second set.
enum { TG_COMPARE_SETS = 2 };

// What one set says of one metric.
struct tg_compare_estimate {
  size_t rounds;  // 0: not measured in this set
  double median[TG_COMPARE_SIDES];
  bool has_interval;         // rounds are TG_BOOTSTRAP_LEAST or more
  struct tg_interval worse;  // how many times worse the candidate is: 1.05 is 5 % worse whichever way is better
  size_t client_bound;       // runs of either side in which the client was the limit
  enum tg_status status;     // PASS, FAIL (suspected), UNDECIDED, CLIENT_BOUND
};

struct tg_compare_row {
  const struct tg_compare_metric *metric;
  struct tg_compare_estimate sets[TG_COMPARE_SETS];
  // PASS, FAIL (confirmed), UNDECIDED; of a soft metric also CLIENT_BOUND (says nothing) and RECORDED (for whatever is
  // not a failure).
  enum tg_status status;
  bool suspected;     // by the first set, and there is no second one yet
  char message[240];  // one line: why, and the remedy; empty where there is nothing to say
};

struct tg_ab_judgement {
  struct tg_compare_row rows[TG_COMPARE_METRICS];
  // FAIL if any row fails; else UNDECIDED if any firm row is undecided or any row is suspected; else PASS.
  enum tg_status status;
  size_t suspected;  // rows that wait for a second set
  double allow;
};

// tg_compare_judge judges `first`, and with `second` (NULL: not measured yet) what the first made suspicious. `allow`
// is the allowed regression, above 0: 0.05 for 5 %. Returns false with `err` filled in when the samples are no
// comparison: a metric that a side lacks, sides with unequal numbers of runs, half a round. Fewer rounds than an
// interval needs are undecided.
bool tg_compare_judge(struct tg_ab_judgement *out, const struct tg_compare_set *first,
                      const struct tg_compare_set *second, double allow, struct tg_error *err);

// tg_compare_needs marks the workloads of the suspected rows, for the second set.
void tg_compare_needs(const struct tg_ab_judgement *comparison, bool needed[TG_COMPARE_WORKLOADS]);

#endif

// One comparison: a first set of rounds, and a second one if the first has made something suspicious.
#ifndef TLSGATE_PERF_COMPARE_COMPARE_H
#define TLSGATE_PERF_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/base/error.h"
#include "perf/compare/judge.h"
#include "perf/compare/measure.h"
#include "perf/compare/set.h"

struct tg_compare_config {
  struct tg_compare_server servers[TG_COMPARE_SIDES];
  const char *rtt_client;
  size_t rounds;     // of a set
  double budget_s;   // no round begins after it, in either set
  double allow;      // allowed regression: 0.05 is 5 %
  const char *what;  // what progress on stderr calls the comparison; NULL: no progress
};

struct tg_compare_result {
  struct tg_compare_set sets[TG_COMPARE_SETS];
  bool has_second;
  struct tg_ab_judgement verdict;
  double measured_s;
  double stolen;  // share of the machine's CPU time stolen meanwhile; NAN if it cannot be told
};

// tg_compare_run measures and judges. Returns false with `err` filled in, and nothing to free, when a server, a client
// or the samples fail. Else `out` is to be released with tg_compare_result_free.
bool tg_compare_run(const struct tg_compare_config *config, struct tg_compare_result *out, struct tg_error *err);
void tg_compare_result_free(struct tg_compare_result *result);

// tg_compare_print writes the verdict as a table: failures and what is undecided with the reason.
void tg_compare_print(FILE *out, const struct tg_ab_judgement *comparison);

#endif

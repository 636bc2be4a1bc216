// The command line of a comparison and of the series of comparisons.
#ifndef TLSGATE_PERF_COMPARE_OPTIONS_H
#define TLSGATE_PERF_COMPARE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/compare/set.h"

struct tg_compare_options {
  const char *programs[TG_COMPARE_SIDES];  // paths; NULL with `series`
  const char *commits[TG_COMPARE_SIDES];   // that they were built from; NULL: not said
  bool series;
  size_t rounds;
  double budget_s;     // of the comparison, or of the whole series
  double allow;        // 0.05 is 5 %
  const char *out;     // folder; NULL: reports/ab-<date>-<pid> in the workspace
  const char *record;  // file for the rounds of the first set; NULL: none
  bool quiet;
};

enum tg_compare_parsed { TG_COMPARE_GO, TG_COMPARE_HELPED, TG_COMPARE_WRONG };

// tg_compare_options_parse reads argv. HELPED: --help was printed, exit 0. WRONG: what is wrong was printed, exit 2.
enum tg_compare_parsed tg_compare_options_parse(struct tg_compare_options *out, int argc, char **argv);

#endif

// A before-and-after table: the same workloads on two servers, interleaved, with the ratio of each pair of rounds.
#ifndef TLSGATE_PERF_AB_AB_TABLE_H
#define TLSGATE_PERF_AB_AB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TG_AB_ROUNDS_MAX 32

enum tg_side { TG_BEFORE, TG_AFTER, TG_SIDES };

// What a row's figure should do when the re-arm is switched on.
enum tg_expectation {
  TG_EXPECT_LESS,       // times: after < before
  TG_EXPECT_MORE,       // rates: after > before
  TG_EXPECT_UNCHANGED,  // controls
};

struct tg_ab_row {
  const char *title;
  const char *unit;
  enum tg_expectation expectation;
  double values[TG_SIDES][TG_AB_ROUNDS_MAX];
  size_t rounds;
};

// What the 95 % interval of after / before says of an expectation.
enum tg_ab_verdict {
  TG_AB_YES,        // the whole interval agrees
  TG_AB_NO,         // the whole interval contradicts
  TG_AB_UNDECIDED,  // it does both: too few rounds, too noisy, or another limit than the stall on both sides
};

// A figure is unchanged within [1 / TG_AB_UNCHANGED, TG_AB_UNCHANGED]: timings differ by that much from run to run.
#define TG_AB_UNCHANGED 1.25

// tg_ab_row_judge judges a row of at least two rounds.
enum tg_ab_verdict tg_ab_row_judge(const struct tg_ab_row *row);

// tg_ab_print writes the table: medians, ratio of the better side with its 95 % interval, and whether it is as
// expected.
void tg_ab_print(FILE *out, const struct tg_ab_row *rows, size_t num_rows);

#endif

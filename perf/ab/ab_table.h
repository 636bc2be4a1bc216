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
  TG_EXPECT_NOT_LESS,   // rates that other limits than the stall may hold down on both sides
  TG_EXPECT_UNCHANGED,  // controls
  TG_EXPECT_NOTHING,    // recorded
};

struct tg_ab_row {
  const char *title;
  const char *unit;
  enum tg_expectation expectation;
  double values[TG_SIDES][TG_AB_ROUNDS_MAX];
  size_t rounds;
};

// A control is unchanged if the interval of its ratio reaches into [1 / TG_AB_UNCHANGED, TG_AB_UNCHANGED].
#define TG_AB_UNCHANGED 1.25

// tg_ab_row_holds says whether the 95 % interval of after / before agrees with what is expected of the row. At least
// two rounds.
bool tg_ab_row_holds(const struct tg_ab_row *row);

// tg_ab_print writes the table: medians, ratio of the better side with its 95 % interval, and whether it is as
// expected.
void tg_ab_print(FILE *out, const struct tg_ab_row *rows, size_t num_rows);

#endif

#include "perf/ab/ab_table.h"

#include <math.h>

#include "perf/stats/quantile.h"
#include "perf/stats/ratio.h"
#include "perf/verdict/table.h"

#define CONFIDENCE 0.95

static void ratio_of(const struct tg_ab_row *row, struct tg_interval *out) {
  tg_ratio_interval(out, row->values[TG_AFTER], row->values[TG_BEFORE], row->rounds, CONFIDENCE);
}

// Whether the interval lies within [low, high], outside it, or across a limit.
static enum tg_ab_verdict place(const struct tg_interval *ratio, double low, double high) {
  if (ratio->low >= low && ratio->high <= high) {
    return TG_AB_YES;
  }
  return ratio->high < low || ratio->low > high ? TG_AB_NO : TG_AB_UNDECIDED;
}

enum tg_ab_verdict tg_ab_row_judge(const struct tg_ab_row *row) {
  struct tg_interval ratio;
  ratio_of(row, &ratio);
  switch (row->expectation) {
    case TG_EXPECT_LESS:
      return place(&ratio, 0, 1);
    case TG_EXPECT_MORE:
      return place(&ratio, 1, INFINITY);
    case TG_EXPECT_UNCHANGED:
      return place(&ratio, 1 / TG_AB_UNCHANGED, TG_AB_UNCHANGED);
  }
  return TG_AB_UNDECIDED;
}

void tg_ab_print(FILE *out, const struct tg_ab_row *rows, size_t num_rows) {
  static const char *const verdicts[] = {[TG_AB_YES] = "yes", [TG_AB_NO] = "NO", [TG_AB_UNDECIDED] = "undecided"};
  fprintf(out, "%-44s %12s %12s %-5s  %9s  %-19s %s\n", "benchmark", "before", "after", "unit", "ratio",
          "95 % interval", "as expected");
  for (size_t i = 0; i < num_rows; i++) {
    const struct tg_ab_row *row = &rows[i];
    char before[32];
    char after[32];
    char interval[64];
    struct tg_interval ratio;
    ratio_of(row, &ratio);
    // Times are told as "so many times less", like rates as "so many times more".
    bool less = row->expectation == TG_EXPECT_LESS;
    (void)snprintf(interval, sizeof(interval), "%.3g to %.3g", less ? 1 / ratio.high : ratio.low,
                   less ? 1 / ratio.low : ratio.high);
    fprintf(out, "%-44s %12s %12s %-5s  %8.3gx  %-19s %s\n", row->title,
            tg_table_number(before, tg_median(row->values[TG_BEFORE], row->rounds)),
            tg_table_number(after, tg_median(row->values[TG_AFTER], row->rounds)), row->unit,
            less ? 1 / ratio.centre : ratio.centre, interval, verdicts[tg_ab_row_judge(row)]);
  }
}

#include "perf/baseline/allowance.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "perf/stats/quantile.h"

// Far below a step and far above the rounding errors of a ratio: 1.02 - 1 + 0.03 is one step and not two.
#define ROUNDING 1e-9

double tg_worse_ratio(enum tg_direction direction, double value, double reference) {
  assert(value > 0 && reference > 0);
  return direction == TG_AT_MOST ? value / reference : reference / value;
}

double tg_allowance_bound(enum tg_direction direction, double reference, double allowance) {
  assert(reference > 0 && allowance >= 0);
  return direction == TG_AT_MOST ? reference * (1 + allowance) : reference / (1 + allowance);
}

static double revision_median(const char *revision, const struct tg_past *runs, size_t num) {
  double values[TG_ALLOWANCE_WINDOW];
  size_t n = 0;
  for (size_t i = 0; i < num; i++) {
    if (strcmp(runs[i].revision, revision) == 0) {
      values[n++] = runs[i].value;
    }
  }
  return tg_median(values, n);
}

static double round_up(double needed) {
  const double steps = ceil(needed / TG_ALLOWANCE_STEP - ROUNDING);
  // Divided, not multiplied: 3 / 20 is the number that 0.15 reads back as.
  return fmax(steps, 1) / (1 / TG_ALLOWANCE_STEP);
}

void tg_allowance_derive(struct tg_allowance *out, enum tg_direction direction, const struct tg_past *runs, size_t num,
                         double carried) {
  *out = (struct tg_allowance){.allowance = carried};
  if (num > TG_ALLOWANCE_WINDOW) {
    num = TG_ALLOWANCE_WINDOW;
  }
  size_t first[TG_ALLOWANCE_WINDOW] = {0};  // believed run of each revision
  for (size_t i = 0; i < num; i++) {
    const double ratio = tg_worse_ratio(direction, runs[i].value, revision_median(runs[i].revision, runs, num));
    if (ratio > TG_EXCURSION) {
      out->excursions[out->num_excursions++] = i;
      continue;
    }
    out->believed++;
    if (ratio > out->worst) {
      out->worst = ratio;
      out->worst_run = i;
    }
    bool seen = false;
    for (size_t r = 0; r < out->revisions && !seen; r++) {
      seen = strcmp(runs[first[r]].revision, runs[i].revision) == 0;
    }
    if (!seen) {
      first[out->revisions++] = i;
    }
  }
  if (out->believed < TG_BELIEVED_MIN || out->revisions < TG_REVISIONS_MIN) {
    return;
  }
  out->known = true;
  out->derived = round_up(out->worst - 1 + TG_ALLOWANCE_MARGIN);
  out->widened = out->derived > carried + ROUNDING;
  if (out->widened) {
    out->allowance = out->derived;
  }
}

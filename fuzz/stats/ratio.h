// How fast a target is against a bare one that does the same work without a simulated kernel: the same inputs, the same
// flags, turn by turn.
#ifndef TLSGATE_FUZZ_STATS_RATIO_H
#define TLSGATE_FUZZ_STATS_RATIO_H

#include <stdbool.h>

#include "fuzz/launcher/targets.h"
#include "harness/base/error.h"

enum tg_ratio_unit {
  TG_RATIO_EXECUTIONS,
  TG_RATIO_HANDSHAKES,  // those that the targets count (fuzz/base/count.h)
};

struct tg_ratio {
  double target;  // units a second, median of the rounds
  double bare;
  double ratio;  // median of the rounds' ratios
};

// tg_ratio_measure runs the seeds of `target` in both, in `rounds` rounds of A B B A, each run about `seconds` long.
// Returns false with `err` filled in, for instance when an input is a finding.
bool tg_ratio_measure(const struct tg_fuzz_target *target, const struct tg_fuzz_target *bare, enum tg_ratio_unit unit,
                      unsigned rounds, double seconds, const char *scratch, struct tg_ratio *out, struct tg_error *err);

#endif

// How noisy a row's own rounds may be before a value over its recorded bound is put down to the noise.
//
// A baseline may set them for its host in the block "trust": {"spread": 0.1, ...}. An omitted block means the defaults,
// and a block overrides only what it names.
#ifndef TLSGATE_PERF_BASELINE_TRUST_LIMITS_H
#define TLSGATE_PERF_BASELINE_TRUST_LIMITS_H

#include <stdbool.h>

#include "perf/manifest/strict_json.h"

// The variation of a round that the rule for gates declares (perf/stats/sequential.h): more than that is a machine that
// does something else as well.
#define TG_TRUST_SPREAD      0.30
#define TG_TRUST_INSTABILITY 0.30
// A quarter of the rounds: half of what a median bears.
#define TG_TRUST_OUTLIERS 0.25

struct tg_trust_limits {
  double spread;       // robust relative standard deviation of the rounds: 0.3 is 30 %
  double instability;  // distance of the median of the later half of the rounds from that of the earlier half
  double outliers;     // share of the rounds
};

// tg_trust_limits_default fills in the defaults.
void tg_trust_limits_default(struct tg_trust_limits *out);

// tg_trust_limits_decode fills in the defaults and what the block "trust" of `place` overrides, if there is one. Each
// limit must be above 0. *overrides is the block, borrowed, or NULL.
bool tg_trust_limits_decode(struct tg_trust_limits *out, const json_t **overrides, struct tg_json_place *place);

#endif

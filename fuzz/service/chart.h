// A target's coverage over the time spent on it, as SVG to be put into a page whose style has its colours.
#ifndef TLSGATE_FUZZ_SERVICE_CHART_H
#define TLSGATE_FUZZ_SERVICE_CHART_H

#include <stdio.h>

#include "fuzz/service/state.h"

// tg_fuzzd_chart writes the drawing. The axis of edges does not begin at 0: what is new is little beside what the seeds
// cover. With fewer than two points it writes nothing and returns false.
bool tg_fuzzd_chart(FILE *page, const struct tg_fuzzd_target_state *target);

#endif

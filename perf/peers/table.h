// The comparison as a table for people.
#ifndef TLSGATE_PERF_PEERS_TABLE_H
#define TLSGATE_PERF_PEERS_TABLE_H

#include <stdio.h>

#include "perf/peers/bars.h"
#include "perf/peers/result.h"

// tg_peers_table writes two lines a metric: median and spread of each server, and below it the ratio to the best with
// its interval. A client that was the limit in most rounds is marked by a star; what is unreadable or left out is told
// below. Metrics that nothing was measured of are left out.
void tg_peers_table(FILE *out, const struct tg_peers_result *result);

// tg_peers_bars_table writes one line a bar.
void tg_peers_bars_table(FILE *out, const struct tg_peers_bar bars[TG_PEERS_BARS]);

#endif

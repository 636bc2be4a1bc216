// The comparison as one HTML page, self-contained, for light and dark.
#ifndef TLSGATE_PERF_PEERS_PAGE_H
#define TLSGATE_PERF_PEERS_PAGE_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/peers/report.h"

// tg_peers_page writes the page to a file beside `path`, which is then renamed. Returns false with `err` filled in;
// what was at `path` is then still there.
bool tg_peers_page(const char *path, const struct tg_peers_result *result,
                   const struct tg_peers_bar bars[TG_PEERS_BARS], const struct tg_peers_run_facts *facts,
                   struct tg_error *err);

#endif

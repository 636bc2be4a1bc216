// Many sequential clients at once: closed-loop load of full connections without TCP_NODELAY.
#ifndef TLSGATE_PERF_AB_CROWD_H
#define TLSGATE_PERF_AB_CROWD_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/process/server.h"

#define TG_CROWD_MAX 64

// tg_crowd_run has rtt_client (`client` is the path) run `clients` (1 to TG_CROWD_MAX) clients that make `count`
// connections each, and returns in *rate the connections a second over all of them, from the moment when all have
// warmed up, with one connection each, to the last one's end. Returns false with `err` filled in if any of them fails.
bool tg_crowd_run(const char *client, const struct tg_server *server, unsigned clients, unsigned count, double *rate,
                  struct tg_error *err);

#endif

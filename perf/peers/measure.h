// One round of one server: starts it, has clients load it, stops it, and adds what came of it to the result.
#ifndef TLSGATE_PERF_PEERS_MEASURE_H
#define TLSGATE_PERF_PEERS_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/peers/result.h"
#include "perf/servers/launch.h"

// How much of each there is to do. One second of wrk is the least it takes.
struct tg_peers_amounts {
  unsigned rtt_connections;
  unsigned churn_connections;    // at each concurrency
  unsigned resumed_connections;  // of all four clients
  unsigned wrk_s;                // of keep-alive and of big, each
  size_t idle_connections;
};

// tg_peers_usual is what a comparison does; a round of one server takes 15 s with it.
extern const struct tg_peers_amounts tg_peers_usual;

struct tg_peers_plan {
  struct tg_launch_config launch;
  const char *rtt_client;
  const char *handshake_bench;
  struct tg_peers_amounts amounts;
  bool wanted[TG_PEERS_WORKLOADS];
  bool quiet;  // no progress
};

// tg_peers_leave_outs marks what does not apply to a server: what its description leaves out of the gates, connections
// that stay where it keeps none, and shards where it is not the project's own.
void tg_peers_leave_outs(const struct tg_server_description *description, struct tg_peers_server *server);

// tg_peers_measure runs all that is wanted and applies, of round `round` (from 0). What fails makes its metrics
// unreadable, and the rest goes on. Interrupted by a signal it leaves nothing running (perf/servers/launch.h).
void tg_peers_measure(const struct tg_peers_plan *plan, const struct tg_server_description *description, size_t round,
                      struct tg_peers_server *server);

// tg_peers_measure_in_memory adds the handshake in memory.
void tg_peers_measure_in_memory(const struct tg_peers_plan *plan, size_t round, struct tg_peers_cell *cell);

#endif

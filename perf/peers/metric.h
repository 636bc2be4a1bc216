// What `compare` measures of every server, and in which workload.
#ifndef TLSGATE_PERF_PEERS_METRIC_H
#define TLSGATE_PERF_PEERS_METRIC_H

#include <stdbool.h>

// One thing that clients do to one server in one round. In this order: memory is taken first, from a server that has
// done little, as a used heap hides what connections take.
enum tg_peers_workload {
  TG_PEERS_IDLE,       // connections that are open and do nothing
  TG_PEERS_RTT,        // rtt_client, sequential new connections without TCP_NODELAY
  TG_PEERS_CHURN,      // ab, new connections, at 1, 4 and 32 at once
  TG_PEERS_RESUMED,    // rtt_client, four clients that resume
  TG_PEERS_KEEPALIVE,  // wrk, small responses
  TG_PEERS_BIG,        // wrk, responses of 1 MiB
  TG_PEERS_CALLS,      // strace -c over sequential new connections
  TG_PEERS_SHARDS,     // ab at 32 at once, against 1, 2, 4, 8 and 16 shards of the project's own server
  TG_PEERS_WORKLOADS,
};

enum tg_peers_metric {
  TG_PEERS_RTT_P50,
  TG_PEERS_RTT_P99,
  TG_PEERS_STALLED,
  TG_PEERS_CPS_1,
  TG_PEERS_CPS_4,
  TG_PEERS_CPS_32,
  TG_PEERS_RESUMED_CPS,
  TG_PEERS_KEEPALIVE_RPS,
  TG_PEERS_BIG_GBPS,
  TG_PEERS_FULL_CPU,
  TG_PEERS_RESUMED_CPU,
  TG_PEERS_REQUEST_CPU,
  TG_PEERS_MIB_CPU,
  TG_PEERS_IDLE_KIB,
  TG_PEERS_IDLE_CPU,
  TG_PEERS_CALLS_EACH,
  TG_PEERS_SHARDS_1,
  TG_PEERS_SHARDS_2,
  TG_PEERS_SHARDS_4,
  TG_PEERS_SHARDS_8,
  TG_PEERS_SHARDS_16,
  TG_PEERS_METRICS,
};

struct tg_peers_metric_info {
  const char *name;   // in report.json
  const char *title;  // for people
  const char *unit;
  enum tg_peers_workload workload;
  bool more_is_better;
  bool throughput;  // a client that is the limit makes it say little about the server
};

// tg_peers_info returns what there is to know of a metric.
const struct tg_peers_metric_info *tg_peers_info(enum tg_peers_metric metric);

// tg_peers_workload_name returns what --only and messages call a workload.
const char *tg_peers_workload_name(enum tg_peers_workload workload);

// tg_peers_workload_what says in one line, for people, what a workload does.
const char *tg_peers_workload_what(enum tg_peers_workload workload);

#endif

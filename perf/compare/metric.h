// What a comparison of two servers measures, and which of it decides.
#ifndef TLSGATE_PERF_COMPARE_METRIC_H
#define TLSGATE_PERF_COMPARE_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/manifest/manifest.h"

// One run of one client against one server.
enum tg_compare_workload {
  TG_COMPARE_FULL,       // ab, new connections, each a full TLS 1.3 handshake and a request
  TG_COMPARE_RESUMED,    // rtt_client, sequential connections that resume
  TG_COMPARE_KEEPALIVE,  // ab -k, small responses
  TG_COMPARE_BIG,        // ab -k, responses of 1 MiB
  TG_COMPARE_RTT,        // rtt_client, sequential new connections
  TG_COMPARE_WORKLOADS,
};

struct tg_compare_metric {
  const char *name;
  const char *unit;
  enum tg_compare_workload workload;
  enum tg_direction direction;  // TG_AT_MOST: less is better; TG_AT_LEAST: more is better
  // A firm metric decides. A soft one is a throughput: it never keeps a comparison from passing, it can fail one only
  // where the client was not the limit, and says so where it was.
  bool firm;
};

enum tg_compare_metrics { TG_COMPARE_METRICS = 8 };

// The table, the firm ones first.
extern const struct tg_compare_metric tg_compare_metrics[TG_COMPARE_METRICS];

// tg_compare_workload_name returns what messages call a workload.
const char *tg_compare_workload_name(enum tg_compare_workload workload);

#endif

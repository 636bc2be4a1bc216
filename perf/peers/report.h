// The comparison as a JSON document for programs.
#ifndef TLSGATE_PERF_PEERS_REPORT_H
#define TLSGATE_PERF_PEERS_REPORT_H

#include <jansson.h>

#include "perf/peers/bars.h"
#include "perf/peers/result.h"

#define TG_PEERS_REPORT_SCHEMA 1

// What a report says of the run itself.
struct tg_peers_run_facts {
  const char *date;          // ISO 8601, UTC
  int workers;               // of each server
  double took_s;             // to measure
  double stolen;             // share of the CPU time that the hypervisor took (perf/host/provenance.h)
  const json_t *provenance;  // borrowed
};

// tg_peers_report returns a new JSON object, or NULL when memory runs out. docs/performance.md describes it.
json_t *tg_peers_report(const struct tg_peers_result *result, const struct tg_peers_bar bars[TG_PEERS_BARS],
                        const struct tg_peers_run_facts *facts);

#endif

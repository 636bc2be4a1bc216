// Earlier values of each metric on this machine, for charts: they decide nothing.
//
// history.json, a raw file of the part "gates":
//   {"schema": 1, "runs": [{"id": ..., "start": ..., "commit": ..., "values": {"tls_rtt_p50_ms": 0.084, ...}}, ...]}
// oldest first; readable, finished runs of the server that ships, in one environment and profile.
#ifndef TLSGATE_PERF_CERTIFY_RUN_HISTORY_H
#define TLSGATE_PERF_CERTIFY_RUN_HISTORY_H

#include <jansson.h>

#include "harness/base/error.h"
#include "perf/report/report.h"

// The most runs, the newest.
#define TG_CERTIFY_HISTORY_MAX 40

// tg_certify_history returns a new object of the above from the logs of runs of `workspace`, for runs like `report`.
// NULL with `err` filled in when a log cannot be read.
json_t *tg_certify_history(const char *workspace, const struct tg_report *report, struct tg_error *err);

#endif

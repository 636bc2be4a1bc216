// What a comparison leaves on disk: report.json, written beside its place and renamed (perf/run/output.h).
#ifndef TLSGATE_PERF_COMPARE_REPORT_H
#define TLSGATE_PERF_COMPARE_REPORT_H

#include <jansson.h>

#include "perf/compare/compare.h"
#include "perf/host/provenance.h"

#define TG_COMPARE_REPORT_SCHEMA 1

// A side as a report names it.
struct tg_compare_identity {
  const char *name;                // as the caller gave it: a path or a revision
  const char *commit;              // what the revision stood for; NULL for a path
  char sha256[TG_SHA256_HEX + 1];  // of the binary that was measured
};

// tg_compare_report returns a new object: the verdict, every metric's ratio and interval in each set, every sample of
// both sets, both sides with their SHA-256, and `provenance` (borrowed).
json_t *tg_compare_report(const struct tg_compare_result *result, const struct tg_compare_config *config,
                          const struct tg_compare_identity sides[TG_COMPARE_SIDES], const json_t *provenance);

// tg_compare_report_failure returns a new object for a comparison that came to no verdict: passed is false, `stage` and
// `message` say where and why, and there is no measurement in it.
json_t *tg_compare_report_failure(const char *stage, const char *message,
                                  const struct tg_compare_identity sides[TG_COMPARE_SIDES], const json_t *provenance);

#endif

// A set of rounds: what was measured of two servers, run by run, and its form in a file.
//
// In a round each workload runs four times, base and candidate in the order ABBA or BAAB by turns, so that what drifts
// on the machine in the course of a round meets both alike. Run 2 r and run 2 r + 1 of a side belong to round r.
#ifndef TLSGATE_PERF_COMPARE_SET_H
#define TLSGATE_PERF_COMPARE_SET_H

#include <jansson.h>

#include "harness/base/error.h"
#include "perf/manifest/strict_json.h"
#include "perf/verdict/samples.h"

enum tg_compare_side { TG_BASE, TG_CANDIDATE, TG_COMPARE_SIDES };

// "base" and "candidate".
extern const char *const tg_compare_side_names[TG_COMPARE_SIDES];

// The most rounds of a set: each is two of a side's series.
#define TG_COMPARE_ROUNDS_MAX 200

struct tg_compare_set {
  struct tg_samples *sides[TG_COMPARE_SIDES];  // what tg_samples calls a round is a run here
};

// tg_compare_set_init makes an empty set, to be released with tg_compare_set_free.
void tg_compare_set_init(struct tg_compare_set *set);
void tg_compare_set_free(struct tg_compare_set *set);

// tg_compare_set_rounds returns the number of whole rounds of a metric, or 0 if a side lacks it.
size_t tg_compare_set_rounds(const struct tg_compare_set *set, const char *metric);

// tg_compare_set_json returns a new object with every sample: {"base": {METRIC: {"values": [...], "client_bound":
// [...]}, ...}, "candidate": ...}; both arrays have an entry a run, in the order of the runs.
json_t *tg_compare_set_json(const struct tg_compare_set *set);

// The file that keeps a set for //perf/compare:error_rates_test, and its version.
#define TG_COMPARE_RECORD_SCHEMA 1

// tg_compare_record_json returns a new object: the set and the machine that it comes from (CPU model, CPUs, kernel,
// compiler, BoringSSL, date), taken from `provenance` (perf/host/provenance.h).
json_t *tg_compare_record_json(const struct tg_compare_set *set, const json_t *provenance);

// tg_compare_record_load reads such a file strictly. Returns false with `err` filled in, and nothing to free.
bool tg_compare_record_load(struct tg_compare_set *out, const char *file, struct tg_error *err);

#endif

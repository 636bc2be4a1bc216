// Which test belongs to which part: the tests of //:certification, by their labels.
//
// The plan is made from what Bazel lists and kept as plan.json, a raw file of the part "build":
//
//   {
//     "schema": 1,
//     "tests": {"release": ["//perf/stats:stats_test", ...], "instrumented": [...], ...},   part -> labels
//     "unplanned": []                                                    tests of //... that no part would run
//   }
#ifndef TLSGATE_PERF_CERTIFY_PLAN_H
#define TLSGATE_PERF_CERTIFY_PLAN_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"

#define TG_PLAN_SCHEMA 1
#define TG_PLAN_FILE   "plan.json"

// tg_plan_part_of returns the name of the part that runs a test: "conformance", "corpora", "faults",
// "negative-control", "instrumented" or "release"; or NULL for one whose program a part runs by itself, to keep what it
// measures ("gates").
const char *tg_plan_part_of(const char *label);

// tg_plan_new returns a new plan from what `bazel query` printed, one label a line: the tests of //:certification, and
// the tests of //... that are not among them. NULL with `err` filled in when a line is no label.
json_t *tg_plan_new(const char *certification, const char *others, struct tg_error *err);

// tg_plan_labels returns a new array of the labels that `bazel query` printed, one a line; NULL with `err` as above.
json_t *tg_plan_labels(const char *printed, struct tg_error *err);

// tg_plan_load reads `folder`/plan.json. Returns a new reference, or NULL with `err`.
json_t *tg_plan_load(const char *folder, struct tg_error *err);

// tg_plan_tests returns the array of the labels of a part, borrowed; NULL if the part has none.
const json_t *tg_plan_tests(const json_t *plan, const char *part);

#endif

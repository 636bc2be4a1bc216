// What a `bazel test` came to: from Bazel's build events to a file of the certificate, and back.
//
// The file, tests.json:
//
//   {
//     "schema": 1,
//     "asked": ["//perf/stats:stats_test", ...],     the tests that were to run
//     "exit": {"name": "SUCCESS", "code": 0},        how Bazel ended; null if it did not get there
//     "tests": [{"label": "//perf/stats:stats_test", "status": "PASSED", "cached": true, "duration_ms": 12}, ...]
//   }
//
// A test that is asked for and has no entry did not run: it or something it needs was not built.
#ifndef TLSGATE_PERF_CERTIFY_TEST_RESULTS_H
#define TLSGATE_PERF_CERTIFY_TEST_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

#define TG_TEST_RESULTS_SCHEMA 1

// The most tests of one run.
#define TG_TESTS_MAX 4096

// tg_test_results_from_events reads a file that --build_event_json_file wrote (one event a line; the last may be cut if
// Bazel was killed) and returns the object above as a new reference. `asked` is an array of labels, borrowed. Returns
// NULL with `err` filled in when the file cannot be read or a whole line of it is no event.
json_t *tg_test_results_from_events(const char *events, const json_t *asked, struct tg_error *err);

struct tg_test_result {
  const char *label;
  const char *status;  // Bazel's word; "PASSED" alone is a pass, and "NOT RUN" is ours
  bool cached;         // the result is that of an earlier run on the same inputs
  double duration_s;
};

struct tg_test_results {
  struct tg_test_result *tests;  // one for each that was asked for, in that order
  size_t num;
  size_t passed;
  size_t cached;     // of those that passed
  bool finished;     // Bazel got to its end
  long long code;    // Bazel's exit code, if so: 0 all passed, 3 some tests failed
  const char *exit;  // its name, if so
  json_t *root;
};

// tg_test_results_load decodes tests.json strictly. Returns false with `err` filled in; else *out is to be released
// with tg_test_results_free.
bool tg_test_results_load(struct tg_test_results *out, const char *file, struct tg_error *err);
void tg_test_results_free(struct tg_test_results *results);

#endif

// The verdict on every figure.
#ifndef TLSGATE_PERF_EXACT_JUDGE_H
#define TLSGATE_PERF_EXACT_JUDGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "perf/exact/baseline.h"
#include "perf/exact/figures.h"

enum tg_exact_verdict {
  TG_EXACT_PASS,
  TG_EXACT_FAIL,
  TG_EXACT_UNENFORCED,  // nothing is recorded under this build's key
  TG_EXACT_OFF,         // null in the file
  TG_EXACT_VERDICTS,
};

// One figure.
struct tg_exact_row {
  size_t scenario;
  int metric;
  int64_t now;
  int64_t baseline;  // PASS and FAIL
  int64_t allowed;   // by how much `now` may differ from it; 0 but for instructions
  enum tg_exact_verdict verdict;
};

// tg_exact_verdict_name returns the name that exact.json uses.
const char *tg_exact_verdict_name(enum tg_exact_verdict verdict);

#define TG_EXACT_ROWS_MAX (TG_SCENARIOS_MAX * TG_EXACT_METRICS)

struct tg_exact_result {
  const struct tg_exact_figures *figures;    // borrowed
  const struct tg_exact_baseline *baseline;  // borrowed
  size_t num_rows;
  struct tg_exact_row rows[TG_EXACT_ROWS_MAX];
  size_t num[TG_EXACT_VERDICTS];
};

// tg_exact_judge compares the figures with the baseline that was read for them. Both must outlive the result. A call
// that is made neither now nor by the baseline has no row.
void tg_exact_judge(const struct tg_exact_figures *figures, const struct tg_exact_baseline *baseline,
                    struct tg_exact_result *out);

// tg_exact_passed: no figure has changed. Figures that are not enforced do not count against it; who asks must say so.
bool tg_exact_passed(const struct tg_exact_result *result);

// tg_exact_print writes what has changed, one line each, what is not enforced and why, and a line that sums up. On a
// change it says how to accept it.
void tg_exact_print(const struct tg_exact_result *result, FILE *to);

// tg_exact_result_json returns a new object:
//
//   {
//     "schema": 1,
//     "verdict": "pass",                   or "fail"
//     "baseline": "baselines/exact.json",  the file's name
//     "keys": {"boringssl": "REVISION", "compiler": "VERSION", "cpu": "aes avx2"},
//     "cpu_native": "aes avx2 sha",        what the machine has of what code is chosen by; "cpu" is what valgrind shows
//     "passed": 380, "failed": 0, "not_enforced": 0, "disabled": 0,       numbers of rows
//     "unenforced": [{"section": "memory", "key": {"boringssl": "REVISION"}, "rows": 63}],
//     "rows": [{"section": "calls", "scenario": "full_tls13", "name": "accept4", "now": 2,
//               "baseline": 2, "allowed": 0,                 both null where there is none
//               "verdict": "pass"}]                          or "fail", "unenforced", "disabled"
//   }
//
// Returns NULL when out of memory.
json_t *tg_exact_result_json(const struct tg_exact_result *result);

// tg_exact_failure_json returns a new object for a check that came to no verdict, with no figure in it:
//   {"schema": 1, "verdict": "error", "message": "..."}
json_t *tg_exact_failure_json(const char *message);

#endif

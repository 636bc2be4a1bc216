// baselines/exact.json: what the figures were when they were last accepted.
//
//   {
//     "schema": 1,
//     "calls": {"full_tls13": {"accept4": 2, "rearms": 3, "wakeups": 4, "stalls": 0}, ...},
//     "memory": [{"boringssl": "REVISION", "scenarios": {"full_tls13": {"allocations": 5, ...}, ...}}],
//     "instructions": [{"boringssl": "REVISION", "compiler": "VERSION",
//                       "runs": 5, "allowance": 0.001, "scenarios": ...}],
//     "dispatched": [{"boringssl": "REVISION", "compiler": "VERSION", "cpu": "aes avx2",
//                     "runs": 5, "allowance": 0.001, "scenarios": ...}]
//   }
//
// A call that is not named is not made. Every other figure of a section is required in every scenario, and every
// scenario that there is in every entry that holds for this build; null is a figure that is deliberately not judged.
// `runs` says of how many runs a figure is the median, and `allowance` by what part of itself it may be off (0 to
// TG_EXACT_ALLOWANCE_MAX; in `dispatched` to TG_EXACT_LIBRARY_ALLOWANCE). The file is written by `./tlsgate record
// --exact` and has no notes.
#ifndef TLSGATE_PERF_EXACT_BASELINE_H
#define TLSGATE_PERF_EXACT_BASELINE_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/exact/figures.h"

#define TG_EXACT_SCHEMA 1

// The least and the most that an allowance may be. More than half of what must be caught, 0.5 %, would let it pass.
#define TG_EXACT_ALLOWANCE_MIN 0.0005
#define TG_EXACT_ALLOWANCE_MAX 0.0025

// The allowance of `dispatched`. How the libraries treat a buffer depends on where the heap puts it, and so on what is
// allocated around the server: up to 0.25 % of a figure has been seen to come and go with that.
#define TG_EXACT_LIBRARY_ALLOWANCE 0.01

#define TG_EXACT_RUNS_MAX 99

enum tg_exact_state {
  TG_EXACT_ABSENT,    // a call that is not made
  TG_EXACT_RECORDED,  // `values` has it
  TG_EXACT_DISABLED,  // null
};

// What holds for one build and CPU. Scenarios are numbered as in the figures that it was read for.
struct tg_exact_baseline {
  const char *file;             // borrowed
  bool has[TG_EXACT_SECTIONS];  // false: nothing is recorded under the key
  int runs[TG_EXACT_SECTIONS];  // counted sections
  double allowance[TG_EXACT_SECTIONS];
  enum tg_exact_state states[TG_SCENARIOS_MAX][TG_EXACT_METRICS];
  int64_t values[TG_SCENARIOS_MAX][TG_EXACT_METRICS];
};

// TG_EXACT_JUDGE: the scenarios must be those of the figures. TG_EXACT_RECORD: some may be missing, which are then
// ABSENT, and others there, which are passed over.
enum tg_exact_purpose { TG_EXACT_JUDGE, TG_EXACT_RECORD };

// tg_exact_baseline_read decodes `value` (borrowed), which came from `file`, for the keys and scenarios of `figures`.
// Entries under other keys are decoded too, though nothing is taken from them. Returns false with `err` filled in:
// file, place, and what is expected there.
bool tg_exact_baseline_read(const char *file, json_t *value, const struct tg_exact_figures *figures,
                            enum tg_exact_purpose purpose, struct tg_exact_baseline *out, struct tg_error *err);

// What a recording stores beside the figures.
struct tg_exact_recorded {
  int runs;
  double allowance[TG_EXACT_SECTIONS];  // of the counted sections
};

// tg_exact_baseline_write returns the file's new content, a new reference: the figures under their keys, every other
// entry of `old` as it was. `old` may be NULL: there is no file yet. What `before` has disabled stays null. Returns
// NULL when out of memory.
json_t *tg_exact_baseline_write(const json_t *old, const struct tg_exact_figures *figures,
                                const struct tg_exact_baseline *before, const struct tg_exact_recorded *recorded);

#endif

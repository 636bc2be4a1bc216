// A scenario: what one client does, which part of it is measured, and what must have come of it.
//
// A file NAME.txt of scenarios/ is a schedule as text (docs/schedules.md) with two lines among its comments:
//
//     # expects: established 1 responses 2     a line of names and numbers, see below
//     # measured                               what comes before it prepares, what comes after it is measured
//
// Names are those of struct tg_counters (harness/accept/counters.h), at the end of the run, and `responses`: whole
// responses that were owed, of all clients. In a scenario the size of a POST counts units of 512 bytes.
#ifndef TLSGATE_PERF_EXACT_SCENARIO_H
#define TLSGATE_PERF_EXACT_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/schedule/schedule.h"
#include "harness/accept/counters.h"
#include "harness/base/error.h"

#define TG_SCENARIO_NAME_MAX  48  // with the terminating NUL
#define TG_SCENARIOS_MAX      64
#define TG_SCENARIO_POST_UNIT 512u

// One thing that a run must have come to.
struct tg_expectation {
  char name[32];
  uint64_t value;
};
#define TG_EXPECTATIONS_MAX 8

struct tg_scenario {
  char name[TG_SCENARIO_NAME_MAX];  // of the file, without .txt
  struct tg_schedule schedule;
  size_t first_measured;  // the step
  struct tg_expectation expectations[TG_EXPECTATIONS_MAX];
  size_t num_expectations;
};

// tg_scenario_parse reads the text of a scenario; `file` is for errors and for the name. Returns false with `err`
// filled in, which names the file, what is wrong and the remedy.
bool tg_scenario_parse(const char *file, const char *text, size_t len, struct tg_scenario *out, struct tg_error *err);

// tg_scenarios_read reads every NAME.txt of `folder`, in order of name, into `out`, which has room for
// TG_SCENARIOS_MAX.
bool tg_scenarios_read(const char *folder, struct tg_scenario *out, size_t *out_num, struct tg_error *err);

// tg_scenario_check says whether a run came to what the scenario expects; `err` says what it did not come to.
bool tg_scenario_check(const struct tg_scenario *scenario, const struct tg_counters *counters, uint64_t responses,
                       struct tg_error *err);

#endif

// Which runs a baseline is recorded from: distinct, readable, whole, of one clean revision, in one environment.
#ifndef TLSGATE_PERF_BASELINE_CHOOSE_H
#define TLSGATE_PERF_BASELINE_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/base/error.h"
#include "perf/baseline/host_baseline.h"
#include "perf/manifest/manifest.h"
#include "perf/report/report.h"

// The fewest runs that have a median worth recording.
#define TG_SAMPLES_MIN 3

// Reports, newest first; borrowed.
struct tg_runs {
  const struct tg_report **reports;
  size_t num;
};

// tg_runs_distinct puts `num` reports into `out`, whose array has room for them, each run once: a run is what its id
// says, so that copies of its report count once, and a line on `log` says so. A copy that differs is an error: one of
// the two was edited, and nobody knows which.
bool tg_runs_distinct(struct tg_runs *out, struct tg_report *const *reports, size_t num, FILE *log,
                      struct tg_error *err);

// tg_runs_choose keeps those of `runs`, which must be distinct, that are samples of `revision` (a commit). The newest
// run of that revision says what the environment is. Runs of other revisions, environments or profiles are left out,
// each with a line on `log`. Refused as a whole, with `err` filled in: a run without provenance; and of the runs that
// remain, one of a dirty tree, an error report, an unreadable one, a partial one, one of a server that is not the one
// that ships, one that failed a gate, one that lacks a row of the manifest; fewer than TG_SAMPLES_MIN; more than
// TG_RECORDED_RUNS_MAX.
bool tg_runs_choose(struct tg_runs *runs, const char *revision, const struct tg_manifest *manifest, FILE *log,
                    struct tg_error *err);

// tg_runs_window keeps what allowances are derived from: the newest TG_ALLOWANCE_WINDOW of `runs` that are readable,
// whole and clean, of the environment and the profile; revisions may differ.
void tg_runs_window(struct tg_runs *runs, const struct tg_environment *environment, enum tg_profile profile);

#endif

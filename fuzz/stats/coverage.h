// Line coverage of the code under test by the committed corpora: clang's source-based coverage.
#ifndef TLSGATE_FUZZ_STATS_COVERAGE_H
#define TLSGATE_FUZZ_STATS_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "fuzz/launcher/targets.h"
#include "harness/base/error.h"

enum tg_covered_folder { TG_COVERED_ACCEPT, TG_COVERED_SERVER, TG_COVERED_FOLDERS };

struct tg_coverage {
  size_t lines[TG_COVERED_FOLDERS];  // that have code
  size_t covered[TG_COVERED_FOLDERS];
};

// tg_coverage_folder returns "harness/accept" or "harness/server".
const char *tg_coverage_folder(enum tg_covered_folder folder);

// tg_coverage_run replays the seeds and regressions of a target in its coverage program. The profile is written to
// `folder`/NAME.profdata. Returns false with `err` filled in, for instance when an input is a finding.
bool tg_coverage_run(const struct tg_fuzz_target *target, const char *folder, struct tg_error *err);

// tg_coverage_read counts lines that the given targets' profiles cover together. Every line of the two folders that
// none covers is written to `uncovered` (FILE:LINE, one a line) unless that is NULL. A target that has neither folder's
// code adds nothing.
bool tg_coverage_read(const struct tg_fuzz_target *targets, size_t num, const char *folder, FILE *uncovered,
                      struct tg_coverage *out, struct tg_error *err);

// tg_coverage_html writes pages with every line and how often it ran, of all targets together, to the folder `to`. To
// be called in the workspace's root, where the sources are.
bool tg_coverage_html(const struct tg_fuzz_target *targets, size_t num, const char *folder, const char *to,
                      struct tg_error *err);

#endif

// Deposits: the reports of earlier runs on this host, one file each, <folder>/<id of the run>.json. They are the window
// that allowances and run-to-run trust are derived from, and the samples of a recording that names no reports.
//
// Deposits are optional: a run whose deposit fails says so, and its verdict stays as it is.
#ifndef TLSGATE_PERF_BASELINE_DEPOSIT_H
#define TLSGATE_PERF_BASELINE_DEPOSIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/report/report.h"

// The folder in the source tree, where none is named.
#define TG_DEPOSITS_FOLDER "reports/deposits"

// The most deposits of a folder; with more, reading it is an error that asks to move the oldest away.
#define TG_DEPOSITS_MAX 1024

struct tg_deposits {
  struct tg_report **reports;  // newest first: by start, then by id
  size_t num;
  char (*problems)[512];  // one line for each file that is no deposit
  size_t num_problems;
};

// tg_deposit_add puts `report`, as encoded, into `folder`, which is made if it is missing. A deposit is never replaced:
// the same report once more is accepted and changes nothing, another report with the same id is an error. The file is
// written beside its place and linked, so that readers see all of it or nothing.
bool tg_deposit_add(const char *folder, const struct tg_report *report, struct tg_error *err);

// tg_deposits_read reads what is there. A folder that is missing has no deposits. A file that cannot be decoded is a
// line of `problems` and no deposit. Returns false with `err` filled in when the folder cannot be read. *out is to be
// released with tg_deposits_release.
bool tg_deposits_read(struct tg_deposits *out, const char *folder, struct tg_error *err);
void tg_deposits_release(struct tg_deposits *deposits);

// tg_series_start begins a new series of samples in `folder`: runs that started before now are no samples of a
// recording any more, and stay in the window of history.
bool tg_series_start(const char *folder, struct tg_error *err);

// tg_series_started writes to `out` since when runs are samples ("" if always), as a report's "start".
bool tg_series_started(char out[32], const char *folder, struct tg_error *err);

#endif

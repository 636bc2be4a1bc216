// What a run leaves on disk. Every file is written beside its place and renamed, so that a reader sees the old one or
// the whole new one.
#ifndef TLSGATE_PERF_RUN_OUTPUT_H
#define TLSGATE_PERF_RUN_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/run/run.h"

// tg_output_prepare makes `folder` if it is missing and says whether files can be written there, before a run is spent
// on figures that could not be kept.
bool tg_output_prepare(const char *folder, struct tg_error *err);

// tg_output_publish writes `value`, which it takes over, as `name` into `folder`. NULL stands for a value that there was
// no memory for. Returns false with `err` filled in ("report unavailable: ..."); then an old file is still there.
bool tg_output_publish(const char *folder, const char *name, json_t *value, struct tg_error *err);

// tg_output_write writes three files into `folder`, see tg_output_prepare:
//   row.json      one value for each metric, the form that `replay` judges (perf/manifest/row.h)
//   report.json   the verdict on each gate, and where the figures come from
//   samples.json  every sample of every round, and what each tool said
// `provenance` is borrowed. Returns false with `err` filled in; files that were already renamed stay.
bool tg_output_write(const char *folder, const struct tg_run *run, const json_t *provenance, struct tg_error *err);

// tg_output_write_failure writes report.json for a run that came to no verdict: passed is false, `message` says why,
// and there is no measurement in it. A row.json and a samples.json of an earlier run in the folder are removed.
bool tg_output_write_failure(const char *folder, const char *message, const json_t *provenance, struct tg_error *err);

#endif

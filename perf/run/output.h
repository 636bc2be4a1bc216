// What a run leaves on disk. Every file is read back and renamed into its place (perf/report/publish.h), so that a
// reader sees the old one or the whole new one.
#ifndef TLSGATE_PERF_RUN_OUTPUT_H
#define TLSGATE_PERF_RUN_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/report/report.h"
#include "perf/run/run.h"

// The version of samples.json ("schema").
#define TG_SAMPLES_SCHEMA 2

// tg_output_publish writes `value`, which it takes over, as `name` into `folder`, exactly (perf/report/publish.h). NULL
// stands for a value that there was no memory for. Returns false with `err` filled in ("report unavailable: ..."); then
// an old file is still there.
bool tg_output_publish(const char *folder, const char *name, json_t *value, struct tg_error *err);

// tg_output_write writes three files into `folder`, which is made if it is missing:
//   row.json      one value for each metric, the form that `replay` judges (perf/manifest/row.h)
//   samples.json  every sample of every round, exactly, and what each tool said; "run" is the report's run id
//   report.json   the report, last: who sees a new report sees the files that belong to it
// Returns false with `err` filled in, beginning with "report unavailable"; the old report.json is then still there.
bool tg_output_write(const char *folder, const struct tg_run *run, const struct tg_report *report,
                     struct tg_error *err);

// tg_output_write_failure publishes the error report of a run that came to no verdict. A row.json, a samples.json and
// an exact.json of an earlier run in the folder are removed: they are not this run's.
bool tg_output_write_failure(const char *folder, const struct tg_report *report, struct tg_error *err);

#endif

// samples.json of a measuring run (perf/run/output.h), read back.
#ifndef TLSGATE_PERF_CERTIFY_SAMPLES_FILE_H
#define TLSGATE_PERF_CERTIFY_SAMPLES_FILE_H

#include "harness/base/error.h"
#include "perf/verdict/samples.h"

// tg_samples_load decodes a samples.json; `run` is the id that the report has. What tools said is passed over. Returns
// samples to be released with tg_samples_free, or NULL with `err` filled in.
struct tg_samples *tg_samples_load(const char *file, const char *run, struct tg_error *err);

#endif

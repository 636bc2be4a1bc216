// Publishing a generated file in place of the old one.
#ifndef TLSGATE_PERF_BASELINE_GENERATED_H
#define TLSGATE_PERF_BASELINE_GENERATED_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/baseline/staged.h"

// tg_generated_publish writes `value`, which it takes over, through the reservation, which it ends. The file is renamed
// only if it reads back as `value` and `decodes` accepts it. Returns false with `err` filled in, the old file
// untouched.
bool tg_generated_publish(struct tg_staged *staged, json_t *value,
                          bool (*decodes)(const char *path, struct tg_error *err), struct tg_error *err);

#endif

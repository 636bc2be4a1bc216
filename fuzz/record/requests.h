// Requests that no schedule can write: what HTTP's grammar allows and forbids, a name for each.
#ifndef TLSGATE_FUZZ_RECORD_REQUESTS_H
#define TLSGATE_FUZZ_RECORD_REQUESTS_H

#include <stdbool.h>

#include "fuzz/record/seeds.h"
#include "harness/base/error.h"

// tg_requests_record adds a seed of request_bytes for each. Returns false with `err` filled in.
bool tg_requests_record(struct tg_seeds *seeds, struct tg_error *err);

#endif

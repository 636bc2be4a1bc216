// Counters as JSON.
#ifndef TLSGATE_HARNESS_SERVER_COUNTERS_JSON_H
#define TLSGATE_HARNESS_SERVER_COUNTERS_JSON_H

#include <stddef.h>

#include "harness/accept/counters.h"

// Room for any set of counters: 32 bytes of name and punctuation and 20 digits each.
#define TG_COUNTERS_JSON_SIZE 2048

// tg_counters_json writes one object, a member for each counter in the order of TG_COUNTERS, and a NUL. Returns its
// length without the NUL, or 0 when out of memory.
size_t tg_counters_json(char out[TG_COUNTERS_JSON_SIZE], const struct tg_counters *counters);

#endif

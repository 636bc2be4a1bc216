// What the decoders of generated files share. For this folder alone.
#ifndef TLSGATE_PERF_BASELINE_FIELDS_H
#define TLSGATE_PERF_BASELINE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/manifest/strict_json.h"
#include "perf/report/report.h"

// tg_generated_schema requires the key "schema" to be `supported`; the remedy for another version is `remedy`.
bool tg_generated_schema(struct tg_json_place *place, int supported, const char *remedy);

// tg_metric_key checks that a key that is data can be a metric's name: [a-z][a-z0-9_]*, at most 48 characters.
bool tg_metric_key(struct tg_json_place *place, const char *key);

// tg_profile_field reads the required key "profile".
bool tg_profile_field(struct tg_json_place *place, enum tg_profile *out);

// tg_json_dump returns `value` as the text of a file, to be freed, or NULL when out of memory. It takes `value` over.
char *tg_json_dump(json_t *value);

#endif

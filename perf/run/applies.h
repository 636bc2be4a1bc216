// Which gates apply to a described server, and why the others do not.
#ifndef TLSGATE_PERF_RUN_APPLIES_H
#define TLSGATE_PERF_RUN_APPLIES_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/manifest/manifest.h"
#include "perf/servers/describe.h"

#define TG_APPLIES_WHY_SIZE 320

struct tg_applies {
  const struct tg_manifest *manifest;
  char why_not[TG_GATES_MAX][TG_APPLIES_WHY_SIZE];  // by place in the manifest; empty: it applies
};

// tg_applies_fill goes through the gates. One is left out when the description says so, when the server lacks what its
// workload needs (a plaintext port, a route, bodies of the size that its bound is for, a variant), and when what it is
// held against is left out. `description` NULL is the project's own server, to which all apply. Returns false with
// `err` filled in when the description leaves out a gate that the manifest does not have.
bool tg_applies_fill(struct tg_applies *out, const struct tg_manifest *manifest,
                     const struct tg_server_description *description, struct tg_error *err);

// tg_applies_not returns why a gate of the manifest is left out, or NULL if it applies.
const char *tg_applies_not(const struct tg_applies *applies, const struct tg_gate *gate);

#endif

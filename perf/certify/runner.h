// Runs the parts of a certification one after another, and can be killed and started again at any moment.
//
// Before a part runs, an attempt that "did not end" is written to state.json, and when it has ended its verdict is: so
// whatever happens stays listed. Started again with the same folder, a part that came to a verdict other than fail is
// kept only if what it rests on is what it was: commit, tree, options, machine, programs, raw files; and if its raw
// files still come to that verdict. Every other part is run again, in full, as a further attempt.
#ifndef TLSGATE_PERF_CERTIFY_RUNNER_H
#define TLSGATE_PERF_CERTIFY_RUNNER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/certify/certificate.h"
#include "perf/certify/part.h"
#include "perf/certify/progress.h"
#include "perf/certify/source.h"

struct tg_certify {
  const struct tg_part *parts;  // the first one builds: it runs every time, and without it no other does
  size_t num_parts;
  const struct tg_source *source;
  const char *out;    // folder of the certificate; absolute
  long long minutes;  // of fresh fuzzing
  const char *label;  // TLSGATE_PERF_HOST, or NULL
  const json_t *provenance;
  struct tg_progress *progress;
};

enum tg_certified {
  TG_CERTIFIED,          // certificate.json is there; *verdict says what it says
  TG_CERTIFY_REFUSED,    // nothing was run or changed: `err` says why (a dirty tree, a folder of another certification)
  TG_CERTIFY_IMPOSSIBLE  // the state cannot be written or read
};

// tg_certify_run runs what is to be run. `*value` is the certificate, the caller's, on TG_CERTIFIED.
enum tg_certified tg_certify_run(const struct tg_certify *certify, json_t **value, struct tg_error *err);

#endif

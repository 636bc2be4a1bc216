// The verdict of a timed run, drawn again: from its samples, the certified commit's manifest, and the baseline and the
// history that the commit has of this host.
//
// What cannot be drawn again is taken from the report as a fact of the run: which machine it was, the CPU time that was
// stolen, and whether the host hid the stall.
#ifndef TLSGATE_PERF_CERTIFY_GATES_AGAIN_H
#define TLSGATE_PERF_CERTIFY_GATES_AGAIN_H

#include "perf/baseline/compare.h"
#include "perf/certify/part.h"
#include "perf/exact/gates.h"
#include "perf/manifest/manifest.h"
#include "perf/report/report.h"
#include "perf/trust/trust.h"
#include "perf/verdict/verdict.h"

struct tg_gates_again {
  struct tg_report *report;      // report.json, as it was written
  struct tg_manifest *manifest;  // the rest is NULL or empty if it is an error report
  struct tg_samples *samples;
  struct tg_exact_gates *exact;  // of the run's own exact.json; NULL: it has none, and must have no such rows
  struct tg_verdict *verdict;    // without the recorded baseline; the CPU model's history is in it
  struct tg_report again;        // its rows have both comparisons; readable and reasons are ours
  enum tg_baseline_found found;
  char not_found[400];  // why, unless TG_BASELINE_FOUND
  struct tg_compared compared;
  bool has_history;  // of the CPU model
  struct tg_host_baseline *baseline;
  struct tg_cpu_history *history;
  json_t *calibration_values;
  struct tg_trust_reasons reasons;
};

// tg_gates_again_draw reads report.json and samples.json of evidence->folder and draws the verdict. Returns false with
// `err` filled in when the files are not those of one full run of the certified commit, or when the report says of any
// row something else than what its samples come to; then there is nothing to free.
bool tg_gates_again_draw(struct tg_gates_again *out, const struct tg_evidence *evidence, struct tg_error *err);
void tg_gates_again_free(struct tg_gates_again *again);

#endif

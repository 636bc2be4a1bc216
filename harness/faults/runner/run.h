// Runs a check on the patched build of a fault, and the same on the unpatched one.
#ifndef TLSGATE_HARNESS_FAULTS_RUNNER_RUN_H
#define TLSGATE_HARNESS_FAULTS_RUNNER_RUN_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "harness/faults/runner/plan.h"
#include "harness/faults/runner/record.h"

// tg_fault_run does what the plan says and fills in the record. A fuzz target is given its corpus, one file after the
// other, and then, if nothing was found, runs with a fixed seed from that corpus. Returns false with `err` filled in
// when nothing can be said of the fault: a program did not start or did not end in time.
bool tg_fault_run(const struct tg_fault_plan *plan, struct tg_fault_record *out, struct tg_error *err);

#endif

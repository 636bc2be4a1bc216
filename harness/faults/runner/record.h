// The record of one fault's run: what came of it.
#ifndef TLSGATE_HARNESS_FAULTS_RUNNER_RECORD_H
#define TLSGATE_HARNESS_FAULTS_RUNNER_RECORD_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"

struct tg_fault_record {
  char fault[96];
  char check[96];
  bool caught;           // the check said what the catalogue asks for, and the unpatched build passed the same run
  char said[96];         // what it said: see finding.h; empty: nothing
  char how[16];          // "corpus", "fuzzing" or "test": which part of the run said it
  long long executions;  // of the target up to and including that one; of all of the run if nothing was said
  double seconds;        // of the patched program
  char input[160];       // the corpus file that showed it; empty: none did
  char line[240];        // the line that says it, or why the fault is not caught
};

// tg_fault_record_encode returns a new reference, or NULL when out of memory.
json_t *tg_fault_record_encode(const struct tg_fault_record *record);

// tg_fault_record_load reads a record. Returns false with `err` filled in if the file is not one.
bool tg_fault_record_load(const char *file, struct tg_fault_record *out, struct tg_error *err);

#endif

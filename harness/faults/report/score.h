// What the records of the faults' runs come to.
#ifndef TLSGATE_HARNESS_FAULTS_REPORT_SCORE_H
#define TLSGATE_HARNESS_FAULTS_REPORT_SCORE_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

// tg_fault_score prints a line for each record and "faults: caught N / M", and returns whether all are caught; false
// with `err` filled in also if a file is no record.
bool tg_fault_score(const char *const *files, size_t num_files, struct tg_error *err);

#endif

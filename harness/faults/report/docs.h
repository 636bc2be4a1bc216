// docs/faults.md: the catalogue as a page.
#ifndef TLSGATE_HARNESS_FAULTS_REPORT_DOCS_H
#define TLSGATE_HARNESS_FAULTS_REPORT_DOCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/base/error.h"
#include "harness/faults/report/catalogue.h"

// tg_fault_docs_write writes the page to `out`. `records` are the files of the faults' runs: one for each fault.
// Returns false with `err` filled in.
bool tg_fault_docs_write(const struct tg_catalogue *catalogue, const char *const *records, size_t num_records,
                         FILE *out, struct tg_error *err);

// tg_fault_docs_same says whether two pages are the same but for what was measured, which is in brackets like [12].
// Otherwise `err` has the first line that differs.
bool tg_fault_docs_same(const char *page_file, const char *fresh_file, struct tg_error *err);

#endif

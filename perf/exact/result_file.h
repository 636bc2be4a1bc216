// exact.json, read back: what the program `check` leaves (judge.h describes the file).
#ifndef TLSGATE_PERF_EXACT_RESULT_FILE_H
#define TLSGATE_PERF_EXACT_RESULT_FILE_H

#include <jansson.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/exact/figures.h"
#include "perf/exact/judge.h"

#define TG_EXACT_KEY_TEXT_MAX 320

struct tg_exact_file {
  json_t *root;
  const char *failure;   // why the check came to no verdict; NULL: it did. Then nothing below is filled in
  const char *baseline;  // the file that the figures were compared with
  char keys[TG_EXACT_SECTIONS][TG_EXACT_KEY_TEXT_MAX];  // of a section that is not enforced: `boringssl "REVISION"`
  size_t num_scenarios;
  const char *scenarios[TG_SCENARIOS_MAX];
  size_t num_rows;
  struct tg_exact_row rows[TG_EXACT_ROWS_MAX];  // `scenario` is the index above; `baseline` 0 where there is none
  size_t num[TG_EXACT_VERDICTS];
};

// tg_exact_file_load decodes `file` strictly: a figure's verdict must be what its numbers say, and the totals what the
// figures come to. Returns a result to be released with tg_exact_file_free, or NULL with `err` filled in.
struct tg_exact_file *tg_exact_file_load(const char *file, struct tg_error *err);

// tg_exact_file_free releases it. NULL is ignored.
void tg_exact_file_free(struct tg_exact_file *file);

#endif

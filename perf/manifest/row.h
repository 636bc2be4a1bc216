// Rows of metrics: the row.json that a run writes, and the rows kept in a replay manifest.
#ifndef TLSGATE_PERF_MANIFEST_ROW_H
#define TLSGATE_PERF_MANIFEST_ROW_H

#include "perf/manifest/manifest.h"
#include "perf/manifest/strict_json.h"

// The version of row.json ("schema").
#define TG_ROW_SCHEMA 1

// A row that was read from a file, with the text that it borrows.
struct tg_row_file {
  struct tg_row row;
  json_t *root;
};

// tg_row_load reads a row.json: {"schema": 1, "source": TEXT, "metrics": {NAME: NUMBER above or equal to 0, ...}}.
// Returns a row to be released with tg_row_free, or NULL with `err` filled in.
struct tg_row_file *tg_row_load(const char *file, struct tg_error *err);

// tg_row_parse is tg_row_load for `len` bytes of text; `file` is the name for errors.
struct tg_row_file *tg_row_parse(const char *file, const char *text, size_t len, struct tg_error *err);

// tg_row_free releases a row. NULL is ignored.
void tg_row_free(struct tg_row_file *row);

// tg_row_decode reads the key "source" (required) and "metrics" of `place` into `out`, whose texts borrow the JSON and
// whose values are the caller's to free().
bool tg_row_decode(struct tg_row *out, struct tg_json_place *place);

#endif

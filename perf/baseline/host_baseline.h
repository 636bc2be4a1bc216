// The recorded baseline of one host: baselines/hosts/<label>.json. docs/baselines.md describes the file.
//
// It is written by `./tlsgate record` and never edited. Comparison (compare.h) and recording (record.h) read it with
// this one decoder.
#ifndef TLSGATE_PERF_BASELINE_HOST_BASELINE_H
#define TLSGATE_PERF_BASELINE_HOST_BASELINE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/baseline/trust_limits.h"
#include "perf/manifest/manifest.h"
#include "perf/report/report.h"

// The version of the file ("schema").
#define TG_HOST_BASELINE_SCHEMA 1

// The most runs that one baseline is the median of.
#define TG_RECORDED_RUNS_MAX 64

// The greatest allowance that a file may hold: eleven times worse than recorded is no baseline any more.
#define TG_ALLOWANCE_MAX 10.0

// Texts are borrowed: from the decoded file, or from whoever fills one in to be encoded.
struct tg_baseline_row {
  const char *name;  // of a metric
  bool disabled;     // "median": null. The bound is deliberately disabled: the row is not compared
  double median;     // above 0, in the metric's unit; 0 if disabled
  double allowance;  // 0.05: 5 % worse passes; TG_ALLOWANCE_DEFAULT if the file has none
  const char *note;  // why it is disabled, or whatever else; NULL if unsaid. Required of a disabled row
};

struct tg_host_baseline {
  const char *about;
  const char *label;     // the file's name without .json
  const char *recorded;  // UTC date
  enum tg_profile profile;
  struct tg_environment environment;  // of the newest of the runs; commit and machine included
  size_t runs;                        // that the medians were taken over; 1 in an older file that does not say
  const char *run_ids[TG_RECORDED_RUNS_MAX];
  size_t num_run_ids;             // 0 in an older file, else `runs`
  struct tg_trust_limits trust;   // the defaults where the file names none
  const json_t *trust_overrides;  // what the file names, to be carried along; NULL if nothing
  const char *notes;              // NULL if there are none
  struct tg_baseline_row rows[TG_GATES_MAX];
  size_t num_rows;
  json_t *root;  // what a decoded file's texts belong to; NULL of one that was filled in
};

// tg_label_check says whether `label` can name a host: [a-z0-9][a-z0-9._-]*, at most 64 characters.
bool tg_label_check(const char *label, struct tg_error *err);

// tg_host_baseline_load decodes `file`. Returns a baseline to be released with tg_host_baseline_free, or NULL with
// `err` filled in: file, place, what is wrong and the remedy.
struct tg_host_baseline *tg_host_baseline_load(const char *file, struct tg_error *err);

// tg_host_baseline_parse is tg_host_baseline_load for `len` bytes of text; `file` is the name for errors.
struct tg_host_baseline *tg_host_baseline_parse(const char *file, const char *text, size_t len, struct tg_error *err);

// tg_host_baseline_free releases a baseline that one of the two above returned. NULL is ignored.
void tg_host_baseline_free(struct tg_host_baseline *baseline);

// tg_host_baseline_encode returns a new JSON value that decodes to the same baseline; NULL when out of memory. Rows
// that are allowed more than TG_ALLOWANCE_WIDE are listed in it as "wide_allowances".
json_t *tg_host_baseline_encode(const struct tg_host_baseline *baseline);

// tg_host_baseline_row returns the row of that metric, or NULL.
const struct tg_baseline_row *tg_host_baseline_row(const struct tg_host_baseline *baseline, const char *name);

// tg_baseline_covers says whether a baseline must have a row for the gate. All metrics that a timed run yields have
// one, those that are only recorded included, but for fractions: theirs are 0 on a healthy server, to which nothing has
// a ratio, and their own exact limits judge them.
bool tg_baseline_covers(const struct tg_gate *gate);

// tg_machine_difference returns the name of the first field in which two machines differ (host, architecture,
// cpu_model, cpus), or NULL if it is the same machine. Two unknown CPU models differ.
const char *tg_machine_difference(const struct tg_environment *a, const struct tg_environment *b);

#endif

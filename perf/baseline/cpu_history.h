// What CI runners of one CPU model have measured: baselines/history/<cpu-model>.json. docs/baselines.md describes the
// file.
//
// Only `./tlsgate history update` writes it, after a run was judged. The row of a run that passed joins the medians; a
// run that failed or was undecided is kept apart, with the label that says so.
#ifndef TLSGATE_PERF_BASELINE_CPU_HISTORY_H
#define TLSGATE_PERF_BASELINE_CPU_HISTORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/manifest/manifest.h"
#include "perf/report/report.h"

// The version of the file ("schema").
#define TG_CPU_HISTORY_SCHEMA 1

#define TG_HISTORY_MIN 5   // passing rows before anything is judged
#define TG_HISTORY_MAX 40  // rows of each kind that are kept, the newest

// How many times worse than the median passes where the file names no factor. Runners of one CPU model differ in clock,
// kernel and neighbours; 1.5 is what a gate calls healthy (perf/stats/sequential.h), and a loss beyond it that the
// bounds miss is worth a red run.
#define TG_HISTORY_FACTOR 1.5

// What a factor may be.
#define TG_HISTORY_FACTOR_MIN 1.01
#define TG_HISTORY_FACTOR_MAX 10.0

struct tg_history_value {
  const char *name;  // of a metric
  double value;      // above 0
};

// One run.
struct tg_history_row {
  const char *id;
  const char *date;      // UTC, when the run started
  const char *revision;  // commit
  const char
      *label;  // of a run that is kept apart: fail, undecided, unenforced, unreadable or error; NULL if it passed
  struct tg_history_value *values;  // none of an error
  size_t num_values;
};

struct tg_cpu_history {
  const char *about;
  const char *cpu_model;
  enum tg_profile profile;
  double factor;                     // TG_HISTORY_FACTOR where the file names none
  struct tg_history_value *factors;  // of single metrics, in place of `factor`
  size_t num_factors;
  struct tg_history_row rows[TG_HISTORY_MAX];  // passed; oldest first
  size_t num_rows;
  struct tg_history_row apart[TG_HISTORY_MAX];  // kept apart; oldest first
  size_t num_apart;
  const char *notes;  // NULL if there are none
  json_t *root;       // what the texts belong to
};

// tg_cpu_history_file writes the name of the file of a CPU model to `out`: its letters and digits in lower case, and
// one
// '-' for whatever is between them, so "Intel(R) Xeon(R) CPU @ 2.60GHz" is intel-r-xeon-r-cpu-2-60ghz.json.
void tg_cpu_history_file(char *out, size_t size, const char *cpu_model);

// tg_cpu_history_load decodes `file`. Returns a history to be released with tg_cpu_history_free, or NULL with `err`.
struct tg_cpu_history *tg_cpu_history_load(const char *file, struct tg_error *err);

// tg_cpu_history_parse is tg_cpu_history_load for `len` bytes of text; `file` is the name for errors.
struct tg_cpu_history *tg_cpu_history_parse(const char *file, const char *text, size_t len, struct tg_error *err);

// tg_cpu_history_find loads the history of a CPU model from `folder`. Returns NULL with an empty text in `err` if there
// is none yet, and with an error if the file cannot be decoded or is another model's.
struct tg_cpu_history *tg_cpu_history_find(const char *folder, const char *cpu_model, struct tg_error *err);

// tg_cpu_history_free releases a history. NULL is ignored.
void tg_cpu_history_free(struct tg_cpu_history *history);

// tg_cpu_history_encode returns a new JSON value that decodes to the same history; NULL when out of memory.
json_t *tg_cpu_history_encode(const struct tg_cpu_history *history);

// tg_cpu_history_factor returns the factor in force for a metric.
double tg_cpu_history_factor(const struct tg_cpu_history *history, const char *metric);

#endif

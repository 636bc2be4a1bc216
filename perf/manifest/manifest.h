// The gates manifest: what is measured, what is allowed, and why. docs/gates.md describes the file.
//
// A manifest is decoded strictly and checked as a whole (names are unique, references lead somewhere, every bound has a
// reason), so that whoever uses one of these structs need not check again.
#ifndef TLSGATE_PERF_MANIFEST_MANIFEST_H
#define TLSGATE_PERF_MANIFEST_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"

// The version of the file that this build reads ("schema").
#define TG_MANIFEST_SCHEMA 1

#define TG_GATES_MAX 128  // gates of one manifest
#define TG_SETS_MAX  16   // named sets of bounds, and rows, of one manifest

// What a bound rests on, from firm to soft.
enum tg_gate_kind {
  TG_KIND_EXACT,     // a count that is the same in every run: each round must be within the bound
  TG_KIND_COUNTED,   // instructions counted by a tool: judged like an exact count
  TG_KIND_PHYSICS,   // follows from a timer or a protocol rule: holds on any hardware
  TG_KIND_RELATIVE,  // a ratio within one run: the machine's speed cancels
  TG_KIND_ABSOLUTE,  // a figure that depends on the machine: a backstop
};

enum tg_direction { TG_AT_MOST, TG_AT_LEAST };

enum tg_judged_by {
  TG_JUDGED_SEQUENTIAL,   // the sequential rule of perf/stats/sequential.h
  TG_JUDGED_FRACTION,     // exact limits of a proportion; samples are counts (tg_samples_add_count)
  TG_JUDGED_FIRM,         // always by the firm metric: the value is shown beside its verdict
  TG_JUDGED_EVERY_ROUND,  // plain comparison of every round: kinds exact and counted
};

struct tg_gate {
  const char *name;      // of the metric: [a-z][a-z0-9_]*, at most 48 characters, unique
  const char *unit;      // for people
  const char *workload;  // that yields the samples; NULL in a replay manifest that names none
  enum tg_gate_kind kind;
  enum tg_direction direction;
  enum tg_judged_by judged_by;
  // Exactly one of these four holds: recorded_only is set; disabled; a fixed bound > 0 (>= 0 if judged every round);
  // a bound relative to another metric. A gate that is judged by its firm metric has none of the four.
  const char *recorded_only;  // why the metric is not gated; NULL if it is
  bool disabled;              // "bound": null
  double bound;
  const char *relative_to;  // the bound of a round is `factor` times this metric's value in that round; else NULL
  double factor;            // > 0
  const char *why;          // where the bound comes from; NULL only if recorded_only or judged by the firm metric
  const char *firm;         // the gate that decides when the load client was the limit; NULL if none
  const char *fault;        // the planted fault that must fail the gate; NULL if not gated, or in a replay manifest
  bool stall_sensitive;     // says nothing on a host that hides the stall
  bool interval;            // a decision also needs the 90 % interval (5 % each side) on its own side of the bound
  uint64_t min_trials;      // judged by fraction: no pass before so many
  size_t min_rounds;        // 0: that of the rule
};

// A metric's value in a row.
struct tg_row_value {
  const char *name;
  double value;
};

// One row of metrics: one value each.
struct tg_row {
  const char *name;    // NULL if it is a file of its own
  const char *source;  // where it comes from; NULL if unsaid
  struct tg_row_value *values;
  size_t num_values;
};

enum tg_purpose {
  TG_PURPOSE_RUN,     // for measuring: every gate names its workload and its fault
  TG_PURPOSE_REPLAY,  // for judging rows that were measured elsewhere; may hold such rows and sets of bounds
};

struct tg_manifest {
  const char *file;  // as given to tg_manifest_load
  const char *about;
  enum tg_purpose purpose;
  struct tg_gate *gates;
  size_t num_gates;
  struct tg_row *rows;
  size_t num_rows;
  void *impl;  // private
};

// tg_manifest_load decodes `file`. Returns a manifest to be released with tg_manifest_free, or NULL with `err`
// filled in: file, place (such as gates[3].bound, or line and column for a syntax error), what is wrong and the remedy.
struct tg_manifest *tg_manifest_load(const char *file, struct tg_error *err);

// tg_manifest_parse is tg_manifest_load for `len` bytes of text; `file` is the name for errors.
struct tg_manifest *tg_manifest_parse(const char *file, const char *text, size_t len, struct tg_error *err);

// tg_manifest_free releases a manifest and everything in it. NULL is ignored.
void tg_manifest_free(struct tg_manifest *manifest);

// tg_manifest_gate returns the gate of that name, or NULL.
const struct tg_gate *tg_manifest_gate(const struct tg_manifest *manifest, const char *name);

// tg_manifest_use_set replaces the bounds that the named set has. Returns false with `err` naming the sets there
// are if there is none of that name.
bool tg_manifest_use_set(struct tg_manifest *manifest, const char *set, struct tg_error *err);

// tg_manifest_row returns the row of that name, or NULL.
const struct tg_row *tg_manifest_row(const struct tg_manifest *manifest, const char *name);

// tg_gate_is_gated says whether the gate can fail a run: it is neither recorded only nor disabled.
bool tg_gate_is_gated(const struct tg_gate *gate);

// Names of the enumerators, as in the file.
const char *tg_gate_kind_name(enum tg_gate_kind kind);
const char *tg_direction_sign(enum tg_direction direction);  // "<=" or ">="

#endif

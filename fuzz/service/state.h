// What fuzzd knows of its work so far: DIR/state.json. docs/fuzzing.md says what a person does with it.
#ifndef TLSGATE_FUZZ_SERVICE_STATE_H
#define TLSGATE_FUZZ_SERVICE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/launcher/targets.h"
#include "harness/base/error.h"

// The version of the file ("schema").
#define TG_FUZZD_STATE_SCHEMA 1

#define TG_FUZZD_TARGETS_MAX 32
#define TG_FUZZD_HISTORY_MAX 256  // points of a target; when there are more, every other one goes

enum tg_fuzzd_engine { TG_FUZZD_LIBFUZZER, TG_FUZZD_AFL, TG_FUZZD_ENGINES };

// One engine on one target: what time is shared out to. "In a row" counts up to now.
struct tg_fuzzd_arm {
  double cpu_s;          // user and system time of all its slices
  uint64_t begun;        // slices, those included that were killed
  uint64_t slices;       // that came to an end
  uint64_t executions;   // of the target
  uint64_t edges;        // the most that it has covered; each engine counts its own
  uint64_t new_edges;    // that it was the first to cover, as libFuzzer counts: its yield
  uint64_t findings;     // slices that ended with one
  double recent_cpu_s;   // cpu_s and new_edges once more, where what is older counts less
  double recent_edges;   //
  double credit_s;       // CPU time that it is owed; below 0: that it has had in advance
  double idle_cpu_s;     // cpu_s since either engine covered a new edge of the target
  uint64_t failures;     // slices in a row in which the engine ran nothing
  uint64_t early;        // slices in a row that a finding ended in their first tenth
  double rest_until_s;   // time(2) before which it is not run again, after failures
  char last_error[256];  // why it ran nothing the last time; empty: it ran
};

struct tg_fuzzd_point {
  double cpu_s;    // of the target, both engines
  uint64_t edges;  // libFuzzer's
};

struct tg_fuzzd_target_state {
  char name[64];
  struct tg_fuzzd_arm arms[TG_FUZZD_ENGINES];
  double pruned_at_s;     // time(2) of the last prune of its corpus; of its first slice if there was none
  uint64_t pruned_units;  // that the corpus had after it
  uint64_t duplicates;    // inputs that showed what an earlier candidate shows
  uint64_t unreproduced;  // inputs of engines that replayed without a finding
  struct tg_fuzzd_point history[TG_FUZZD_HISTORY_MAX];
  size_t num_history;
};

struct tg_fuzzd_state {
  double begun_at_s;  // time(2) of the first start
  double up_s;        // that fuzzd has run in all
  uint64_t starts;
  struct tg_fuzzd_target_state targets[TG_FUZZD_TARGETS_MAX];
  size_t num_targets;
};

// tg_fuzzd_state_load decodes DIR/state.json strictly: keys, types, ranges, and a target only once. A file that does
// not exist gives an empty state. Returns false with `err` filled in: file, place, what is expected, and what to do.
bool tg_fuzzd_state_load(const char *path, struct tg_fuzzd_state *out, struct tg_error *err);

// tg_fuzzd_state_save writes the file durably (durable.h).
bool tg_fuzzd_state_save(const char *path, const struct tg_fuzzd_state *state, struct tg_error *err);

// tg_fuzzd_state_target returns the state of a target, which is added if it is not there; NULL if there are too many.
struct tg_fuzzd_target_state *tg_fuzzd_state_target(struct tg_fuzzd_state *state, const char *name);

// tg_fuzzd_target_cpu_s returns what both engines have used.
double tg_fuzzd_target_cpu_s(const struct tg_fuzzd_target_state *target);

// tg_fuzzd_state_mark adds the target's coverage of now to its history.
void tg_fuzzd_state_mark(struct tg_fuzzd_target_state *target);

extern const char *const tg_fuzzd_engine_names[TG_FUZZD_ENGINES];

#endif

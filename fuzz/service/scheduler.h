// Who fuzzes next: time is shared out by yield.
//
// What is shared out to is an arm, one engine on one target. Its yield is the new edges that it covered for each CPU
// second, where what is older counts less. Of all CPU time a part, TG_FUZZD_FLOOR, goes to all arms alike, so that none
// starves; the rest goes to them by yield, or alike if none has any. Every slice credits each arm with its share of the
// CPU time that the slice used, and charges the arm that ran; the one that is owed most is next. An arm that has not
// run yet comes before all others.
#ifndef TLSGATE_FUZZ_SERVICE_SCHEDULER_H
#define TLSGATE_FUZZ_SERVICE_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/service/state.h"

// The part of all CPU time that is shared alike.
#define TG_FUZZD_FLOOR 0.3

// How much an arm's earlier slices still count after one more.
#define TG_FUZZD_DECAY 0.8

// The longest rest after slices that ran nothing, in seconds; the first rest is TG_FUZZD_REST_S, each further one twice
// the last.
#define TG_FUZZD_REST_S     30.0
#define TG_FUZZD_REST_MAX_S 3600.0

// Which arms there are to choose from.
struct tg_fuzzd_choice {
  bool engines[TG_FUZZD_ENGINES];      // that are used at all
  bool targets[TG_FUZZD_TARGETS_MAX];  // as in the state: those that are fuzzed
  bool busy[TG_FUZZD_TARGETS_MAX];     // those that somebody works on now: only one does at a time
};

// tg_fuzzd_pick chooses among arms that are neither busy nor resting at `now_s`. Returns false if there is none.
bool tg_fuzzd_pick(const struct tg_fuzzd_state *state, const struct tg_fuzzd_choice *choice, double now_s,
                   size_t *target, enum tg_fuzzd_engine *engine);

// tg_fuzzd_charge charges an arm for a slice of `seconds` that begins. The state is to be saved then: if fuzzd is
// killed before it can account the slice, the arm has had its turn all the same, and others come next.
void tg_fuzzd_charge(struct tg_fuzzd_state *state, size_t target, enum tg_fuzzd_engine engine, double seconds);

// What came of a slice.
struct tg_fuzzd_slice_result {
  bool ran;      // the engine executed something
  bool finding;  // and it ended with one
  bool early;    // which came in its first tenth
  double cpu_s;
  uint64_t executions;
  uint64_t edges_before;  // libFuzzer's, once it has read the corpus; 0: not known
  uint64_t edges;
  uint64_t new_edges;
  char error[256];  // if it ran nothing
};

// tg_fuzzd_account adds a slice to the state of its arm, which was charged `charged_s` for it, and credits all arms of
// `choice`.
void tg_fuzzd_account(struct tg_fuzzd_state *state, const struct tg_fuzzd_choice *choice, size_t target,
                      enum tg_fuzzd_engine engine, double charged_s, const struct tg_fuzzd_slice_result *result,
                      double now_s);

// tg_fuzzd_share returns the part of all CPU time, 0 to 1, that an arm is to have.
double tg_fuzzd_share(const struct tg_fuzzd_state *state, const struct tg_fuzzd_choice *choice, size_t target,
                      enum tg_fuzzd_engine engine);

#endif

// From an input that an engine left to a candidate: replayed, told apart, made small, explained and filed.
//
// All of it can be killed at any moment and done again: an input leaves DIR/incoming only once what came of it is on
// disk.
#ifndef TLSGATE_FUZZ_SERVICE_TRIAGE_H
#define TLSGATE_FUZZ_SERVICE_TRIAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/launcher/targets.h"
#include "harness/base/error.h"

// How many inputs of one bug are kept beside its candidate.
#define TG_TRIAGE_DUPLICATES_MAX 4

// How often an input is replayed before it counts as unreproduced.
#define TG_TRIAGE_REPLAYS 3

struct tg_triage_result {
  uint64_t candidates;
  uint64_t duplicates;
  uint64_t unreproduced;
};

// tg_triage works through DIR/incoming of one target, at most `max` inputs, with its own files in the folder `work`,
// which is the caller's to remove; minimising one takes at most `minimise_s`. Returns false with `err` filled in when
// it could not; inputs that were not done stay.
bool tg_triage(const char *root, const struct tg_fuzz_target *target, const char *work, double minimise_s, unsigned max,
               struct tg_triage_result *out, struct tg_error *err);

// tg_triage_waits says whether a target has inputs in DIR/incoming.
bool tg_triage_waits(const char *root, const char *target);

#endif

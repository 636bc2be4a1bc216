// Corpora are made small: what covers nothing that others do not cover goes.
#ifndef TLSGATE_FUZZ_SERVICE_PRUNE_H
#define TLSGATE_FUZZ_SERVICE_PRUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/launcher/targets.h"
#include "fuzz/service/state.h"
#include "harness/base/error.h"

// A corpus is pruned early when it has this many times what the last prune left, and so many entries more.
#define TG_PRUNE_GROWTH      2
#define TG_PRUNE_GROWTH_MORE 1000

// tg_fuzzd_prune has libFuzzer merge the corpus into a new folder in `work`, beside the target's seeds, and renames
// that into place. An entry that turns out to be a finding goes into DIR/incoming. *units is what the corpus has then.
// Returns false with `err` filled in, and the corpus as it was.
bool tg_fuzzd_prune(const char *root, const struct tg_fuzz_target *target, const char *work, uint64_t *units,
                    struct tg_error *err);

// tg_fuzzd_prune_due says whether a corpus of `units` entries is to be pruned at `now_s`, time(2).
bool tg_fuzzd_prune_due(const struct tg_fuzzd_target_state *target, uint64_t units, double now_s, double every_s);

#endif

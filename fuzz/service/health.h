// Whether a target is fuzzed as it should be.
#ifndef TLSGATE_FUZZ_SERVICE_HEALTH_H
#define TLSGATE_FUZZ_SERVICE_HEALTH_H

#include <stdbool.h>

#include "fuzz/service/state.h"

// Slices in a row that ran nothing, or that a finding ended at their start, until a target counts as stopped.
#define TG_HEALTH_SLICES 3

// CPU time without a new edge until a target counts as one that finds nothing more. Days without one are the rule for
// small targets and no fault; it says that seeds, mutators or the target itself could do with a look.
#define TG_HEALTH_IDLE_CPU_S (6 * 3600.0)

enum tg_health {
  TG_HEALTH_GOOD,
  TG_HEALTH_WAITS,    // has not run yet
  TG_HEALTH_IDLE,     // stopped finding
  TG_HEALTH_LOOPS,    // findings end its slices at their start
  TG_HEALTH_STOPPED,  // an engine runs nothing
};

// tg_health_judge returns the worst that holds for the engines that are used, and writes it in words to `text`.
enum tg_health tg_health_judge(const struct tg_fuzzd_target_state *target, const bool engines[TG_FUZZD_ENGINES],
                               char *text, unsigned size);

// tg_health_word returns "good", "waits", "idle", "loops" or "stopped".
const char *tg_health_word(enum tg_health health);

#endif

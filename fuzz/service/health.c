#include "fuzz/service/health.h"

#include <inttypes.h>
#include <stdio.h>

const char *tg_health_word(enum tg_health health) {
  static const char *const kWords[] = {"good", "waits", "idle", "loops", "stopped"};
  return kWords[health];
}

enum tg_health tg_health_judge(const struct tg_fuzzd_target_state *target, const bool engines[TG_FUZZD_ENGINES],
                               char *text, unsigned size) {
  double idle_s = 0;
  uint64_t slices = 0;
  enum tg_health worst = TG_HEALTH_GOOD;
  (void)snprintf(text, size, "runs, and covers new edges");
  for (int e = 0; e < TG_FUZZD_ENGINES; e++) {
    const struct tg_fuzzd_arm *arm = &target->arms[e];
    if (!engines[e]) {
      continue;
    }
    idle_s += arm->idle_cpu_s;
    slices += arm->slices;
    if (arm->failures >= TG_HEALTH_SLICES && worst < TG_HEALTH_STOPPED) {
      worst = TG_HEALTH_STOPPED;
      (void)snprintf(text, size, "stopped running: %s ran nothing in its last %" PRIu64 " slices: %s",
                     tg_fuzzd_engine_names[e], arm->failures, arm->last_error);
    } else if (arm->early >= TG_HEALTH_SLICES && worst < TG_HEALTH_LOOPS) {
      worst = TG_HEALTH_LOOPS;
      (void)snprintf(text, size,
                     "crash loop: a finding ended the last %" PRIu64
                     " slices of %s at their start; little else is run "
                     "until it is fixed",
                     arm->early, tg_fuzzd_engine_names[e]);
    }
  }
  if (worst == TG_HEALTH_GOOD && slices == 0) {
    worst = TG_HEALTH_WAITS;
    (void)snprintf(text, size, "waits for its first slice");
  } else if (worst == TG_HEALTH_GOOD && idle_s >= TG_HEALTH_IDLE_CPU_S) {
    worst = TG_HEALTH_IDLE;
    (void)snprintf(text, size, "stopped finding: no new edge for %.1f CPU hours", idle_s / 3600);
  }
  return worst;
}

// Schedules on a server that is always short of something: descriptors, or memory at one allocation. Whatever happens,
// nothing spins, nothing leaks, and whoever comes when it is over is served (P10).
#include "fuzz/base/target.h"
#include "fuzz/schedule/schedule.h"
#include "fuzz/world/world.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  tg_world_init();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct tg_world_options kOptions = {0};
  struct tg_schedule schedule;
  struct tg_world_outcome outcome;
  tg_schedule_decode(data, size, &schedule);
  // Fewer descriptors than clients, unless the schedule says how many.
  if (schedule.settings.max_fds == 0) {
    schedule.settings.max_fds = 2;
  }
  tg_world_run(&schedule, &kOptions, &outcome);
  return 0;
}

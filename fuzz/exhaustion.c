// Schedules on a server that is always short of something: descriptors, or memory at one allocation. Whatever happens,
// nothing spins, nothing leaks, and whoever comes when it is over is served (P10).
#include "fuzz/base/target.h"
#include "fuzz/base/thrift.h"
#include "fuzz/schedule/schedule.h"
#include "fuzz/world/world.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  tg_world_init();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct tg_schedule schedule;
  struct tg_world_outcome outcome;
  tg_schedule_decode(data, size, &schedule);
  // Fewer descriptors than clients, unless the schedule says how many.
  if (schedule.settings.max_fds == 0) {
    schedule.settings.max_fds = 2;
  }
  // What a schedule begins with makes calls fail while the server is made.
  size_t num_first = 0;
  while (num_first < schedule.num_steps && schedule.steps[num_first].action == TG_SCHEDULE_INJECT) {
    num_first++;
  }
  const struct tg_world_options options = {.first = schedule.steps,
                                           .num_first = num_first,
                                           .thrifty = tg_fuzz_thrifty(),
                                           .own_tls = tg_fuzz_all_sides(data, size)};
  tg_world_run(&schedule, &options, &outcome);
  return 0;
}

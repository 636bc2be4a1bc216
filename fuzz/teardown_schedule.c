// Schedules that begin with clients in OPEN: drain, half-close, reset, peers that never read, winding down with
// requests in flight.
#include "fuzz/base/target.h"
#include "fuzz/schedule_target.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  tg_world_init();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct tg_world_options kOptions = {.open_clients = 2};
  tg_schedule_target_run(data, size, &kOptions);
  return 0;
}

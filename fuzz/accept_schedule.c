// Every phase and every quickack re-arm under cuts, delays and errors, with several real TLS clients at once: P1 to
// P11.
#include "fuzz/base/target.h"
#include "fuzz/schedule_target.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  tg_world_init();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct tg_world_options kOptions = {0};
  tg_schedule_target_run(data, size, &kOptions);
  return 0;
}

// Bytes after the handshake: HTTP parsing, pipelining, bodies, limits, through the whole server.
#include "fuzz/base/target.h"
#include "fuzz/byte_target.h"
#include "fuzz/world/world.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  tg_world_init();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tg_byte_target_run(data, size, false);
  return 0;
}

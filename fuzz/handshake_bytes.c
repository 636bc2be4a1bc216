// Raw client bytes against the handshake state machine. BoringSSL is in fuzzer mode here: no ciphers, so that bytes a
// mutator made up get past the Finished.
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
  tg_byte_target_run(data, size, true);
  return 0;
}

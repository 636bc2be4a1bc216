#include "fuzz/byte_target.h"

#include "fuzz/base/thrift.h"
#include "fuzz/schedule/prefix.h"
#include "fuzz/world/world.h"

void tg_byte_target_run(const uint8_t *data, size_t size, bool raw) {
  const bool all_sides = tg_fuzz_all_sides(data, size);
  struct tg_world_options options = {.thrifty = tg_fuzz_thrifty(), .own_tls = all_sides};
  struct tg_byte_input input;
  struct tg_world_outcome outcome;
  tg_byte_input_decode(data, size, &input);
  tg_world_run_bytes(&input, raw, &options, &outcome);
  // A client that resets or closes may throw away what has come: what it got is a matter of time.
  const bool stays = input.end == TG_BYTE_INPUT_STAYS || input.end == TG_BYTE_INPUT_HALF_CLOSE;
  if (!all_sides || !outcome.comparable || !stays || input.settings.deadlines == 3) {
    return;
  }
  const uint16_t kOtherCut = 7;
  struct tg_byte_input other = input;
  other.cut = input.cut == 0 && input.payload_len <= 512 ? kOtherCut : 0;
  other.gap = 0;
  if (other.cut != input.cut) {
    struct tg_world_outcome again;
    options.own_tls = false;
    tg_world_run_bytes(&other, raw, &options, &again);
    tg_world_require_same(&outcome, &again);
  }
}

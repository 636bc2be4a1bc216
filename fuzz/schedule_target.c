#include "fuzz/schedule_target.h"

#include "fuzz/base/count.h"
#include "fuzz/base/thrift.h"
#include "fuzz/schedule/schedule.h"
#include "fuzz/world/canonical.h"

void tg_schedule_target_run(const uint8_t *data, size_t size, const struct tg_world_options *options) {
  struct tg_schedule schedule;
  struct tg_world_options with_thrift = *options;
  struct tg_world_outcome outcome;
  with_thrift.thrifty = tg_fuzz_thrifty();
  with_thrift.own_tls = tg_fuzz_all_sides(data, size);
  tg_schedule_decode(data, size, &schedule);
  tg_world_run(&schedule, &with_thrift, &outcome);

  struct tg_schedule retimed;
  const bool at_once = schedule.num_steps % 2 == 1;
  if (with_thrift.own_tls && outcome.comparable && tg_schedule_retime(&schedule, at_once, &retimed)) {
    struct tg_world_outcome again;
    with_thrift.own_tls = false;
    tg_world_run(&retimed, &with_thrift, &again);
    tg_world_require_same(&outcome, &again);
    outcome.handshakes += again.handshakes;
  }
  tg_fuzz_count_handshakes(outcome.handshakes);
}

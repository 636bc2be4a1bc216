// The inside of the accept path, looked at after every turn: phases go one way (P2), deadlines hold (P4), nothing that
// is there is left without being asked for (P3), counters add up (P9).
#ifndef TLSGATE_FUZZ_WORLD_WATCH_H
#define TLSGATE_FUZZ_WORLD_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "harness/accept/accept.h"
#include "harness/accept/conn.h"
#include "harness/accept/shard_state.h"
#include "harness/kernel/kernel.h"

struct tg_watched {
  const struct tg_conn *conn;
  enum tg_phase phase;
  uint64_t phase_ns;      // when it was first seen in this phase
  uint64_t milestone_ns;  // when it last got something whole done in it
  uint64_t milestone_sent;
  bool seen;
};

struct tg_watch {
  struct tg_kernel *kernel;
  struct tg_deadlines deadlines;
  uint64_t slack_ns;
  size_t num_conns;
  struct tg_watched conns[TG_KERNEL_PAIRS_MAX];
  uint64_t accepted;  // summed up over shards
  uint64_t plain_accepted;
};

void tg_watch_init(struct tg_watch *watch, struct tg_kernel *kernel, const struct tg_deadlines *deadlines);

// One look: begin, each shard, end.
void tg_watch_begin(struct tg_watch *watch);
void tg_watch_shard(struct tg_watch *watch, const struct tg_shard *shard);
void tg_watch_end(struct tg_watch *watch);

// tg_watch_rest: nothing is due any more but time-outs.
void tg_watch_rest(struct tg_watch *watch, const struct tg_shard *shard);

// tg_watch_phase_name returns "HANDSHAKE", ...
const char *tg_watch_phase_name(enum tg_phase phase);

#endif

// Where a shard shows its counters to other threads.
//
// The shard counts in plain integers and posts all of them at once, at every change of a connection's phase and at the
// end of every turn. So whoever looks sees counters that add up, and counting costs the shard no atomic operation.
#ifndef TLSGATE_HARNESS_ACCEPT_COUNTER_BOARD_H
#define TLSGATE_HARNESS_ACCEPT_COUNTER_BOARD_H

#include <stdint.h>

#include "harness/accept/counters.h"
#include "harness/accept/seqlock.h"

#define TG_COUNTER_WORDS (sizeof(struct tg_counters) / sizeof(uint64_t))

// All zeroes: every counter 0.
struct tg_counter_board {
  struct tg_seqlock lock;
  _Atomic uint64_t words[TG_COUNTER_WORDS];
};

// tg_counter_board_post shows `counters`. Only one thread, the shard's, posts.
void tg_counter_board_post(struct tg_counter_board *board, const struct tg_counters *counters);

// tg_counter_board_read copies what was posted last. Safe from any thread.
void tg_counter_board_read(const struct tg_counter_board *board, struct tg_counters *out);

#endif

#include "harness/accept/counters.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "harness/accept/counter_board.h"

void tg_counters_add(struct tg_counters *to, const struct tg_counters *from) {
#define TG_COUNTER_ADD(name, meaning) to->name += from->name;
  TG_COUNTERS(TG_COUNTER_ADD)
#undef TG_COUNTER_ADD
}

void tg_counter_board_post(struct tg_counter_board *board, const struct tg_counters *counters) {
  uint64_t words[TG_COUNTER_WORDS];
  memcpy(words, counters, sizeof(words));
  bool posted =
      tg_seqlock_try_store(&board->lock, tg_seqlock_sequence(&board->lock), board->words, words, TG_COUNTER_WORDS);
  assert(posted);
  (void)posted;
}

void tg_counter_board_read(const struct tg_counter_board *board, struct tg_counters *out) {
  uint64_t words[TG_COUNTER_WORDS];
  tg_seqlock_load(&board->lock, words, board->words, TG_COUNTER_WORDS);
  memcpy(out, words, sizeof(words));
}

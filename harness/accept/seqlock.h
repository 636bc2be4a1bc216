// A sequence lock: readers copy words without writing anything that other threads read, and try again if a writer was
// at work. There are no locks to hold and no reader can delay a writer.
//
// The words themselves are relaxed atomics; the fences are those of H. Boehm, "Can seqlocks get along with programming
// language memory models?" (MSPC 2012).
#ifndef TLSGATE_HARNESS_ACCEPT_SEQLOCK_H
#define TLSGATE_HARNESS_ACCEPT_SEQLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tg_seqlock {
  _Atomic uint64_t sequence;  // odd while a writer is at work
};

// tg_seqlock_load copies `num_words` words to `out`, all as one writer left them.
static inline void tg_seqlock_load(const struct tg_seqlock *lock, uint64_t *out, const _Atomic uint64_t *words,
                                   size_t num_words) {
  uint64_t before;
  uint64_t after;
  do {
    before = atomic_load_explicit(&lock->sequence, memory_order_acquire);
    for (size_t i = 0; i < num_words; i++) {
      out[i] = atomic_load_explicit(&words[i], memory_order_relaxed);
    }
    atomic_thread_fence(memory_order_acquire);
    after = atomic_load_explicit(&lock->sequence, memory_order_relaxed);
  } while ((before & 1) != 0 || before != after);
}

// tg_seqlock_sequence returns what tg_seqlock_try_store must be told: the state that the writer's words follow from.
static inline uint64_t tg_seqlock_sequence(const struct tg_seqlock *lock) {
  return atomic_load_explicit(&lock->sequence, memory_order_acquire);
}

// tg_seqlock_try_store replaces the words, unless another writer has stored since tg_seqlock_sequence returned
// `sequence` or is storing now: then it returns false and changes nothing.
static inline bool tg_seqlock_try_store(struct tg_seqlock *lock, uint64_t sequence, _Atomic uint64_t *words,
                                        const uint64_t *in, size_t num_words) {
  if ((sequence & 1) != 0 || !atomic_compare_exchange_strong_explicit(&lock->sequence, &sequence, sequence + 1,
                                                                      memory_order_acquire, memory_order_relaxed)) {
    return false;
  }
  atomic_thread_fence(memory_order_release);
  for (size_t i = 0; i < num_words; i++) {
    atomic_store_explicit(&words[i], in[i], memory_order_relaxed);
  }
  atomic_store_explicit(&lock->sequence, sequence + 2, memory_order_release);
  return true;
}

#endif

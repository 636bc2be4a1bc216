// Deadlines, one list per kind. Every deadline of a kind has the same length, so each list is in the order of expiry
// by construction: setting, cancelling and finding the next are O(1).
#ifndef TLSGATE_HARNESS_ACCEPT_DEADLINE_H
#define TLSGATE_HARNESS_ACCEPT_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/accept/list.h"

enum tg_deadline_kind {
  TG_DEADLINE_HANDSHAKE,
  TG_DEADLINE_REQUEST,
  TG_DEADLINE_IDLE,
  TG_DEADLINE_RESPONSE,
  TG_DEADLINE_DRAIN,
  TG_DEADLINE_KINDS,
};

// A deadline, embedded in what it ends. All zeroes: not set.
struct tg_deadline {
  struct tg_link link;
  uint64_t at_ns;
  enum tg_deadline_kind kind;  // meaningful while set
};

struct tg_deadline_lists {
  struct tg_link heads[TG_DEADLINE_KINDS];
  uint64_t length_ns[TG_DEADLINE_KINDS];
};

// TG_DEADLINE_NEVER is later than every deadline.
#define TG_DEADLINE_NEVER UINT64_MAX

// tg_deadline_lists_init makes empty lists. `length_ms` holds the length of each kind.
void tg_deadline_lists_init(struct tg_deadline_lists *lists, const uint32_t length_ms[TG_DEADLINE_KINDS]);

// tg_deadline_set makes `deadline` one of `kind`, counted from `now_ns`, which never decreases from call to call.
void tg_deadline_set(struct tg_deadline_lists *lists, struct tg_deadline *deadline, enum tg_deadline_kind kind,
                     uint64_t now_ns);

// tg_deadline_is says whether `deadline` is set and of `kind`.
bool tg_deadline_is(const struct tg_deadline *deadline, enum tg_deadline_kind kind);

// tg_deadline_cancel unsets the deadline, if it is set.
void tg_deadline_cancel(struct tg_deadline *deadline);

// tg_deadline_take_expired unsets and returns a deadline that has been reached at `now_ns`, or NULL if there is none.
struct tg_deadline *tg_deadline_take_expired(struct tg_deadline_lists *lists, uint64_t now_ns);

// tg_deadline_next returns the earliest deadline's time, or TG_DEADLINE_NEVER.
uint64_t tg_deadline_next(const struct tg_deadline_lists *lists);

#endif

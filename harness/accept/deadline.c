#include "harness/accept/deadline.h"

#include <assert.h>

#include "harness/accept/clock.h"

void tg_deadline_lists_init(struct tg_deadline_lists *lists, const uint32_t length_ms[TG_DEADLINE_KINDS]) {
  for (int kind = 0; kind < TG_DEADLINE_KINDS; kind++) {
    assert(length_ms[kind] > 0);
    tg_list_init(&lists->heads[kind]);
    lists->length_ns[kind] = length_ms[kind] * TG_NS_PER_MS;
  }
}

static struct tg_deadline *first(const struct tg_link *head) {
  return tg_list_empty(head) ? NULL : TG_CONTAINER(head->next, struct tg_deadline, link);
}

void tg_deadline_set(struct tg_deadline_lists *lists, struct tg_deadline *deadline, enum tg_deadline_kind kind,
                     uint64_t now_ns) {
  struct tg_link *head = &lists->heads[kind];
  tg_link_remove(&deadline->link);
  deadline->kind = kind;
  deadline->at_ns = now_ns + lists->length_ns[kind];
  assert(tg_list_empty(head) || TG_CONTAINER(head->prev, struct tg_deadline, link)->at_ns <= deadline->at_ns);
  tg_list_append(head, &deadline->link);
}

bool tg_deadline_is(const struct tg_deadline *deadline, enum tg_deadline_kind kind) {
  return tg_link_is_linked(&deadline->link) && deadline->kind == kind;
}

void tg_deadline_cancel(struct tg_deadline *deadline) {
  tg_link_remove(&deadline->link);
}

struct tg_deadline *tg_deadline_take_expired(struct tg_deadline_lists *lists, uint64_t now_ns) {
  for (int kind = 0; kind < TG_DEADLINE_KINDS; kind++) {
    struct tg_deadline *deadline = first(&lists->heads[kind]);
    if (deadline != NULL && deadline->at_ns <= now_ns) {
      tg_link_remove(&deadline->link);
      return deadline;
    }
  }
  return NULL;
}

uint64_t tg_deadline_next(const struct tg_deadline_lists *lists) {
  uint64_t next_ns = TG_DEADLINE_NEVER;
  for (int kind = 0; kind < TG_DEADLINE_KINDS; kind++) {
    const struct tg_deadline *deadline = first(&lists->heads[kind]);
    if (deadline != NULL && deadline->at_ns < next_ns) {
      next_ns = deadline->at_ns;
    }
  }
  return next_ns;
}

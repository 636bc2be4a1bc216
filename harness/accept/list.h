// An intrusive doubly linked list: every operation is O(1) and none can fail.
#ifndef TLSGATE_HARNESS_ACCEPT_LIST_H
#define TLSGATE_HARNESS_ACCEPT_LIST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

// A list head, or a member of at most one list. A member in no list has NULL pointers.
struct tg_link {
  struct tg_link *prev;
  struct tg_link *next;
};

// TG_CONTAINER returns the structure of type `type` whose field `field` is at `link`.
#define TG_CONTAINER(link, type, field) ((type *)(void *)((char *)(link)-offsetof(type, field)))

// tg_list_init makes `head` an empty list.
static inline void tg_list_init(struct tg_link *head) {
  head->prev = head;
  head->next = head;
}

// tg_list_empty says whether the list has no member.
static inline bool tg_list_empty(const struct tg_link *head) {
  return head->next == head;
}

// tg_link_is_linked says whether `link` is a member of a list.
static inline bool tg_link_is_linked(const struct tg_link *link) {
  return link->next != NULL;
}

// tg_list_append makes `link`, which is in no list, the last member.
static inline void tg_list_append(struct tg_link *head, struct tg_link *link) {
  assert(!tg_link_is_linked(link));
  link->prev = head->prev;
  link->next = head;
  head->prev->next = link;
  head->prev = link;
}

// tg_link_remove takes `link` out of its list, if it is in one.
static inline void tg_link_remove(struct tg_link *link) {
  if (!tg_link_is_linked(link)) {
    return;
  }
  link->prev->next = link->next;
  link->next->prev = link->prev;
  link->prev = NULL;
  link->next = NULL;
}

// tg_list_move_all appends the members of `from`, in their order, to the empty list `to`, and empties `from`.
static inline void tg_list_move_all(struct tg_link *to, struct tg_link *from) {
  assert(tg_list_empty(to));
  if (tg_list_empty(from)) {
    return;
  }
  *to = *from;
  to->next->prev = to;
  to->prev->next = to;
  tg_list_init(from);
}

#endif

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/kernel/tcp_state.h"

#define FIRST_CAPACITY 8u
#define RING_MAX       (1u << 20)  // a window of the largest size in segments of one byte

static void *item_at(const struct tg_tcp_ring *ring, size_t at) {
  return (char *)ring->items + (at & (ring->capacity - 1)) * ring->item_size;
}

static void grow(struct tg_tcp_ring *ring) {
  struct tg_tcp_ring larger = *ring;
  larger.capacity = ring->capacity > 0 ? 2 * ring->capacity : FIRST_CAPACITY;
  assert(larger.capacity <= RING_MAX);
  larger.items = malloc(larger.capacity * larger.item_size);
  if (larger.items == NULL) {
    fprintf(stderr, "tcp: no memory for %zu segments\n", larger.capacity);
    abort();
  }
  larger.head = 0;
  for (size_t at = 0; at < ring->len; at++) {
    memcpy(item_at(&larger, at), item_at(ring, ring->head + at), ring->item_size);
  }
  free(ring->items);
  *ring = larger;
}

void *tg_tcp_ring_push(struct tg_tcp_ring *ring) {
  if (ring->len == ring->capacity) {
    grow(ring);
  }
  return item_at(ring, ring->head + ring->len++);
}

void *tg_tcp_ring_front(const struct tg_tcp_ring *ring) {
  return ring->len > 0 ? item_at(ring, ring->head) : NULL;
}

void *tg_tcp_ring_back(const struct tg_tcp_ring *ring) {
  return ring->len > 0 ? item_at(ring, ring->head + ring->len - 1) : NULL;
}

void tg_tcp_ring_pop(struct tg_tcp_ring *ring) {
  assert(ring->len > 0);
  ring->head++;
  ring->len--;
}

static void post(struct tg_tcp *end, uint64_t at_ns, tg_sim_fn fn) {
  struct tg_sim *sim = end->pair->sim;
  end->pair->events++;
  // Behind its time when the driver let the clock jump: then it is due now.
  uint64_t when = at_ns > sim->now_ns ? at_ns : sim->now_ns;
  tg_sim_post(sim, TG_SIM_NETWORK, when, fn, end, at_ns);
}

static void timers_due(void *context, uint64_t posted_ns);

static void timer_post(struct tg_tcp *end, struct tg_tcp_timer *timer) {
  if (timer->deadline_ns < timer->posted_ns) {
    timer->posted_ns = timer->deadline_ns;
    post(end, timer->deadline_ns, timers_due);
  }
}

// Whether the deadline has come. An event that comes too early, because the deadline was moved, posts the next.
static bool timer_came(struct tg_tcp *end, struct tg_tcp_timer *timer, uint64_t posted_ns) {
  if (timer->posted_ns == posted_ns) {
    timer->posted_ns = TG_SIM_NEVER;
  }
  if (timer->deadline_ns <= end->pair->sim->now_ns) {
    timer->deadline_ns = TG_SIM_NEVER;
    return true;
  }
  timer_post(end, timer);
  return false;
}

static void timers_due(void *context, uint64_t posted_ns) {
  struct tg_tcp *end = context;
  end->pair->events--;
  if (timer_came(end, &end->delack_timer, posted_ns)) {
    tg_tcp_delack_timer_fired(end);
  }
  if (timer_came(end, &end->probe_timer, posted_ns)) {
    tg_tcp_probe_timer_fired(end);
  }
  if (timer_came(end, &end->loss_probe_timer, posted_ns)) {
    tg_tcp_loss_probe_timer_fired(end);
  }
}

void tg_tcp_timer_set(struct tg_tcp *end, struct tg_tcp_timer *timer, uint64_t deadline_ns) {
  timer->deadline_ns = deadline_ns;
  timer_post(end, timer);
}

void tg_tcp_timer_clear(struct tg_tcp_timer *timer) {
  timer->deadline_ns = TG_SIM_NEVER;
}

// One event a direction is posted, for the segment in front: a window full of small segments takes no more.
static void arrived(void *context, uint64_t at_ns) {
  struct tg_tcp *to = context;
  struct tg_tcp *from = tg_tcp_other(to);
  (void)at_ns;
  to->pair->events--;
  struct tg_tcp_segment segment = *(struct tg_tcp_segment *)tg_tcp_ring_front(&from->wire);
  tg_tcp_ring_pop(&from->wire);
  if (from->wire.len > 0) {
    post(to, ((struct tg_tcp_segment *)tg_tcp_ring_front(&from->wire))->at_ns, arrived);
  }
  tg_tcp_segment_arrived(to, &segment);
}

static bool is_ack_of_call(const struct tg_tcp_segment *segment) {
  return segment->len == 0 && segment->flags == TG_SEG_CALL;
}

void tg_tcp_link_send(struct tg_tcp *end, const struct tg_tcp_segment *segment) {
  uint64_t at_ns = end->pair->sim->now_ns + end->pair->delay_ns;
  if (at_ns < end->last_arrival_ns) {
    at_ns = end->last_arrival_ns;
  }
  end->last_arrival_ns = at_ns;
  // tcp_add_backlog: ACKs that come together while the call that they answer still holds the socket become one.
  struct tg_tcp_segment *last = tg_tcp_ring_back(&end->wire);
  if (last != NULL && last->at_ns == at_ns && is_ack_of_call(last) && is_ack_of_call(segment)) {
    *last = *segment;
    last->at_ns = at_ns;
    return;
  }
  struct tg_tcp_segment *slot = tg_tcp_ring_push(&end->wire);
  *slot = *segment;
  slot->at_ns = at_ns;
  if (end->wire.len == 1) {
    post(tg_tcp_other(end), slot->at_ns, arrived);
  }
}

const char *tg_tcp_name(const struct tg_tcp *end) {
  return end->side == TG_TCP_SERVER ? "server" : "client";
}

void tg_tcp_tell(struct tg_tcp *end, unsigned changes) {
  if (end->notify != NULL && changes != 0) {
    end->notify(end->notify_context, end, changes);
  }
}

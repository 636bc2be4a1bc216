#include "harness/kernel/sim.h"

#include <assert.h>

// An order that is total: two events at the same time run as they were posted.
static bool before(const struct tg_sim_event *a, const struct tg_sim_event *b) {
  return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void push(struct tg_sim_queue *queue, struct tg_sim_event event) {
  assert(queue->len < TG_SIM_EVENTS_MAX);
  size_t at = queue->len++;
  while (at > 0) {
    size_t parent = (at - 1) / 2;
    if (!before(&event, &queue->heap[parent])) {
      break;
    }
    queue->heap[at] = queue->heap[parent];
    at = parent;
  }
  queue->heap[at] = event;
}

static struct tg_sim_event pop(struct tg_sim_queue *queue) {
  assert(queue->len > 0);
  struct tg_sim_event first = queue->heap[0];
  struct tg_sim_event last = queue->heap[--queue->len];
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= queue->len) {
      break;
    }
    if (child + 1 < queue->len && before(&queue->heap[child + 1], &queue->heap[child])) {
      child++;
    }
    if (!before(&queue->heap[child], &last)) {
      break;
    }
    queue->heap[at] = queue->heap[child];
    at = child;
  }
  queue->heap[at] = last;
  return first;
}

void tg_sim_init(struct tg_sim *sim, uint64_t now_ns) {
  // Not the heaps: they are large, and nothing reads past `len`.
  sim->now_ns = now_ns;
  sim->posted = 0;
  for (int kind = 0; kind < TG_SIM_KINDS; kind++) {
    sim->queue[kind].len = 0;
  }
}

void tg_sim_post(struct tg_sim *sim, enum tg_sim_kind kind, uint64_t at_ns, tg_sim_fn fn, void *context,
                 uint64_t value) {
  assert(at_ns >= sim->now_ns);
  assert(at_ns != TG_SIM_NEVER);
  struct tg_sim_event event = {at_ns, sim->posted++, fn, context, value};
  push(&sim->queue[kind], event);
}

static uint64_t next_of(const struct tg_sim_queue *queue) {
  return queue->len > 0 ? queue->heap[0].at_ns : TG_SIM_NEVER;
}

uint64_t tg_sim_next_ns(const struct tg_sim *sim) {
  uint64_t network = next_of(&sim->queue[TG_SIM_NETWORK]);
  uint64_t driver = next_of(&sim->queue[TG_SIM_DRIVER]);
  return network < driver ? network : driver;
}

void tg_sim_run_due(struct tg_sim *sim, enum tg_sim_kind kind) {
  while (next_of(&sim->queue[kind]) <= sim->now_ns) {
    struct tg_sim_event event = pop(&sim->queue[kind]);
    event.fn(event.context, event.value);
  }
}

void tg_sim_pass_to(struct tg_sim *sim, uint64_t at_ns) {
  assert(at_ns >= sim->now_ns);
  assert(at_ns != TG_SIM_NEVER);
  for (;;) {
    uint64_t next = next_of(&sim->queue[TG_SIM_NETWORK]);
    if (next > at_ns) {
      break;
    }
    if (next > sim->now_ns) {  // an event may be late: the driver was slow to let the clock pass
      sim->now_ns = next;
    }
    struct tg_sim_event event = pop(&sim->queue[TG_SIM_NETWORK]);
    event.fn(event.context, event.value);
  }
  if (sim->now_ns < at_ns) {
    sim->now_ns = at_ns;
  }
}

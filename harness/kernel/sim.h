// The simulator's base: a virtual clock and a queue of events. Nothing else decides what happens next.
//
// Two kinds of event, because the code under test and the driver share a thread and with it BoringSSL's error queue:
// network events (deliveries, timers) may run inside a modelled system call, driver events (what a simulated client
// does) only between two turns of the code under test. Events of one kind run in order of time, then of posting.
#ifndef TLSGATE_HARNESS_KERNEL_SIM_H
#define TLSGATE_HARNESS_KERNEL_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TG_SIM_NEVER      UINT64_MAX
#define TG_SIM_EVENTS_MAX 4096u  // posted at once, of each kind; more is a driver's bug and aborts

#define TG_SIM_NS_PER_MS UINT64_C(1000000)

enum tg_sim_kind { TG_SIM_NETWORK, TG_SIM_DRIVER, TG_SIM_KINDS };

typedef void (*tg_sim_fn)(void *context, uint64_t value);

struct tg_sim_event {
  uint64_t at_ns;
  uint64_t order;  // of posting
  tg_sim_fn fn;
  void *context;
  uint64_t value;
};

struct tg_sim_queue {
  struct tg_sim_event heap[TG_SIM_EVENTS_MAX];
  size_t len;
};

struct tg_sim {
  uint64_t now_ns;  // CLOCK_MONOTONIC of the simulation
  uint64_t posted;
  struct tg_sim_queue queue[TG_SIM_KINDS];
};

// tg_sim_init empties both queues and sets the clock.
void tg_sim_init(struct tg_sim *sim, uint64_t now_ns);

// tg_sim_post has `fn(context, value)` called at `at_ns` (not before now). There is no cancelling: an event that no
// longer applies must find out by itself (a generation number in `value`).
void tg_sim_post(struct tg_sim *sim, enum tg_sim_kind kind, uint64_t at_ns, tg_sim_fn fn, void *context,
                 uint64_t value);

// tg_sim_next_ns returns when the next event of either kind is due, or TG_SIM_NEVER.
uint64_t tg_sim_next_ns(const struct tg_sim *sim);

// tg_sim_run_due runs all events of `kind` whose time has come, those they post for now among them.
void tg_sim_run_due(struct tg_sim *sim, enum tg_sim_kind kind);

// tg_sim_pass_to moves the clock to `at_ns` (not backwards), running network events on the way, each at its own time.
void tg_sim_pass_to(struct tg_sim *sim, uint64_t at_ns);

#endif

// The loop around an accept path: its threads run while they can, then time passes to whatever comes next.
#include <assert.h>

#include "harness/kernel/adapter.h"
#include "harness/kernel/state.h"

static bool may_run(struct tg_kernel *kernel, uint32_t thread) {
  return !kernel->threads[thread].ended && tg_kernel_runnable(kernel, thread);
}

static uint64_t calls_made(const struct tg_kernel *kernel) {
  uint64_t made = 0;
  for (int call = 0; call < TG_CALL_COUNT; call++) {
    made += kernel->calls[call];
  }
  return made;
}

static void turn(struct tg_kernel *kernel, const struct tg_adapter *adapter, void *server, void *check_context,
                 uint32_t thread) {
  uint64_t before = calls_made(kernel);
  tg_kernel_enter(kernel, thread);
  bool alive = adapter->turn(server, thread);
  tg_kernel_leave(kernel);
  kernel->threads[thread].ended = !alive;
  if (alive && calls_made(kernel) == before) {
    // Time passes by calls alone.
    kernel->spun = true;
    tg_breach(kernel, "P10", "spinning: a turn of thread %u made no call and did not end", thread);
  }
  if (adapter->check != NULL) {
    adapter->check(server, check_context);
  }
  tg_sim_run_due(&kernel->sim, TG_SIM_DRIVER);
}

// Turns every thread that can run. Returns whether one could.
static bool turn_all(struct tg_kernel *kernel, const struct tg_adapter *adapter, void *server, void *check_context,
                     uint64_t until_ns) {
  uint32_t num_threads = adapter->threads(server);
  assert(num_threads >= 1 && num_threads <= TG_KERNEL_THREADS_MAX);
  bool some = false;
  for (uint32_t i = 0; i < num_threads && kernel->sim.now_ns < until_ns && !kernel->spun; i++) {
    if (may_run(kernel, i)) {
      turn(kernel, adapter, server, check_context, i);
      some = true;
    }
  }
  return some;
}

static uint64_t next_wake(struct tg_kernel *kernel, uint32_t num_threads) {
  uint64_t next_ns = TG_SIM_NEVER;
  for (uint32_t i = 0; i < num_threads; i++) {
    uint64_t wakes_ns = kernel->threads[i].ended ? TG_SIM_NEVER : tg_kernel_wakes_at(kernel, i);
    next_ns = wakes_ns < next_ns ? wakes_ns : next_ns;
  }
  return next_ns;
}

bool tg_adapter_run(struct tg_kernel *kernel, const struct tg_adapter *adapter, void *server, void *check_context,
                    uint64_t until_ns) {
  struct tg_sim *sim = &kernel->sim;
  if (kernel->adapter_server != server) {
    kernel->adapter_server = server;
    for (uint32_t i = 0; i < TG_KERNEL_THREADS_MAX; i++) {
      kernel->threads[i].ended = false;
    }
  }
  tg_sim_run_due(sim, TG_SIM_NETWORK);
  tg_sim_run_due(sim, TG_SIM_DRIVER);
  while (sim->now_ns < until_ns && !kernel->spun) {
    if (turn_all(kernel, adapter, server, check_context, until_ns)) {
      continue;
    }
    uint64_t wake_ns = next_wake(kernel, adapter->threads(server));
    uint64_t event_ns = tg_sim_next_ns(sim);
    if (event_ns == TG_SIM_NEVER && wake_ns > until_ns) {
      return false;
    }
    uint64_t next_ns = event_ns < wake_ns ? event_ns : wake_ns;
    next_ns = next_ns < until_ns ? next_ns : until_ns;
    tg_sim_pass_to(sim, next_ns > sim->now_ns ? next_ns : sim->now_ns);
    tg_sim_run_due(sim, TG_SIM_DRIVER);
  }
  return !kernel->spun;
}

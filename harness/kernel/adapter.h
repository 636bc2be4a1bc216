// An accept path as the simulated kernel sees it: any non-blocking server whose unit of work can be called by hand.
// fuzz/world/accept_path.h adds what clients must know of it; docs/adapter.md takes a server from nothing to its
// targets.
#ifndef TLSGATE_HARNESS_KERNEL_ADAPTER_H
#define TLSGATE_HARNESS_KERNEL_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/kernel/kernel.h"

struct tg_adapter {
  // create makes the server: it opens its listeners with socket, bind and listen on the simulated kernel. Returns NULL
  // if it cannot (memory or descriptors may be short on purpose).
  void *(*create)(const void *config);
  // threads says how many event loops it has, 1 to TG_KERNEL_THREADS_MAX.
  uint32_t (*threads)(void *server);
  // turn does one round of one event loop: an epoll_wait that may be asked to wait, and what follows from it. Inside,
  // an epoll_wait with nothing ready returns 0 at once, and the loop is turned again when an event or the time-out has
  // come. Returns false when that loop has ended for good: it is not turned again.
  bool (*turn)(void *server, uint32_t thread);
  // destroy frees it; whatever it still holds then counts as leaked.
  void (*destroy)(void *server);
  // check, which may be NULL, is called after every turn outside the kernel: the server's own invariants.
  void (*check)(void *server, void *context);
};

// tg_adapter_run turns the server's threads whenever they are runnable and passes time from event to event until
// `until_ns`, or until nothing will happen any more before it (then time is not passed on and false is returned:
// only time-outs after until_ns are left, or nothing at all), or until the server spins (P10; false too). Driver events
// run between turns.
bool tg_adapter_run(struct tg_kernel *kernel, const struct tg_adapter *adapter, void *server, void *check_context,
                    uint64_t until_ns);

#endif

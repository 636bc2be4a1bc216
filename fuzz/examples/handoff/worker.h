// A loop that serves: it takes sockets from its mailbox, and steps connections as their sockets become ready.
#ifndef TLSGATE_FUZZ_EXAMPLES_HANDOFF_WORKER_H
#define TLSGATE_FUZZ_EXAMPLES_HANDOFF_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/examples/handoff/guest.h"
#include "fuzz/examples/handoff/mailbox.h"

struct worker {
  int epoll_fd;
  struct mailbox *box;
  const struct house *house;
  struct guest *guests;
  uint64_t timed_out;
};

// worker_open returns false when something is short; worker_close may be called all the same.
bool worker_open(struct worker *worker, struct mailbox *box, const struct house *house);
void worker_turn(struct worker *worker);
void worker_close(struct worker *worker);

#endif

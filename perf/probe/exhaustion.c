// More clients than the server has descriptors for.
#include <stdlib.h>
#include <unistd.h>

#include "perf/probe/probe.h"
#include "perf/probe/resources.h"
#include "perf/process/child.h"

// Beyond the server's descriptors, so that its listener stays readable while it cannot accept.
enum { MORE = 100 };

// What the server may want of a core while it has no descriptor left, had or waited for: a listener that is polled in
// vain wants all of it, one that pauses a few per cent, whatever the server logs.
#define CORE_SHARE 0.5

// On loopback a connection is there at once, or the listener's queue is full and the kernel drops the SYN, to try again
// after a second (TCP_TIMEOUT_INIT).
#define QUEUED_S 0.5

// Opens connections until there are `num` or the queue of the listener is full. Returns how many there are.
static size_t open_until_full(const struct tg_probe_target *target, struct tg_wire *wires, size_t num) {
  size_t opened = 0;
  while (opened < num && tg_wire_open(&wires[opened], target->port, tg_now_s() + QUEUED_S)) {
    opened++;
  }
  return opened;
}

void tg_probe_exhaustion(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  size_t num = (size_t)target->description->few_descriptors + MORE;
  double promised = target->description->handshake_deadline_s;
  double wait = tg_probe_wait_s(target, promised);
  double last = 0;
  struct tg_resources before = {.wanted_s = 0};
  struct tg_resources after = {.wanted_s = 0};
  struct tg_wire *wires = calloc(num, sizeof(*wires));
  if (wires == NULL) {
    tg_probe_undecided(seen, "out of memory");
    return;
  }
  double begun = tg_now_s();
  size_t opened = open_until_full(target, wires, num);
  if (opened == 0) {
    tg_probe_fail(seen, "no connection could be made within %.1f s", QUEUED_S);
  }
  (void)tg_resources_read(target->pid, &before);
  double from = tg_now_s();
  (void)usleep((useconds_t)(target->watched_s * 1e6));
  bool there = tg_resources_read(target->pid, &after);
  double share = (after.wanted_s - before.wanted_s) / (tg_now_s() - from);
  if (there && share > CORE_SHARE) {
    tg_probe_fail(seen, "spins without descriptors: %.0f %% of a core, over %.0f %%", share * 100, CORE_SHARE * 100);
  }
  // The first that it ends gives others their turn; those in its queue have not begun theirs.
  size_t ended = tg_probe_await_ends(wires, opened, 1, begun + wait, &last);
  tg_probe_ended(seen, ended > 0 ? 1 : 0, 1, last - begun, wait, promised, "the first of the silent clients");
  tg_probe_note(seen, "%.0f %% of a core while out of descriptors (%d), with %zu of %zu silent clients%s", share * 100,
                target->description->few_descriptors, opened, num, opened < num ? ": then its queue was full" : "");
  tg_probe_close_all(wires, opened);
  free(wires);
}

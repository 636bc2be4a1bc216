// Connections that send nothing.
#include <stdlib.h>

#include "perf/probe/probe.h"
#include "perf/process/child.h"

void tg_probe_silent(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  size_t num = target->connections;
  double promised = target->description->handshake_deadline_s;
  struct tg_wire *wires = calloc(num, sizeof(*wires));
  if (wires == NULL) {
    tg_probe_undecided(seen, "out of memory");
    return;
  }
  double begun = tg_now_s();
  size_t opened = tg_probe_open_all(target, wires, num, false, seen);
  double wait = tg_probe_wait_s(target, promised);
  double last = 0;
  size_t ended = tg_probe_await_ends(wires, opened, opened, tg_now_s() + wait, &last);
  tg_probe_ended(seen, ended, opened, last - begun, wait, promised, "silent connections");
  tg_probe_close_all(wires, opened);
  free(wires);
}

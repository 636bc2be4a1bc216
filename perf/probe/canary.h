// Another client, well behaved, at intervals: is it served while others misbehave?
#ifndef TLSGATE_PERF_PROBE_CANARY_H
#define TLSGATE_PERF_PROBE_CANARY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A client waits that long at most for connection, handshake and response.
#define TG_CANARY_SERVED_S 1.0
// From one client to the next.
#define TG_CANARY_EVERY_S 0.1
// When the canary's own thread ran this much late, lateness is the machine's and not the server's.
#define TG_CANARY_OWN_LATE_S 0.5

struct tg_canary {
  uint16_t port;
  const char *path;
  bool kept;  // one connection for all requests, made when it begins, for where no new one can be had
  pthread_t thread;
  atomic_bool stop;
  bool running;
  // Read after tg_canary_end.
  size_t served;
  size_t failed;      // not answered by 200 within TG_CANARY_SERVED_S
  double longest_s;   // of those that were served; more than TG_CANARY_SERVED_S if one failed
  double own_late_s;  // the longest that its thread was late by itself
};

// tg_canary_begin starts the clients. `kept` as above. Returns false when there is no thread, or `kept` and no
// connection. `path` is borrowed.
bool tg_canary_begin(struct tg_canary *canary, uint16_t port, const char *path, bool kept);

// tg_canary_end stops them, after one last client. Ignores one that does not run.
void tg_canary_end(struct tg_canary *canary);

#endif

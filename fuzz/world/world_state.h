// A world from the inside: what world.c, steps.c, peer.c and oracle.c share.
#ifndef TLSGATE_FUZZ_WORLD_WORLD_STATE_H
#define TLSGATE_FUZZ_WORLD_WORLD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/world/accept_path.h"
#include "fuzz/world/peer.h"
#include "fuzz/world/world.h"
#include "harness/kernel/kernel.h"

#define TG_WORLD_PROBE TG_SCHEDULE_CLIENTS_MAX  // index of the peer that asks at the end

struct tg_world {
  struct tg_kernel *kernel;
  struct tg_schedule_settings settings;
  struct tg_world_options options;
  const struct tg_accept_path *path;   // the accept path the program is linked with
  struct tg_adapter adapter;           // it, as the kernel's loop turns it
  struct tg_accept_path_config given;  // to the server
  void *server;                        // NULL: it could not be made
  void *kept;                          // what the server uses; NULL: it has made its own
  SSL_CTX *client_ctx;
  SSL_SESSION *session;  // the newest that any client got; NULL: none
  struct tg_peer peers[TG_WORLD_PEERS];
  uint64_t stalls;
  uint64_t handshakes;

  // Why the world owes its clients less than it would.
  bool injected;         // some call was made to fail or to fall short
  bool excused;          // ... in a way that may cost connections
  bool listener_broken;  // ... of accept4, in a way that no listener survives
  bool starved;          // descriptors were short
  bool winding_down;
  bool cut_some;   // from the outside: a deadline may have ended a connection
  bool cut_short;  // a client left while something was still to come: what it got depends on when

  bool warming_up;  // the first run: libraries allocate what they keep
};

// tg_world_now_ns returns the virtual time.
static inline uint64_t tg_world_now_ns(const struct tg_world *world) {
  return tg_kernel_sim(world->kernel)->now_ns;
}

// tg_world_pass lets `ns` pass; tg_world_pass_to_rest lets time pass until nothing is due any more but time-outs.
void tg_world_pass(struct tg_world *world, uint64_t ns);
void tg_world_pass_to_rest(struct tg_world *world);

// tg_world_lenient says whether something happened that excuses an accept path from serving everyone in full.
bool tg_world_lenient(struct tg_world *world);

#endif

// The project's own server as an adapter: shards of the accept path with the HTTP responder, on the simulated kernel,
// and what can be checked from the inside after every turn (P2, P4, P8, P9, P11).
#ifndef TLSGATE_FUZZ_WORLD_SERVER_H
#define TLSGATE_FUZZ_WORLD_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/schedule/schedule.h"
#include "fuzz/world/server_tls.h"
#include "harness/accept/accept.h"
#include "harness/kernel/adapter.h"

#define TG_WORLD_TLS_PORT   443
#define TG_WORLD_PLAIN_PORT 80

struct tg_world_server;

struct tg_world_server_config {
  const struct tg_schedule_settings *settings;
  enum tg_quickack quickack;
  struct tg_kernel *kernel;
  struct tg_kept_tls *kept;  // outlives the server; NULL: it makes a TLS context of its own
  uint64_t max_body;         // of a request, in bytes
};

// The config is a struct tg_world_server_config, the server a struct tg_world_server; check's context is unused.
extern const struct tg_adapter tg_world_server_adapter;

// tg_world_deadlines returns the deadlines that a setting stands for.
struct tg_deadlines tg_world_deadlines(const struct tg_schedule_settings *settings);

// tg_world_server_wind_down asks every shard to; to be called outside the kernel.
void tg_world_server_wind_down(struct tg_world_server *server, uint32_t grace_ms);

// tg_world_server_cut_some says whether a deadline has ended a connection, this very moment's among them: shards post
// their counters only when they are done with it.
bool tg_world_server_cut_some(const struct tg_world_server *server);

// tg_world_server_counters adds up the shards', as they are shown to other threads.
void tg_world_server_counters(struct tg_world_server *server, struct tg_counters *out);

// tg_world_server_connections returns how many connections are not freed.
size_t tg_world_server_connections(const struct tg_world_server *server);

// tg_world_server_check_rest is P3 from the inside: nothing waits that no event will announce. To be called when
// nothing is due any more but time-outs.
void tg_world_server_check_rest(struct tg_world_server *server);

// tg_world_server_failed says whether a shard's listener has become unusable.
bool tg_world_server_failed(const struct tg_world_server *server);

// tg_world_server_paused says whether a listener is paused.
bool tg_world_server_paused(const struct tg_world_server *server);

#endif

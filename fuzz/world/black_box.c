#include "fuzz/world/black_box.h"

#include <inttypes.h>
#include <openssl/err.h>

#include "fuzz/world/finding.h"
#include "fuzz/world/world_state.h"

// How late a deadline may be noticed: the millisecond that epoll rounds up to, a tick of a coarse timer, and what turns
// of several loops take when system calls are slow.
#define SLACK_NS    (10 * TG_SIM_NS_PER_MS)
#define SLACK_CALLS 4096u

// Blocks of 64 KiB of which each renews a response's deadline: those of the largest body that is asked for (1 MiB) and
// its head.
#define RESPONSE_BLOCKS 17u

bool tg_black_box_all_end(const struct tg_promises *promised) {
  return promised->handshake_ms > 0 && promised->request_ms > 0 && promised->idle_ms > 0 && promised->response_ms > 0 &&
         promised->drain_ms > 0;
}

static void count(void *context, int fd, struct tg_tcp *server_end) {
  (void)fd;
  (void)server_end;
  ++*(size_t *)context;
}

size_t tg_black_box_connections(struct tg_world *world) {
  if (world->path->inside.connections != NULL) {
    return world->path->inside.connections(world->server);
  }
  size_t open = 0;
  tg_kernel_visit_sockets(world->kernel, count, &open);
  return open;
}

// The least of the deadlines that there are; UINT64_MAX if there is none.
static uint64_t shortest_ns(const struct tg_promises *promised) {
  const uint32_t all[] = {promised->handshake_ms, promised->request_ms, promised->idle_ms, promised->response_ms,
                          promised->drain_ms};
  uint64_t least_ns = UINT64_MAX;
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    const uint64_t ns = all[i] * TG_SIM_NS_PER_MS;
    least_ns = ns > 0 && ns < least_ns ? ns : least_ns;
  }
  return least_ns;
}

// Whether a deadline of a client's connection can have come.
static bool old_enough(const struct tg_peer *peer) {
  const struct tg_world *world = peer->world;
  uint64_t accepted_ns;
  return peer->tcp != NULL && tg_kernel_accepted(world->kernel, peer->tcp, &accepted_ns) &&
         tg_world_now_ns(world) - accepted_ns >= shortest_ns(&world->given.deadlines);
}

static bool ended_by_server(const struct tg_peer *peer) {
  return tg_kernel_socket(peer->world->kernel, peer->tcp) < 0 || tg_tcp_fin_sent(tg_tcp_other(peer->tcp));
}

void tg_black_box_note_end(struct tg_peer *peer) {
  struct tg_world *world = peer->world;
  if (world->path->inside.cut_some == NULL && !world->cut_some) {
    world->cut_some = old_enough(peer) && ended_by_server(peer);
  }
}

bool tg_black_box_cut_some(struct tg_world *world) {
  if (world->path->inside.cut_some != NULL) {
    return world->path->inside.cut_some(world->server);
  }
  for (size_t i = 0; i < TG_WORLD_PEERS; i++) {
    tg_black_box_note_end(&world->peers[i]);
  }
  return world->cut_some;
}

bool tg_black_box_may_cut(struct tg_world *world) {
  if (world->path->inside.cut_some != NULL) {
    return false;
  }
  bool may = false;
  for (size_t i = 0; i < TG_WORLD_PEERS; i++) {
    may = may || old_enough(&world->peers[i]);
  }
  return may;
}

// Fuzzer mode accepts what a client made up: raw bytes may complete a handshake, and be requests.
#if defined(BORINGSSL_UNSAFE_FUZZER_MODE)
static const bool kRawIsNoHandshake = false;
#else
static const bool kRawIsNoHandshake = true;
#endif

// How long the server may keep a connection of which its client knows no more than it does; UINT64_MAX: for ever.
static uint64_t bound_ms(const struct tg_peer *peer) {
  const struct tg_promises *all = &peer->world->given.deadlines;
  const uint64_t ends_ms = (uint64_t)all->handshake_ms + all->drain_ms;
  const bool is_raw = peer->kind == TG_PEER_RAW;
  // TLS 1.2 lets the server be done first.
  const bool in_handshake = (is_raw && kRawIsNoHandshake) ||
                            (peer->kind == TG_PEER_TLS && !peer->established && (peer->bits & TG_CONNECT_TLS12) == 0);
  if (in_handshake) {
    return ends_ms;
  }
  if (is_raw || !peer->well_behaved) {
    return UINT64_MAX;
  }
  // Each request that the client has made may have begun a round of its own.
  const uint64_t rounds = 1 + (uint64_t)peer->script.count;
  return ends_ms + rounds * (all->idle_ms + all->request_ms + RESPONSE_BLOCKS * (uint64_t)all->response_ms);
}

static void check_deadline(const struct tg_peer *peer) {
  const struct tg_world *world = peer->world;
  uint64_t since_ns;
  if (peer->tcp == NULL || !tg_kernel_accepted(world->kernel, peer->tcp, &since_ns)) {
    return;
  }
  const int fd = tg_kernel_socket(world->kernel, peer->tcp);
  const uint64_t limit_ms = bound_ms(peer);
  if (fd < 0 || limit_ms == UINT64_MAX) {
    return;
  }
  since_ns = since_ns > peer->whole_ns ? since_ns : peer->whole_ns;
  const uint64_t slack_ns = SLACK_NS + SLACK_CALLS * tg_kernel_call_ns(world->kernel);
  if (tg_world_now_ns(world) - since_ns > limit_ms * TG_SIM_NS_PER_MS + slack_ns) {
    tg_finding(world->kernel, "P4", peer->index, peer->established ? "OPEN" : "HANDSHAKE",
               "descriptor %d is open %" PRIu64
               " ms after the client last got anything done; the deadlines allow %" PRIu64 " ms",
               fd, (tg_world_now_ns(world) - since_ns) / TG_SIM_NS_PER_MS, limit_ms);
  }
}

void tg_black_box_check(void *server, void *context) {
  struct tg_world *world = context;
  if (world->path->uses_boringssl && ERR_peek_error() != 0) {
    char text[160];
    ERR_error_string_n(ERR_peek_error(), text, sizeof(text));
    tg_finding(world->kernel, "P8", TG_NO_CLIENT, NULL, "the error queue is not empty after a turn: %s", text);
  }
  if (tg_black_box_all_end(&world->given.deadlines)) {
    for (size_t i = 0; i < TG_WORLD_PEERS; i++) {
      check_deadline(&world->peers[i]);
    }
  }
  if (world->path->adapter.check != NULL) {
    world->path->adapter.check(server, NULL);
  }
}

#include "fuzz/world/oracle.h"

#include <inttypes.h>
#include <openssl/err.h>
#include <string.h>

#include "fuzz/world/black_box.h"
#include "fuzz/world/finding.h"
#include "fuzz/world/world_state.h"

static const char *phase_of(const struct tg_peer *peer) {
  return peer->established ? "OPEN" : "HANDSHAKE";
}

void tg_oracle_response(struct tg_peer *peer, const uint8_t *data, size_t len) {
  struct tg_world *world = peer->world;
  if (peer->ssl != NULL && (peer->establishing || peer->written < peer->finish_at)) {
    tg_finding(world->kernel, "P11", peer->index, phase_of(peer),
               "the server answers before what completes the handshake has been sent");
  }
  if (!peer->well_behaved) {
    tg_http_reader_hash_raw(&peer->reader, data, len);
    return;
  }
  bool may_shed = world->settings.max_connections > 0;
  const uint32_t responses = peer->reader.responses;
  if (!tg_http_reader_feed(&peer->reader, &peer->script, may_shed, data, len)) {
    tg_finding(world->kernel, "P6", peer->index, phase_of(peer), "%s (status %d)", peer->reader.wrong,
               peer->reader.status);
  }
  if (peer->reader.responses > responses) {
    peer->whole_ns = tg_world_now_ns(world);
  }
}

// Whether a stall of this connection would be the accept path's doing.
static bool stall_counts(const struct tg_peer *peer, const struct tg_tcp_stall *stall) {
  const struct tg_world *world = peer->world;
  uint64_t accepted_ns;
  bool accepted = tg_kernel_accepted(world->kernel, peer->tcp, &accepted_ns);
  // A server whose calls take milliseconds is slow by itself.
  bool slow = tg_kernel_call_ns(world->kernel) > TG_SIM_NS_PER_MS / 10;
  return peer->well_behaved && peer->reading && !peer->gone && !peer->script.ended && peer->reader.shed == 0 &&
         accepted && accepted_ns <= stall->held_since_ns && stall->receiver_unread == 0 && !slow && !world->injected &&
         !world->starved && !tg_tcp_fin_sent(tg_tcp_other(peer->tcp));
}

static void look_for_stalls(struct tg_peer *peer) {
  struct tg_world *world = peer->world;
  struct tg_tcp *senders[] = {peer->tcp, tg_tcp_other(peer->tcp)};
  for (int i = 0; i < 2; i++) {
    const struct tg_tcp_stats *stats = tg_tcp_stats_of(senders[i]);
    if (stats->stalls == peer->stalls_seen[i]) {
      continue;
    }
    peer->stalls_seen[i] = stats->stalls;
    const struct tg_tcp_stall *stall = &stats->last_stall;
    if (!stall_counts(peer, stall)) {
      continue;
    }
    world->stalls++;
    if (!world->options.expect_stalls) {
      uint64_t waited_us = (stall->released_ns - stall->held_since_ns) / 1000;
      tg_finding(world->kernel, "P5", peer->index, phase_of(peer),
                 "%" PRIu64 " bytes of the %s waited %" PRIu64 ".%03" PRIu64 " ms for an ACK that was delayed",
                 stall->end_byte - stall->first_byte, i == 0 ? "client's" : "server's", waited_us / 1000,
                 waited_us % 1000);
    }
  }
}

// Whether a TLS library must bear what this client sends. A server that does not take early data skips what it cannot
// decipher; with the null ciphers of fuzzer mode there is nothing that it cannot.
static bool must_be_understood(const struct tg_peer *peer) {
#if defined(BORINGSSL_UNSAFE_FUZZER_MODE)
  return peer->well_behaved && (peer->bits & TG_CONNECT_EARLY_DATA) == 0;
#else
  return peer->well_behaved;
#endif
}

static void look_for_end(struct tg_peer *peer) {
  struct tg_world *world = peer->world;
  // What a client does past TLS while it shakes hands may end the handshake at the server alone.
  bool both_established = peer->established && (peer->well_behaved || peer->reader.responses > 0);
  if (peer->ended && peer->kind == TG_PEER_TLS && both_established && !peer->notified && !peer->failed &&
      !peer->unwelcome && !peer->left_early && !tg_world_lenient(world)) {
    tg_finding(world->kernel, "P6", peer->index, "OPEN", "the server's FIN comes without a close_notify before it");
  }
  if (peer->failed && must_be_understood(peer) && !peer->unwelcome && !peer->left_early && !tg_world_lenient(world)) {
    const char *why = ERR_reason_error_string(peer->failure);
    tg_finding(world->kernel, "P6", peer->index, phase_of(peer),
               "the client has kept to the protocol, and its TLS library gives up: %s", why == NULL ? "?" : why);
  }
  if (peer->ended && peer->well_behaved && tg_http_reader_within(&peer->reader) && !tg_world_lenient(world)) {
    tg_finding(world->kernel, "P6", peer->index, "OPEN",
               "the server ends a response after %" PRIu64 " of %" PRIu64 " bytes of its body", peer->reader.body_at,
               peer->reader.body_len);
  }
  if (peer->reset && peer->well_behaved && !peer->left_early && !tg_world_lenient(world)) {
    tg_finding(world->kernel, "P6", peer->index, phase_of(peer), "the server resets the connection");
  }
}

void tg_oracle_peer(struct tg_peer *peer) {
  if (peer->ended || peer->reset) {
    tg_black_box_note_end(peer);
  }
  look_for_stalls(peer);
  look_for_end(peer);
}

void tg_oracle_farewell(struct tg_peer *peer) {
  look_for_stalls(peer);
}

// A client that has ended its half, by close_notify or FIN, is still owed what it asked for before, and an end.
static void rest_of_client(struct tg_peer *peer) {
  struct tg_world *world = peer->world;
  if (!peer->well_behaved || peer->unwelcome || peer->left_early || peer->failed || !peer->reading ||
      tg_bytes_left(&peer->outbox) > 0 || tg_world_lenient(world)) {
    return;
  }
  if (!peer->established) {
    tg_finding(world->kernel, "P3", peer->index, "HANDSHAKE", "at rest and the handshake does not go on");
  }
  if (tg_bytes_left(&peer->plain) > 0) {
    return;
  }
  if (tg_http_script_next(&peer->script) != NULL) {
    tg_finding(world->kernel, peer->ended ? "P6" : "P3", peer->index, "OPEN",
               peer->ended ? "the server has ended the connection and owes %u responses"
                           : "at rest and %u responses are owed to whole requests",
               peer->script.count);
  }
  if (peer->gone && !peer->ended) {
    tg_finding(world->kernel, "P3", peer->index, "OPEN",
               "at rest, the client has said that it is done, and the server does not end the connection");
  }
}

static void rest_of_socket(struct tg_peer *peer) {
  struct tg_world *world = peer->world;
  struct tg_tcp *server = tg_tcp_other(peer->tcp);
  int fd = tg_kernel_socket(world->kernel, peer->tcp);
  if (world->excused || world->starved || tg_tcp_rst_received(server)) {
    return;
  }
  uint64_t accepted_ns;
  if (!tg_kernel_accepted(world->kernel, peer->tcp, &accepted_ns)) {
    if (!world->winding_down) {
      tg_finding(world->kernel, "P3", peer->index, NULL, "at rest and the connection has not been accepted");
    }
    return;
  }
  if (fd < 0 || tg_tcp_unacked(server) > 0) {
    return;
  }
  if (tg_tcp_unread(server) > 0) {
    tg_finding(world->kernel, "P3", peer->index, phase_of(peer),
               "at rest with %zu bytes unread in the receive queue of descriptor %d", tg_tcp_unread(server), fd);
  }
  if (tg_tcp_fin_received(server)) {
    tg_finding(world->kernel, "P3", peer->index, phase_of(peer),
               "at rest with the client's FIN received and descriptor %d open", fd);
  }
}

void tg_oracle_rest(struct tg_peer *peer) {
  if (peer->tcp != NULL) {
    rest_of_socket(peer);
    rest_of_client(peer);
  }
}

void tg_oracle_breach(void *context, const char *property, const char *text) {
  struct tg_world *world = context;
  if (strcmp(property, "P6") == 0 && (tg_world_lenient(world) || tg_black_box_may_cut(world))) {
    return;
  }
  // A SIGPIPE ends the process, and with it every connection.
  const char *name = strcmp(property, "SIGPIPE") == 0 ? "P1" : property;
  tg_finding(world->kernel, name, TG_NO_CLIENT, NULL, "%s", text);
}

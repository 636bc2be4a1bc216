#include "fuzz/world/peer.h"

#include <errno.h>
#include <openssl/err.h>
#include <string.h>

#include "fuzz/world/black_box.h"
#include "fuzz/world/oracle.h"
#include "fuzz/world/peer_tls.h"
#include "fuzz/world/world_state.h"

// A client that cuts its bytes into single ones makes so many writes on a connection at most; the rest goes whole.
#define CUT_WRITES_MAX 2048u

void tg_peer_init(struct tg_peer *peer, struct tg_world *world, uint8_t index) {
  memset(peer, 0, offsetof(struct tg_peer, flight));
  memset(&peer->flight_over, 0, sizeof(*peer) - offsetof(struct tg_peer, flight_over));
  peer->world = world;
  peer->index = index;
  peer->reading = true;
  peer->hash_total = TG_HASH_START;
}

static void run(void *context, uint64_t connection);
static void write_later(void *context, uint64_t connection);

static struct tg_sim *sim_of(struct tg_peer *peer) {
  return tg_kernel_sim(peer->world->kernel);
}

static void post(struct tg_peer *peer, uint64_t at_ns, tg_sim_fn fn) {
  tg_sim_post(sim_of(peer), TG_SIM_DRIVER, at_ns, fn, peer, peer->connections);
}

void tg_peer_wake(struct tg_peer *peer) {
  if (peer->tcp != NULL && !peer->run_posted) {
    peer->run_posted = true;
    post(peer, sim_of(peer)->now_ns, run);
  }
}

static void on_change(void *context, struct tg_tcp *end, unsigned changes) {
  (void)end;
  (void)changes;
  tg_peer_wake(context);
}

static void tell_over(const struct tg_peer *peer) {
  const struct tg_world_tap *tap = peer->world->options.tap;
  if (tap != NULL && tap->over != NULL) {
    const struct tg_world_connection connection = {
        .bits = peer->bits, .plaintext = peer->kind == TG_PEER_PLAINTEXT, .end = peer->end};
    tap->over(tap->context, peer->index, &connection);
  }
}

// Ends the connection's books, whatever became of it.
static void forget_connection(struct tg_peer *peer) {
  if (peer->tcp == NULL) {
    return;
  }
  tg_black_box_note_end(peer);
  tg_oracle_farewell(peer);
  tell_over(peer);
  tg_tcp_set_notify(peer->tcp, NULL, NULL);
  peer->responses_total += peer->reader.responses;
  peer->hash_total = tg_hash(peer->hash_total, &peer->reader.hash, sizeof(peer->reader.hash));
  SSL_free(peer->ssl);
  peer->ssl = NULL;
  peer->tcp = NULL;
  peer->connections++;
  tg_bytes_free(&peer->plain);
  tg_bytes_free(&peer->outbox);
}

void tg_peer_release(struct tg_peer *peer) {
  forget_connection(peer);
}

bool tg_peer_connect(struct tg_peer *peer, uint16_t bits) {
  if (peer->tcp != NULL) {
    tg_peer_reset(peer);
  }
  bool plaintext = (bits & TG_CONNECT_PLAINTEXT) != 0 && peer->world->settings.plaintext_listener;
  uint16_t port = plaintext ? peer->world->path->plaintext_port : peer->world->path->tls_port;
  peer->tcp = tg_kernel_connect(peer->world->kernel, port, NULL);
  if (peer->tcp == NULL) {
    return false;
  }
  peer->kind = plaintext ? TG_PEER_PLAINTEXT : (bits & TG_CONNECT_NO_TLS) != 0 ? TG_PEER_RAW : TG_PEER_TLS;
  peer->bits = bits;
  peer->end = TG_BYTE_INPUT_STAYS;
  peer->run_posted = peer->write_posted = false;
  peer->hold = false;
  peer->pushed = 0;
  peer->cut = 0;
  peer->cut_writes = 0;
  peer->gap_ns = peer->next_write_ns = 0;
  peer->fin_wanted = peer->fin_done = false;
  peer->flight_len = 0;
  peer->flight_over = false;
  peer->early_said = 0;
  peer->reading = true;
  peer->read_budget = 0;
  peer->established = plaintext;
  peer->whole_ns = sim_of(peer)->now_ns;
  peer->establishing = false;
  peer->finish_at = peer->written = 0;
  peer->notified = peer->ended = peer->reset = peer->failed = false;
  peer->key_updates = 0;
  peer->stalls_seen[0] = peer->stalls_seen[1] = 0;
  peer->well_behaved = peer->kind != TG_PEER_RAW;
  peer->unwelcome =
      peer->kind == TG_PEER_TLS && peer->world->settings.client_ca && (bits & TG_CONNECT_CERTIFICATE) == 0;
  peer->gone = peer->left_early = false;
  memset(&peer->script, 0, sizeof(peer->script));
  peer->script.routes = &peer->world->path->http;
  peer->script.post_unit = peer->world->options.post_unit;
  peer->script.max_body = tg_http_script_max_body(peer->script.routes, peer->script.post_unit);
  tg_http_reader_init(&peer->reader);
  tg_tcp_set_notify(peer->tcp, on_change, peer);
  tg_tcp_set_nodelay(peer->tcp, (bits & TG_CONNECT_NODELAY) != 0);
  if ((bits & TG_CONNECT_QUICKACK_OFF) != 0) {
    tg_tcp_set_quickack(peer->tcp, 0);
  }
  if (peer->kind == TG_PEER_TLS) {
    tg_peer_tls_start(peer, bits);
    tg_peer_wake(peer);
  }
  return true;
}

static size_t tap_received(const struct tg_peer *peer, uint8_t *data, size_t len) {
  const struct tg_world_tap *tap = peer->world->options.tap;
  return tap == NULL || tap->received == NULL ? len : tap->received(tap->context, peer->index, data, len);
}

static void receive(struct tg_peer *peer) {
  static uint8_t buffer[65536];
  while (peer->reading || peer->read_budget > 0) {
    size_t room = peer->reading || peer->read_budget > sizeof(buffer) ? sizeof(buffer) : peer->read_budget;
    ssize_t got = tg_tcp_recv(peer->tcp, buffer, room, false);
    if (got < 0) {
      if (got != -EAGAIN) {
        peer->reset = true;
      }
      return;
    }
    if (got == 0) {
      peer->ended = true;
      return;
    }
    peer->flight_over = true;
    size_t len = (size_t)got;
    peer->read_budget -= len < peer->read_budget ? len : peer->read_budget;
    len = tap_received(peer, buffer, len);
    switch (peer->kind) {
      case TG_PEER_TLS:
        tg_peer_tls_take(peer, buffer, len);
        break;
      case TG_PEER_PLAINTEXT:
        tg_oracle_response(peer, buffer, len);
        break;
      case TG_PEER_RAW:
        peer->reader.hash = tg_hash(peer->reader.hash, buffer, len);
        break;
    }
  }
}

static void finish_writing(struct tg_peer *peer) {
  if (peer->fin_wanted && !peer->fin_done && tg_bytes_left(&peer->outbox) == 0) {
    peer->fin_done = true;
    tg_tcp_shutdown_write(peer->tcp);
  }
}

// Writes one piece. Returns false when no more can be written now.
static bool write_piece(struct tg_peer *peer, size_t allowed) {
  bool cutting = peer->cut > 0 && peer->cut_writes < CUT_WRITES_MAX;
  if (cutting && sim_of(peer)->now_ns < peer->next_write_ns) {
    if (!peer->write_posted) {
      peer->write_posted = true;
      post(peer, peer->next_write_ns, write_later);
    }
    return false;
  }
  size_t len = cutting && peer->cut < allowed ? peer->cut : allowed;
  ssize_t sent = tg_tcp_send(peer->tcp, peer->outbox.data + peer->outbox.at, len, false);
  if (sent < 0) {
    if (sent != -EAGAIN) {
      tg_bytes_take(&peer->outbox, tg_bytes_left(&peer->outbox));
    }
    return false;
  }
  const struct tg_world_tap *tap = peer->world->options.tap;
  if (tap != NULL && tap->sent != NULL) {
    tap->sent(tap->context, peer->index, peer->outbox.data + peer->outbox.at, (size_t)sent);
  }
  tg_bytes_take(&peer->outbox, (size_t)sent);
  peer->written += (size_t)sent;
  peer->pushed -= (size_t)sent < peer->pushed ? (size_t)sent : peer->pushed;
  if (cutting) {
    peer->cut_writes++;
    peer->next_write_ns = sim_of(peer)->now_ns + peer->gap_ns;
  }
  return (size_t)sent == len;
}

void tg_peer_flush(struct tg_peer *peer) {
  if (peer->tcp == NULL) {
    return;
  }
  for (;;) {
    size_t left = tg_bytes_left(&peer->outbox);
    size_t allowed = peer->hold && peer->pushed < left ? peer->pushed : left;
    if (allowed == 0 || !write_piece(peer, allowed)) {
      break;
    }
  }
  finish_writing(peer);
}

// Does all that the client can do now, at a step of the schedule or when its socket has changed.
static void act(struct tg_peer *peer) {
  if (peer->tcp == NULL) {
    return;
  }
  receive(peer);
  if (peer->ssl != NULL) {
    tg_peer_tls_progress(peer);
  }
  if (peer->ended && peer->reading && !peer->silent) {
    // The server has ended its half: a client that reads ends its own.
    peer->fin_wanted = true;
  }
  tg_peer_flush(peer);
  tg_oracle_peer(peer);
}

static void run(void *context, uint64_t connection) {
  struct tg_peer *peer = context;
  if (peer->connections == connection) {
    peer->run_posted = false;
    act(peer);
  }
}

static void write_later(void *context, uint64_t connection) {
  struct tg_peer *peer = context;
  if (peer->connections == connection) {
    peer->write_posted = false;
    tg_peer_flush(peer);
  }
}

void tg_peer_say(struct tg_peer *peer, const uint8_t *data, size_t len) {
  if (peer->tcp == NULL || peer->gone) {
    return;
  }
  const struct tg_world_tap *tap = peer->world->options.tap;
  if (tap != NULL && tap->said != NULL) {
    tap->said(tap->context, peer->index, data, len);
  }
  if (peer->kind == TG_PEER_TLS) {
    tg_bytes_add(&peer->plain, data, len);
  } else {
    tg_bytes_add(&peer->outbox, data, len);
  }
  act(peer);
}

void tg_peer_request(struct tg_peer *peer, uint16_t value) {
  static uint8_t request[TG_HTTP_SCRIPT_MAX];
  if (peer->tcp == NULL || peer->kind == TG_PEER_RAW || peer->gone) {
    return;
  }
  // Behind the first part of a head a request is not one.
  peer->well_behaved = peer->well_behaved && !peer->script.incomplete;
  size_t len = tg_http_script_add(&peer->script, value, request);
  tg_peer_say(peer, request, len);
}

void tg_peer_raw(struct tg_peer *peer, const uint8_t *data, size_t len) {
  if (peer->tcp == NULL || peer->fin_wanted) {
    return;
  }
  peer->well_behaved = false;
  tg_bytes_add(&peer->outbox, data, len);
  tg_peer_flush(peer);
}

void tg_peer_push(struct tg_peer *peer, size_t len) {
  peer->pushed = len == 0 ? tg_bytes_left(&peer->outbox) : peer->pushed + len;
  tg_peer_flush(peer);
}

void tg_peer_close_notify(struct tg_peer *peer) {
  if (peer->tcp != NULL && !peer->established) {
    peer->world->cut_short = true;
  }
  if (peer->tcp != NULL && peer->ssl != NULL && peer->established && !peer->failed) {
    peer->gone = true;
    SSL_shutdown(peer->ssl);
    ERR_clear_error();
    act(peer);
  }
}

void tg_peer_half_close(struct tg_peer *peer) {
  if (peer->tcp != NULL) {
    peer->world->cut_short = peer->world->cut_short || !peer->established;
    peer->left_early = peer->left_early || !peer->established || tg_bytes_left(&peer->outbox) > 0;
    peer->gone = true;
    peer->end = TG_BYTE_INPUT_HALF_CLOSE;
    peer->fin_wanted = true;
    tg_peer_flush(peer);
  }
}

// What a client that leaves now has got depends on when it leaves, unless nothing is to come.
static void note_cut_short(struct tg_peer *peer) {
  peer->world->cut_short = peer->world->cut_short || !peer->established || tg_http_script_next(&peer->script) != NULL ||
                           tg_bytes_left(&peer->outbox) > 0 || !peer->well_behaved;
}

void tg_peer_close(struct tg_peer *peer) {
  if (peer->tcp != NULL) {
    note_cut_short(peer);
    peer->gone = true;
    peer->end = TG_BYTE_INPUT_CLOSE;
    tg_tcp_close(peer->tcp);
    forget_connection(peer);
  }
}

void tg_peer_reset(struct tg_peer *peer) {
  if (peer->tcp != NULL) {
    note_cut_short(peer);
    peer->gone = true;
    peer->end = TG_BYTE_INPUT_RESET;
    tg_tcp_reset(peer->tcp);
    forget_connection(peer);
  }
}

void tg_peer_key_update(struct tg_peer *peer, bool asks) {
  // A peer that sends many is cut off (BoringSSL allows 32 without data between them).
  static const uint32_t kHarmless = 16;
  if (peer->tcp != NULL && peer->ssl != NULL && peer->established && !peer->failed && !peer->gone) {
    if (SSL_key_update(peer->ssl, asks ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED)) {
      peer->well_behaved = peer->well_behaved && ++peer->key_updates <= kHarmless;
      // The message is queued; a write of nothing sends it.
      SSL_write(peer->ssl, "", 0);
    }
    ERR_clear_error();
    act(peer);
  }
}

void tg_peer_flip(struct tg_peer *peer, uint16_t value) {
  size_t len = tg_bytes_left(&peer->outbox);
  if (peer->tcp != NULL && len > 0) {
    peer->well_behaved = false;
    peer->outbox.data[peer->outbox.at + (value >> 3) % len] ^= (uint8_t)(1u << (value & 7));
  }
}

void tg_peer_drop_outbox(struct tg_peer *peer) {
  if (tg_bytes_left(&peer->outbox) > 0) {
    peer->well_behaved = false;
    // Its Finished may be among them: the server need not know that the handshake is done.
    peer->left_early = true;
    peer->finish_at = peer->written;
    tg_bytes_take(&peer->outbox, tg_bytes_left(&peer->outbox));
  }
}

void tg_peer_set_reading(struct tg_peer *peer, uint16_t value) {
  peer->reading = value == 0;
  peer->read_budget = value < 2 ? 0 : value;
  tg_peer_wake(peer);
}

#include "harness/accept/conn.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "harness/accept/quickack.h"
#include "harness/accept/tls_session.h"

static void set_deadline(struct tg_conn *conn, enum tg_deadline_kind kind) {
  tg_deadline_set(&conn->shard->deadlines, &conn->deadline, kind, conn->shard->now_ns);
}

// Returns how many there are now, in this shard or in all that share its count.
static size_t count_in(struct tg_shard *shard) {
  shard->num_conns++;
  atomic_size_t *shared = shard->config.connections;
  // The count orders no other memory.
  return shared == NULL ? shard->num_conns : atomic_fetch_add_explicit(shared, 1, memory_order_relaxed) + 1;
}

static void count_out(struct tg_shard *shard) {
  shard->num_conns--;
  if (shard->config.connections != NULL) {
    size_t before = atomic_fetch_sub_explicit(shard->config.connections, 1, memory_order_relaxed);
    assert(before > shard->num_conns);
  }
}

// Enters the first phase of a connection's life.
static void be_born(struct tg_conn *conn, bool tls) {
  struct tg_shard *shard = conn->shard;
  tg_list_append(&shard->conns, &conn->member);
  if (count_in(shard) > shard->config.max_connections) {
    conn->over_capacity = true;
    shard->counters.over_capacity++;
  }
  if (tls) {
    conn->phase = TG_PHASE_HANDSHAKE;
    shard->counters.accepted++;
    shard->counters.in_handshake++;
    set_deadline(conn, TG_DEADLINE_HANDSHAKE);
  } else {
    conn->phase = TG_PHASE_OPEN;
    shard->counters.plain_accepted++;
    shard->counters.open++;
    set_deadline(conn, TG_DEADLINE_IDLE);
  }
  tg_shard_post(shard);
}

static void count_still_born(struct tg_shard *shard, bool tls) {
  if (tls) {
    shard->counters.accepted++;
    shard->counters.handshake_failed++;
  } else {
    shard->counters.plain_accepted++;
  }
  shard->counters.closed++;
  tg_shard_post(shard);
}

static bool open_application(struct tg_conn *conn) {
  struct tg_shard *shard = conn->shard;
  conn->app_state = shard->config.app->opened(shard->config.app_data, conn);
  conn->ask_finish = shard->winding_down;
  return conn->app_state != NULL;
}

struct tg_conn *tg_conn_new(struct tg_shard *shard, int fd, bool tls) {
  struct tg_conn *conn = calloc(1, sizeof(*conn));
  if (conn == NULL) {
    count_still_born(shard, tls);
    close(fd);
    shard->closed_some = true;
    return NULL;
  }
  conn->source = TG_SOURCE_CONN;
  conn->shard = shard;
  tg_stream_init(&conn->stream, fd, &shard->in_pool, &shard->out_pool, &shard->counters);
  be_born(conn, tls);
  bool ready;
  if (tls) {
    conn->ssl = tg_tls_session_new(shard->config.tls, &conn->stream);
    ready = conn->ssl != NULL;
  } else {
    ready = open_application(conn);
  }
  if (!ready) {
    tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
    ERR_clear_error();
    return NULL;
  }
  return conn;
}

static void leave(struct tg_conn *conn, enum tg_phase to, enum tg_cause cause) {
  struct tg_counters *counters = &conn->shard->counters;
  switch (conn->phase) {
    case TG_PHASE_HANDSHAKE:
      assert(to == TG_PHASE_OPEN || to == TG_PHASE_DRAIN || to == TG_PHASE_GONE);
      counters->in_handshake--;
      if (to == TG_PHASE_OPEN) {
        counters->established++;
      } else if (cause == TG_CAUSE_DEADLINE) {
        counters->handshake_timed_out++;
      } else {
        counters->handshake_failed++;
      }
      return;
    case TG_PHASE_OPEN:
      assert(to == TG_PHASE_DRAIN || to == TG_PHASE_GONE);
      counters->open--;
      counters->open_timed_out += cause == TG_CAUSE_DEADLINE;
      if (conn->app_state != NULL) {
        conn->shard->config.app->closed(conn->app_state);
        conn->app_state = NULL;
      }
      return;
    case TG_PHASE_DRAIN:
      assert(to == TG_PHASE_GONE);
      counters->draining--;
      counters->drain_timed_out += cause == TG_CAUSE_DEADLINE;
      return;
    case TG_PHASE_GONE:
      break;
  }
  assert(false);
}

// Gives everything back but the memory of the connection itself, to which events of this turn may still point.
static void bury(struct tg_conn *conn) {
  struct tg_shard *shard = conn->shard;
  int error = conn->stream.error;
  shard->counters.peer_reset += error == ECONNRESET || error == EPIPE;
  shard->counters.closed++;
  tg_deadline_cancel(&conn->deadline);
  tg_link_remove(&conn->again);
  tg_link_remove(&conn->member);
  tg_list_append(&shard->graves, &conn->member);
  count_out(shard);
  shard->closed_some = true;
  SSL_free(conn->ssl);
  conn->ssl = NULL;
  tg_early_data_free(&conn->early);
  tg_stream_release(&conn->stream);
  // This also ends epoll's interest: no other descriptor refers to the socket (epoll(7)).
  close(conn->stream.fd);
  conn->stream.fd = -1;
}

void tg_conn_enter(struct tg_conn *conn, enum tg_phase to, enum tg_cause cause) {
  leave(conn, to, cause);
  conn->phase = to;
  switch (to) {
    case TG_PHASE_OPEN:
      conn->shard->counters.open++;
      break;
    case TG_PHASE_DRAIN:
      conn->shard->counters.draining++;
      set_deadline(conn, TG_DEADLINE_DRAIN);
      break;
    case TG_PHASE_GONE:
      bury(conn);
      break;
    case TG_PHASE_HANDSHAKE:
      assert(false);
  }
  tg_shard_post(conn->shard);
}

void tg_conn_say_goodbye(struct tg_conn *conn) {
  if (conn->ssl != NULL && (SSL_get_shutdown(conn->ssl) & SSL_SENT_SHUTDOWN) == 0) {
    // Of the two halves of a TLS shutdown this is the first. The second, the peer's, is not waited for as such: DRAIN
    // waits for its FIN.
    SSL_shutdown(conn->ssl);
    ERR_clear_error();
  }
}

static void establish(struct tg_conn *conn) {
  struct tg_shard *shard = conn->shard;
  shard->counters.resumed += SSL_session_reused(conn->ssl) != 0;
  shard->counters.early_data_accepted += SSL_early_data_accepted(conn->ssl) != 0;
  shard->counters.client_certificates +=
      tg_tls_context_asks_certificates(shard->config.tls) && !SSL_session_reused(conn->ssl);
  tg_conn_enter(conn, TG_PHASE_OPEN, TG_CAUSE_PROGRESS);
  tg_quickack_at(TG_QUICKACK_AT_ESTABLISHMENT, shard->config.quickack, conn->stream.fd, &shard->counters);
  conn->acknowledged = conn->stream.received;
  set_deadline(conn, TG_DEADLINE_IDLE);
  if (shard->config.flush_tickets) {
    // A write of nothing takes along the tickets that the library holds back for the first response.
    SSL_write(conn->ssl, "", 0);
    ERR_clear_error();
    tg_stream_flush(&conn->stream);
  }
  if (!open_application(conn)) {
    tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
  }
}

static void shake_hands(struct tg_conn *conn) {
  struct tg_stream *stream = &conn->stream;
  const uint64_t moved_before = stream->received + stream->sent;
  enum tg_handshake_outcome outcome = tg_handshake_step(conn->ssl, &conn->early);
  if (!tg_stream_flush(stream)) {
    tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
    return;
  }
  switch (outcome) {
    case TG_HANDSHAKE_DONE:
      establish(conn);
      return;
    case TG_HANDSHAKE_WAIT:
      // After the flight is sent as well as after what was read: see docs/accept-path.md. A step that moved nothing has
      // undone nothing.
      if (stream->received + stream->sent != moved_before) {
        tg_quickack_at(TG_QUICKACK_AT_HANDSHAKE_STEP, conn->shard->config.quickack, stream->fd, &conn->shard->counters);
      }
      return;
    case TG_HANDSHAKE_FAILED:
      tg_conn_enter(conn, TG_PHASE_DRAIN, TG_CAUSE_ERROR);
      return;
    case TG_HANDSHAKE_CLOSED:
      tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
      return;
  }
}

// Sets the deadline that what an OPEN connection waits for calls for, if it is not set. Single bytes do not set it
// anew.
static void renew_open_deadline(struct tg_conn *conn) {
  enum tg_deadline_kind kind = TG_DEADLINE_IDLE;
  if (conn->finishing || conn->next == TG_APP_WRITE || tg_stream_pending(&conn->stream) > 0) {
    kind = TG_DEADLINE_RESPONSE;
  } else if (conn->next == TG_APP_PARTIAL) {
    kind = TG_DEADLINE_REQUEST;
  }
  bool due = !tg_deadline_is(&conn->deadline, kind);
  if (kind == TG_DEADLINE_RESPONSE) {
    // A response that follows another counts on, so that only bytes taken earn time.
    due = due || conn->stream.sent - conn->response_mark >= TG_RESPONSE_DEADLINE_BYTES;
  } else {
    // A response was written and taken: whatever is awaited now is a new request.
    due = due || conn->wrote;
  }
  if (due) {
    set_deadline(conn, kind);
    conn->response_mark = conn->stream.sent;
  }
  conn->wrote = false;
}

static uint32_t wanted_events(const struct tg_conn *conn) {
  uint32_t wanted = tg_stream_pending(&conn->stream) > 0 ? EPOLLOUT : 0;
  bool reads = !conn->stream.ended;
  if (conn->phase == TG_PHASE_OPEN) {
    reads = reads && !conn->finishing && conn->next != TG_APP_WRITE;
  }
  return wanted | (reads ? EPOLLIN | EPOLLRDHUP : 0);
}

// Makes epoll watch for what the connection waits for. An event that is not wanted is dropped only when it has been
// reported, so that a response that is written while the peer is silent costs no system call here.
static bool settle_interest(struct tg_conn *conn, uint32_t events) {
  uint32_t wanted = wanted_events(conn);
  if (conn->watched) {
    uint32_t missing = wanted & ~conn->interest;
    uint32_t unwanted = conn->interest & ~wanted & (events | EPOLLOUT);
    if (missing == 0 && unwanted == 0) {
      return true;
    }
  }
  struct epoll_event event = {.events = wanted, .data.ptr = conn};
  int operation = conn->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(conn->shard->epoll_fd, operation, conn->stream.fd, &event) != 0) {
    return false;
  }
  conn->watched = true;
  conn->interest = wanted;
  return true;
}

void tg_conn_run(struct tg_conn *conn, uint32_t events) {
  assert(conn->phase != TG_PHASE_GONE);
  tg_link_remove(&conn->again);
  tg_stream_begin_run(&conn->stream, events);
  if (conn->phase == TG_PHASE_HANDSHAKE) {
    shake_hands(conn);
  }
  if (conn->phase == TG_PHASE_OPEN) {
    tg_conn_serve(conn);
  }
  if (conn->phase == TG_PHASE_DRAIN) {
    tg_conn_drain(conn);
  }
  ERR_clear_error();
  if (conn->phase == TG_PHASE_GONE) {
    return;
  }
  if (conn->phase == TG_PHASE_OPEN) {
    renew_open_deadline(conn);
  }
  tg_stream_end_run(&conn->stream);
  if (conn->stream.throttled) {
    tg_list_append(&conn->shard->again, &conn->again);
  }
  if (!settle_interest(conn, events)) {
    tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
  }
}

void tg_conn_expire(struct tg_conn *conn) {
  // Nothing is queued, so the peer has all there is: say so, as far as the socket takes it.
  if (conn->phase == TG_PHASE_OPEN && tg_stream_pending(&conn->stream) == 0 && conn->next != TG_APP_WRITE) {
    tg_stream_begin_run(&conn->stream, 0);
    tg_conn_say_goodbye(conn);
    tg_stream_flush(&conn->stream);
  }
  tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_DEADLINE);
}

void tg_conn_wind_down(struct tg_conn *conn) {
  switch (conn->phase) {
    case TG_PHASE_HANDSHAKE:
      // A peer that has said nothing loses nothing.
      if (conn->stream.received == 0) {
        tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
      }
      return;
    case TG_PHASE_OPEN:
      conn->ask_finish = true;
      tg_conn_run(conn, EPOLLIN);
      return;
    case TG_PHASE_DRAIN:
      return;
    case TG_PHASE_GONE:
      break;
  }
  assert(false);
}

void tg_conn_cut(struct tg_conn *conn) {
  if (conn->phase == TG_PHASE_HANDSHAKE) {
    // Its own deadline has not been reached, so it is not one of those that timed out.
    tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
  } else {
    tg_conn_expire(conn);
  }
}

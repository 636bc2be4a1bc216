#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness/accept/accept.h"
#include "harness/accept/acceptor.h"
#include "harness/accept/clock.h"
#include "harness/accept/conn.h"
#include "harness/accept/shard_state.h"
#include "harness/accept/stream.h"

enum {
  kEventsPerTurn = 64,
  kMaxDeadlineMs = 86400000,
  kMaxConnections = 1000000,
};

void tg_shard_config_default(struct tg_shard_config *out) {
  *out = (struct tg_shard_config){
      .tls_listener = -1,
      .http_listener = -1,
      .quickack = TG_QUICKACK_REARM,
      .deadlines =
          {.handshake_ms = 10000, .request_ms = 30000, .idle_ms = 60000, .response_ms = 30000, .drain_ms = 5000},
      .max_connections = 10000,
  };
}

static bool check_deadline(const char *name, uint32_t ms, struct tg_error *err) {
  if (ms < 1 || ms > kMaxDeadlineMs) {
    tg_error_set(err, "the %s deadline is 1 to %d ms, not %" PRIu32, name, kMaxDeadlineMs, ms);
    return false;
  }
  return true;
}

static bool check_config(const struct tg_shard_config *config, struct tg_error *err) {
  const struct tg_deadlines *deadlines = &config->deadlines;
  if (!check_deadline("handshake", deadlines->handshake_ms, err) ||
      !check_deadline("request", deadlines->request_ms, err) || !check_deadline("idle", deadlines->idle_ms, err) ||
      !check_deadline("response", deadlines->response_ms, err) || !check_deadline("drain", deadlines->drain_ms, err)) {
    return false;
  }
  if (config->max_connections < 1 || config->max_connections > kMaxConnections) {
    tg_error_set(err, "a shard holds 1 to %d connections, not %" PRIu32, kMaxConnections, config->max_connections);
    return false;
  }
  if (config->app == NULL) {
    tg_error_set(err, "a shard needs an application");
    return false;
  }
  if (config->tls_listener >= 0 && config->tls == NULL) {
    tg_error_set(err, "a shard with a TLS listener needs a TLS context");
    return false;
  }
  return true;
}

static void init(struct tg_shard *shard, const struct tg_shard_config *config) {
  const uint32_t length_ms[TG_DEADLINE_KINDS] = {
      [TG_DEADLINE_HANDSHAKE] = config->deadlines.handshake_ms, [TG_DEADLINE_REQUEST] = config->deadlines.request_ms,
      [TG_DEADLINE_IDLE] = config->deadlines.idle_ms,           [TG_DEADLINE_RESPONSE] = config->deadlines.response_ms,
      [TG_DEADLINE_DRAIN] = config->deadlines.drain_ms,
  };
  shard->config = *config;
  shard->wake = TG_SOURCE_WAKE;
  shard->acceptors[0] = (struct tg_acceptor){.source = TG_SOURCE_LISTENER, .fd = config->tls_listener, .tls = true};
  shard->acceptors[1] = (struct tg_acceptor){.source = TG_SOURCE_LISTENER, .fd = config->http_listener};
  shard->now_ns = tg_clock_now_ns();
  tg_deadline_lists_init(&shard->deadlines, length_ms);
  tg_block_pool_init(&shard->in_pool, TG_STREAM_IN_BLOCK);
  tg_block_pool_init(&shard->out_pool, TG_STREAM_OUT_BLOCK);
  tg_list_init(&shard->conns);
  tg_list_init(&shard->again);
  tg_list_init(&shard->graves);
}

static bool watch(struct tg_shard *shard) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = &shard->wake};
  if (epoll_ctl(shard->epoll_fd, EPOLL_CTL_ADD, shard->wake_fd, &event) != 0) {
    return false;
  }
  for (size_t i = 0; i < 2; i++) {
    if (shard->acceptors[i].fd >= 0 && !tg_acceptor_watch(shard, &shard->acceptors[i])) {
      return false;
    }
  }
  return true;
}

struct tg_shard *tg_shard_create(const struct tg_shard_config *config, struct tg_error *err) {
  if (!check_config(config, err)) {
    return NULL;
  }
  struct tg_shard *shard = calloc(1, sizeof(*shard));
  if (shard == NULL) {
    tg_error_set(err, "no memory for a shard");
    return NULL;
  }
  init(shard, config);
  shard->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  shard->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (shard->epoll_fd < 0 || shard->wake_fd < 0 || !watch(shard)) {
    tg_error_set(err, "cannot set up an event loop: %s", strerror(errno));
    // The listeners stay the caller's.
    shard->acceptors[0].fd = -1;
    shard->acceptors[1].fd = -1;
    tg_shard_destroy(shard);
    return NULL;
  }
  return shard;
}

static void look_at_clock(struct tg_shard *shard) {
  uint64_t now_ns = tg_clock_now_ns();
  assert(now_ns >= shard->now_ns);
  shard->now_ns = now_ns;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns) {
  return a_ns < b_ns ? a_ns : b_ns;
}

// Returns how long epoll may wait, in its own terms.
static int wait_ms(struct tg_shard *shard, int timeout_ms) {
  if (timeout_ms == 0 || !tg_list_empty(&shard->again)) {
    return 0;
  }
  uint64_t next_ns = tg_deadline_next(&shard->deadlines);
  for (size_t i = 0; i < 2; i++) {
    if (shard->acceptors[i].paused) {
      next_ns = earlier(next_ns, shard->acceptors[i].retry_ns);
    }
  }
  if (shard->winding_down && shard->num_conns > 0) {
    next_ns = earlier(next_ns, shard->cut_ns);
  }
  if (next_ns == TG_DEADLINE_NEVER) {
    return timeout_ms;
  }
  look_at_clock(shard);
  uint64_t left_ns = next_ns > shard->now_ns ? next_ns - shard->now_ns : 0;
  // Rounded up: woken early, the loop would spin through the last millisecond.
  uint64_t left_ms = (left_ns + TG_NS_PER_MS - 1) / TG_NS_PER_MS;
  // No deadline is further away than fits: see kMaxDeadlineMs. A grace may be.
  int bounded_ms = left_ms > kMaxDeadlineMs ? kMaxDeadlineMs : (int)left_ms;
  return timeout_ms < 0 || bounded_ms < timeout_ms ? bounded_ms : timeout_ms;
}

static void handle_event(struct tg_shard *shard, const struct epoll_event *event) {
  const enum tg_source *source = event->data.ptr;
  switch (*source) {
    case TG_SOURCE_CONN: {
      struct tg_conn *conn = event->data.ptr;
      if (conn->phase != TG_PHASE_GONE) {
        tg_conn_run(conn, event->events);
      }
      return;
    }
    case TG_SOURCE_LISTENER: {
      // New connections come after those that are here.
      struct tg_acceptor *acceptor = event->data.ptr;
      acceptor->ready = true;
      return;
    }
    case TG_SOURCE_WAKE: {
      uint64_t wakes;
      ssize_t got = read(shard->wake_fd, &wakes, sizeof(wakes));
      // Nothing there: it has been read already.
      (void)got;
      return;
    }
  }
}

static void end_expired(struct tg_shard *shard) {
  struct tg_deadline *deadline;
  while ((deadline = tg_deadline_take_expired(&shard->deadlines, shard->now_ns)) != NULL) {
    tg_conn_expire(TG_CONTAINER(deadline, struct tg_conn, deadline));
  }
  if (shard->winding_down && shard->now_ns >= shard->cut_ns) {
    while (!tg_list_empty(&shard->conns)) {
      tg_conn_cut(TG_CONTAINER(shard->conns.next, struct tg_conn, member));
    }
  }
}

static void clear_graves(struct tg_shard *shard) {
  struct tg_link *at = shard->graves.next;
  while (at != &shard->graves) {
    struct tg_conn *conn = TG_CONTAINER(at, struct tg_conn, member);
    at = at->next;
    assert(conn->phase == TG_PHASE_GONE);
    assert(!tg_link_is_linked(&conn->again));
    free(conn);
  }
  tg_list_init(&shard->graves);
}

int tg_shard_turn(struct tg_shard *shard, int timeout_ms) {
  struct epoll_event events[kEventsPerTurn];
  ERR_clear_error();
  int num_events = epoll_wait(shard->epoll_fd, events, kEventsPerTurn, wait_ms(shard, timeout_ms));
  if (num_events < 0) {
    if (errno != EINTR) {
      return -1;
    }
    num_events = 0;
  }
  look_at_clock(shard);
  shard->closed_some = false;
  // A connection that an event runs leaves this list, so none runs twice in a turn.
  struct tg_link due;
  tg_list_init(&due);
  tg_list_move_all(&due, &shard->again);
  for (int i = 0; i < num_events; i++) {
    handle_event(shard, &events[i]);
  }
  while (!tg_list_empty(&due)) {
    tg_conn_run(TG_CONTAINER(due.next, struct tg_conn, again), 0);
  }
  look_at_clock(shard);
  for (size_t i = 0; i < 2; i++) {
    if (shard->acceptors[i].ready) {
      tg_acceptor_take(shard, &shard->acceptors[i]);
    }
  }
  look_at_clock(shard);
  end_expired(shard);
  for (size_t i = 0; i < 2; i++) {
    tg_acceptor_resume(shard, &shard->acceptors[i]);
  }
  clear_graves(shard);
  tg_shard_post(shard);
  if (shard->listener_error != 0) {
    errno = shard->listener_error;
    return -1;
  }
  return num_events;
}

void tg_shard_wind_down(struct tg_shard *shard, uint32_t grace_ms) {
  look_at_clock(shard);
  shard->cut_ns = shard->now_ns + grace_ms * TG_NS_PER_MS;
  if (shard->winding_down) {
    return;
  }
  shard->winding_down = true;
  for (size_t i = 0; i < 2; i++) {
    tg_acceptor_close(&shard->acceptors[i]);
  }
  struct tg_link here;
  tg_list_init(&here);
  tg_list_move_all(&here, &shard->conns);
  while (!tg_list_empty(&here)) {
    struct tg_conn *conn = TG_CONTAINER(here.next, struct tg_conn, member);
    tg_link_remove(&conn->member);
    tg_list_append(&shard->conns, &conn->member);
    tg_conn_wind_down(conn);
  }
  clear_graves(shard);
  tg_shard_post(shard);
}

size_t tg_shard_connections(const struct tg_shard *shard) {
  return shard->num_conns;
}

void tg_shard_wake(struct tg_shard *shard) {
  const int saved = errno;
  const uint64_t one = 1;
  ssize_t put = write(shard->wake_fd, &one, sizeof(one));
  // Refused only when the count is at its limit: then it wakes already.
  (void)put;
  errno = saved;
}

void tg_shard_counters(const struct tg_shard *shard, struct tg_counters *out) {
  tg_counter_board_read(&shard->board, out);
}

void tg_shard_destroy(struct tg_shard *shard) {
  if (shard == NULL) {
    return;
  }
  while (!tg_list_empty(&shard->conns)) {
    tg_conn_enter(TG_CONTAINER(shard->conns.next, struct tg_conn, member), TG_PHASE_GONE, TG_CAUSE_ERROR);
  }
  clear_graves(shard);
  for (size_t i = 0; i < 2; i++) {
    tg_acceptor_close(&shard->acceptors[i]);
  }
  if (shard->epoll_fd >= 0) {
    close(shard->epoll_fd);
  }
  if (shard->wake_fd >= 0) {
    close(shard->wake_fd);
  }
  tg_block_pool_clear(&shard->in_pool);
  tg_block_pool_clear(&shard->out_pool);
  free(shard);
}

// Connections: how they come to be, what poll says of them, and how they end.
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "harness/kernel/state.h"

#define FIRST_PEER_PORT 49152u
#define NUM_PEER_PORTS  (65536u - FIRST_PEER_PORT)

void tg_loopback(sa_family_t family, uint8_t out[16]) {
  memset(out, 0, 16);
  if (family == AF_INET6) {
    memcpy(out, &in6addr_loopback, sizeof(in6addr_loopback));
  } else {
    const struct in_addr v4 = {.s_addr = htonl(INADDR_LOOPBACK)};
    memcpy(out, &v4, sizeof(v4));
  }
}

uint16_t tg_connection_peer_port(const struct tg_connection *conn) {
  return (uint16_t)(FIRST_PEER_PORT + conn->number % NUM_PEER_PORTS);
}

// tcp_poll.
uint32_t tg_connection_poll(const struct tg_connection *conn) {
  const struct tg_tcp *end = conn->end;
  bool no_more_in = tg_tcp_read_shut(end);
  bool no_more_out = tg_tcp_write_shut(end);
  uint32_t events = 0;
  if (no_more_in && no_more_out) {
    events |= EPOLLHUP;
  }
  if (no_more_in) {
    events |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
  }
  if (tg_tcp_unread(end) > 0) {
    events |= EPOLLIN | EPOLLRDNORM;
  }
  if (no_more_out || tg_tcp_writable(end)) {
    events |= EPOLLOUT | EPOLLWRNORM;
  }
  if (tg_tcp_error(end) != 0) {
    events |= EPOLLERR;
  }
  return events;
}

void tg_connection_notify(void *context, struct tg_tcp *end, unsigned changes) {
  struct tg_connection *conn = context;
  if (conn->file == NULL) {
    return;
  }
  if ((changes & TG_TCP_READABLE) != 0) {
    // tcp_fin and tcp_reset wake by sk_state_change, which names no event and so reaches every watcher.
    bool ended = tg_tcp_fin_received(end) || tg_tcp_rst_received(end);
    tg_file_wake(conn->kernel, conn->file, ended ? 0 : EPOLLIN | EPOLLPRI | EPOLLRDNORM | EPOLLRDBAND);
  }
  if ((changes & TG_TCP_WRITABLE) != 0) {
    tg_file_wake(conn->kernel, conn->file, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
  }
}

// Whether an RST now would take from a peer that reads what was sent to it.
static bool rst_cuts(const struct tg_connection *conn) {
  bool both_ended = tg_tcp_fin_received(conn->end) && tg_tcp_fin_sent(conn->end);
  if (conn->unread_by_design || both_ended || tg_tcp_rst_received(conn->end) || tg_tcp_closed(conn->other)) {
    return false;
  }
  return tg_tcp_consumed(conn->other) < tg_tcp_written(conn->end);
}

void tg_connection_close(struct tg_kernel *kernel, struct tg_connection *conn) {
  assert(conn->state == TG_CONNECTION_ACCEPTED);
  const struct linger *linger = &conn->options.linger;
  bool abortive = linger->l_onoff != 0 && linger->l_linger == 0;
  if ((abortive || tg_tcp_unread(conn->end) > 0) && rst_cuts(conn)) {
    tg_breach(kernel, "P6",
              "close(%d) sends an RST with %zu bytes unread, and the peer has read %llu of the %llu bytes sent to it",
              conn->file->fd, tg_tcp_unread(conn->end), (unsigned long long)tg_tcp_consumed(conn->other),
              (unsigned long long)tg_tcp_written(conn->end));
  }
  if (linger->l_onoff != 0 && linger->l_linger != 0 && tg_tcp_unacked(conn->end) > 0) {
    // tcp_close waits, O_NONBLOCK or not.
    tg_breach(kernel, "blocks", "close(%d) lingers for %d s", conn->file->fd, linger->l_linger);
  }
  conn->state = TG_CONNECTION_CLOSED;
  conn->file = NULL;
  if (abortive) {
    tg_tcp_reset(conn->end);
  } else {
    tg_tcp_close(conn->end);
  }
}

static void arrive(void *context, uint64_t number) {
  struct tg_connection *conn = context;
  // Another connection may have the place by now, or its listener may be closed.
  if (conn->number == number && conn->state == TG_CONNECTION_ARRIVING) {
    tg_listener_join(conn);
  }
}

// Returns a free place, or the one whose connection has been over for longest.
static struct tg_connection *take_place(struct tg_kernel *kernel) {
  if (kernel->connections_used < TG_KERNEL_PAIRS_MAX) {
    return &kernel->connections[kernel->connections_used++];
  }
  struct tg_connection *oldest = NULL;
  for (uint32_t i = 0; i < kernel->connections_used; i++) {
    struct tg_connection *conn = &kernel->connections[i];
    if (conn->state == TG_CONNECTION_NONE) {
      return conn;
    }
    bool over = conn->state == TG_CONNECTION_CLOSED && tg_tcp_pair_finished(conn->pair);
    if (over && (oldest == NULL || conn->number < oldest->number)) {
      oldest = conn;
    }
  }
  if (oldest != NULL) {
    tg_tcp_pair_destroy(oldest->pair);
    oldest->pair = NULL;
    oldest->state = TG_CONNECTION_NONE;
  }
  return oldest;
}

// A mixing of the connection's number (Knuth's multiplicative hash), as jhash mixes addresses and ports.
static uint32_t hash_of(uint32_t number) {
  uint32_t hash = number * UINT32_C(2654435761);
  return hash ^ hash >> 15;
}

struct tg_tcp *tg_kernel_connect(struct tg_kernel *kernel, uint16_t port, const struct tg_tcp_options *options) {
  assert(!kernel->entered);
  uint32_t number = kernel->connections_made + 1;
  struct tg_file *listener = tg_listener_choose(kernel, port, hash_of(number));
  // sk_acceptq_is_full: more than the backlog, not as many.
  if (listener == NULL || listener->socket.pending > listener->socket.backlog) {
    return NULL;
  }
  struct tg_connection *conn = take_place(kernel);
  if (conn == NULL) {
    return NULL;
  }
  struct tg_socket *socket = &listener->socket;
  struct tg_tcp_options link = options == NULL ? kernel->options.tcp : *options;
  if (socket->send_buffer != 0) {
    link.send_buffer[TG_TCP_SERVER] = socket->send_buffer;
  }
  if (socket->receive_buffer != 0) {
    link.window[TG_TCP_SERVER] = socket->receive_buffer;
  }
  struct tg_tcp_pair *pair = tg_tcp_pair_create(&kernel->sim, &kernel->trace, number, &link,
                                                socket->pingpong ? link.pingpong_threshold : 0, socket->nodelay);
  if (pair == NULL) {
    conn->state = TG_CONNECTION_NONE;
    return NULL;
  }
  kernel->connections_made = number;
  *conn = (struct tg_connection){
      .state = TG_CONNECTION_ARRIVING,
      .kernel = kernel,
      .number = number,
      .pair = pair,
      .end = tg_tcp_end(pair, TG_TCP_SERVER),
      .other = tg_tcp_end(pair, TG_TCP_CLIENT),
      .port = port,
      .listener = listener,
      .options = *socket,
  };
  if (socket->cork) {
    tg_tcp_set_cork(conn->end, true);
  }
  tg_tcp_set_notify(conn->end, tg_connection_notify, conn);
  socket->pending++;
  tg_sim_post(&kernel->sim, TG_SIM_NETWORK, kernel->sim.now_ns + link.delay_ns, arrive, conn, number);
  return conn->other;
}

void tg_connections_reset(struct tg_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->connections_used; i++) {
    struct tg_connection *conn = &kernel->connections[i];
    if (conn->pair != NULL) {
      tg_tcp_pair_destroy(conn->pair);
    }
    conn->pair = NULL;
    conn->state = TG_CONNECTION_NONE;
  }
  kernel->connections_used = 0;
  kernel->connections_made = 0;
}

static struct tg_connection *connection_of(const struct tg_kernel *kernel, struct tg_tcp *client) {
  for (uint32_t i = 0; i < kernel->connections_used; i++) {
    const struct tg_connection *conn = &kernel->connections[i];
    if (conn->state != TG_CONNECTION_NONE && conn->other == client) {
      return (struct tg_connection *)conn;
    }
  }
  return NULL;
}

int tg_kernel_socket(const struct tg_kernel *kernel, struct tg_tcp *client) {
  const struct tg_connection *conn = connection_of(kernel, client);
  return conn != NULL && conn->state == TG_CONNECTION_ACCEPTED ? conn->file->fd : -1;
}

bool tg_kernel_accepted(const struct tg_kernel *kernel, struct tg_tcp *client, uint64_t *out_at_ns) {
  const struct tg_connection *conn = connection_of(kernel, client);
  if (conn == NULL || !conn->was_accepted) {
    return false;
  }
  *out_at_ns = conn->accepted_at_ns;
  return true;
}

void tg_kernel_set_reads(struct tg_kernel *kernel, struct tg_tcp *client, bool reads) {
  struct tg_connection *conn = connection_of(kernel, client);
  assert(conn != NULL);
  conn->unread_by_design = !reads;
}

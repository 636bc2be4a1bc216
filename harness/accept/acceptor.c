#include "harness/accept/acceptor.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/accept/clock.h"
#include "harness/accept/conn.h"
#include "harness/accept/listener.h"
#include "harness/accept/quickack.h"

// How many accept4() calls a turn makes at most. Each connection may cost a handshake's arithmetic at once, and the
// connections that are open wait for it.
enum { kAcceptsPerTurn = 16 };

// How long a listener is left alone when no connection is closed here: another shard or process may free what is short.
enum { kPauseMs = 100 };

static bool set_interest(struct tg_shard *shard, struct tg_acceptor *acceptor, int operation, uint32_t interest) {
  struct epoll_event event = {.events = interest, .data.ptr = acceptor};
  return epoll_ctl(shard->epoll_fd, operation, acceptor->fd, &event) == 0;
}

bool tg_acceptor_watch(struct tg_shard *shard, struct tg_acceptor *acceptor) {
  // The other direction's rule: a response never waits behind our own Nagle for the client's ACK. Accepted sockets
  // inherit the option (Linux: tcp_create_openreq_child copies the listener's tcp_sock), which saves each of them a
  // system call.
  const int on = 1;
  if (setsockopt(acceptor->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) {
    return false;
  }
  return set_interest(shard, acceptor, EPOLL_CTL_ADD, EPOLLIN);
}

static void give_up(struct tg_shard *shard, struct tg_acceptor *acceptor, int error) {
  shard->listener_error = error;
  tg_acceptor_close(acceptor);
}

static void pause_listener(struct tg_shard *shard, struct tg_acceptor *acceptor) {
  shard->counters.accept_paused++;
  if (!set_interest(shard, acceptor, EPOLL_CTL_MOD, 0)) {
    give_up(shard, acceptor, errno);
    return;
  }
  acceptor->paused = true;
  acceptor->retry_ns = shard->now_ns + kPauseMs * TG_NS_PER_MS;
}

void tg_acceptor_resume(struct tg_shard *shard, struct tg_acceptor *acceptor) {
  if (!acceptor->paused || (!shard->closed_some && shard->now_ns < acceptor->retry_ns)) {
    return;
  }
  if (!set_interest(shard, acceptor, EPOLL_CTL_MOD, EPOLLIN)) {
    give_up(shard, acceptor, errno);
    return;
  }
  acceptor->paused = false;
}

static void begin(struct tg_shard *shard, int fd, bool tls) {
  tg_quickack_at(TG_QUICKACK_AT_ACCEPT, shard->config.quickack, fd, &shard->counters);
  struct tg_conn *conn = tg_conn_new(shard, fd, tls);
  if (conn != NULL) {
    tg_conn_run(conn, EPOLLIN | EPOLLOUT);
  }
}

void tg_acceptor_take(struct tg_shard *shard, struct tg_acceptor *acceptor) {
  acceptor->ready = false;
  for (int i = 0; i < kAcceptsPerTurn && acceptor->fd >= 0; i++) {
    int fd = accept4(acceptor->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      begin(shard, fd, acceptor->tls);
      continue;
    }
    int error = errno;
    switch (tg_accept_judge(error)) {
      case TG_ACCEPT_NONE:
        return;
      case TG_ACCEPT_SKIP:
        shard->counters.accept_skipped++;
        break;
      case TG_ACCEPT_PAUSE:
        pause_listener(shard, acceptor);
        return;
      case TG_ACCEPT_BROKEN:
        give_up(shard, acceptor, error);
        return;
    }
  }
}

void tg_acceptor_close(struct tg_acceptor *acceptor) {
  if (acceptor->fd >= 0) {
    close(acceptor->fd);
    acceptor->fd = -1;
  }
  acceptor->paused = false;
  acceptor->ready = false;
}

// listen and accept: the accept queue, its limit, and which listener of a SO_REUSEPORT group a connection goes to.
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "harness/kernel/state.h"
#include "harness/kernel/sys.h"

static struct tg_port *find_port(struct tg_kernel *kernel, uint16_t port) {
  for (uint32_t i = 0; i < kernel->num_ports; i++) {
    if (kernel->ports[i].port == port) {
      return &kernel->ports[i];
    }
  }
  return NULL;
}

static struct tg_port *make_port(struct tg_kernel *kernel, uint16_t port) {
  struct tg_port *found = find_port(kernel, port);
  if (found == NULL) {
    assert(kernel->num_ports < TG_PORTS_MAX);
    found = &kernel->ports[kernel->num_ports++];
    *found = (struct tg_port){.port = port};
  }
  return found;
}

uint64_t tg_kernel_accepts(const struct tg_kernel *kernel, uint16_t port) {
  for (uint32_t i = 0; i < kernel->num_ports; i++) {
    if (kernel->ports[i].port == port) {
      return kernel->ports[i].accepts;
    }
  }
  return 0;
}

static long start_listening(struct tg_kernel *kernel, int fd, int backlog) {
  struct tg_file *file = tg_file_get(kernel, fd, "listen");
  if (file == NULL) {
    return -EBADF;
  }
  if (file->kind == TG_FILE_CONN) {
    return -EINVAL;
  }
  if (file->kind != TG_FILE_SOCKET && file->kind != TG_FILE_LISTENER) {
    return -ENOTSOCK;
  }
  struct tg_socket *socket = &file->socket;
  // __sys_listen: as unsigned, so that a negative backlog is the most.
  uint32_t wanted = (uint32_t)backlog;
  socket->backlog = wanted < kernel->options.backlog_max ? wanted : kernel->options.backlog_max;
  if (file->kind == TG_FILE_LISTENER) {
    return 0;
  }
  if (!socket->bound) {
    tg_breach(kernel, "unmodelled", "listen(%d) before bind", fd);
    return -EINVAL;
  }
  // inet_csk_listen_start asks for the port again: another may listen on it by now.
  if (tg_socket_conflicts(kernel, file)) {
    return -EADDRINUSE;
  }
  make_port(kernel, socket->port);
  file->kind = TG_FILE_LISTENER;
  socket->group_order = kernel->group_orders++;
  return 0;
}

long tg_sys_listen(struct tg_kernel *kernel, int fd, int backlog) {
  int injected = tg_call_begin(kernel, TG_CALL_LISTEN, NULL);
  long result = injected != 0 ? -injected : start_listening(kernel, fd, backlog);
  return tg_call_end(kernel, result, "listen(%d, %d)", fd, backlog);
}

// reuseport_select_sock: by a hash of the connection, over the group in the order in which its sockets began to listen.
struct tg_file *tg_listener_choose(struct tg_kernel *kernel, uint16_t port, uint32_t hash) {
  struct tg_file *group[TG_KERNEL_FDS_MAX];
  uint32_t num = 0;
  for (uint32_t i = 0; i < kernel->files_used; i++) {
    struct tg_file *file = &kernel->files[i];
    if (file->kind != TG_FILE_LISTENER || file->socket.port != port) {
      continue;
    }
    uint32_t at = num++;
    for (; at > 0 && group[at - 1]->socket.group_order > file->socket.group_order; at--) {
      group[at] = group[at - 1];
    }
    group[at] = file;
  }
  // reciprocal_scale.
  return num == 0 ? NULL : group[(uint64_t)hash * num >> 32];
}

void tg_listener_join(struct tg_connection *conn) {
  assert(conn->state == TG_CONNECTION_ARRIVING);
  struct tg_socket *socket = &conn->listener->socket;
  conn->state = TG_CONNECTION_QUEUED;
  conn->next = NULL;
  if (socket->queue_tail != NULL) {
    socket->queue_tail->next = conn;
  } else {
    socket->queue_head = conn;
  }
  socket->queue_tail = conn;
  tg_file_wake(conn->kernel, conn->listener, EPOLLIN | EPOLLRDNORM);
}

// inet_csk_listen_stop: whoever has not been accepted is reset.
void tg_listener_close(struct tg_kernel *kernel, struct tg_file *file) {
  for (uint32_t i = 0; i < kernel->connections_used; i++) {
    struct tg_connection *conn = &kernel->connections[i];
    bool waits = conn->state == TG_CONNECTION_ARRIVING || conn->state == TG_CONNECTION_QUEUED;
    if (waits && conn->listener == file) {
      conn->state = TG_CONNECTION_CLOSED;
      conn->listener = NULL;
      tg_tcp_reset(conn->end);
    }
  }
}

static long take(struct tg_kernel *kernel, int fd, struct sockaddr *address, socklen_t *len, int flags) {
  if ((flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0) {
    return -EINVAL;
  }
  struct tg_file *listener = tg_file_get(kernel, fd, "accept4");
  if (listener == NULL) {
    return -EBADF;
  }
  // __sys_accept4_file takes the new descriptor before it looks at the queue, or at what `fd` is.
  if (!tg_file_room(kernel)) {
    return -EMFILE;
  }
  if (listener->kind == TG_FILE_EPOLL || listener->kind == TG_FILE_EVENTFD || listener->kind == TG_FILE_TIMERFD) {
    return -ENOTSOCK;
  }
  if (listener->kind != TG_FILE_LISTENER) {
    return -EINVAL;
  }
  struct tg_socket *socket = &listener->socket;
  struct tg_connection *conn = socket->queue_head;
  if (conn == NULL) {
    return tg_would_block(kernel, listener, false, "accept4");
  }
  if (address != NULL && len == NULL) {
    return -EFAULT;
  }
  socket->queue_head = conn->next;
  if (conn->next == NULL) {
    socket->queue_tail = NULL;
  }
  assert(socket->pending > 0);
  socket->pending--;
  struct tg_file *file = tg_file_open(kernel, TG_FILE_CONN, (flags & SOCK_NONBLOCK) != 0, (flags & SOCK_CLOEXEC) != 0);
  assert(file != NULL);
  file->conn = conn;
  conn->state = TG_CONNECTION_ACCEPTED;
  conn->listener = NULL;
  conn->next = NULL;
  conn->file = file;
  conn->was_accepted = true;
  conn->accepted_at_ns = kernel->sim.now_ns;
  find_port(kernel, conn->port)->accepts++;
  tg_call_progress(kernel);
  if (address != NULL) {
    uint8_t loopback[16];
    tg_loopback(conn->options.family, loopback);
    tg_address_write(conn->options.family, loopback, tg_connection_peer_port(conn), address, len);
  }
  return file->fd;
}

long tg_sys_accept(struct tg_kernel *kernel, int fd, struct sockaddr *address, socklen_t *len, int flags) {
  int injected = tg_call_begin(kernel, TG_CALL_ACCEPT, NULL);
  long result = injected != 0 ? -injected : take(kernel, fd, address, len, flags);
  if (result >= 0) {
    return tg_call_end(kernel, result, "accept4(%d) of c%u", fd, tg_file_at(kernel, (int)result)->conn->number);
  }
  return tg_call_end(kernel, result, "accept4(%d)", fd);
}

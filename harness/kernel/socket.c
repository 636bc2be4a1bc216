// socket, bind, getsockname, getpeername: what a socket is before it listens.
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "harness/kernel/state.h"
#include "harness/kernel/sys.h"

// The first of net.ipv4.ip_local_port_range.
#define FIRST_EPHEMERAL_PORT 32768u

static bool is_socket(const struct tg_file *file) {
  return file->kind == TG_FILE_SOCKET || file->kind == TG_FILE_LISTENER || file->kind == TG_FILE_CONN;
}

static long open_socket(struct tg_kernel *kernel, int family, int type, int protocol) {
  int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
  if ((family != AF_INET && family != AF_INET6) || kind != SOCK_STREAM || (protocol != 0 && protocol != IPPROTO_TCP)) {
    tg_breach(kernel, "unmodelled", "socket(%d, %d, %d): only TCP is", family, kind, protocol);
    return -EAFNOSUPPORT;
  }
  struct tg_file *file = tg_file_open(kernel, TG_FILE_SOCKET, (type & SOCK_NONBLOCK) != 0, (type & SOCK_CLOEXEC) != 0);
  if (file == NULL) {
    return -EMFILE;
  }
  file->socket.family = (sa_family_t)family;
  return file->fd;
}

long tg_sys_socket(struct tg_kernel *kernel, int family, int type, int protocol) {
  int injected = tg_call_begin(kernel, TG_CALL_SOCKET, NULL);
  long result = injected != 0 ? -injected : open_socket(kernel, family, type, protocol);
  return tg_call_end(kernel, result, "socket(%s, %#x, %d)", family == AF_INET6 ? "AF_INET6" : "AF_INET", (unsigned)type,
                     protocol);
}

struct parsed_address {
  uint8_t bytes[16];
  bool any;
  uint16_t port;
};

static long parse_address(const struct tg_socket *socket, const struct sockaddr *address, socklen_t len,
                          struct parsed_address *out) {
  *out = (struct parsed_address){0};
  if (address == NULL) {
    return -EFAULT;
  }
  // inet_bind: the length comes before the family.
  if (len < (socket->family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6))) {
    return -EINVAL;
  }
  if (address->sa_family != socket->family) {
    return -EAFNOSUPPORT;
  }
  if (socket->family == AF_INET) {
    struct sockaddr_in v4;
    memcpy(&v4, address, sizeof(v4));
    memcpy(out->bytes, &v4.sin_addr, sizeof(v4.sin_addr));
    out->any = v4.sin_addr.s_addr == htonl(INADDR_ANY);
    out->port = ntohs(v4.sin_port);
  } else {
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof(v6));
    memcpy(out->bytes, &v6.sin6_addr, sizeof(v6.sin6_addr));
    out->any = memcmp(&v6.sin6_addr, &in6addr_any, sizeof(in6addr_any)) == 0;
    out->port = ntohs(v6.sin6_port);
  }
  return 0;
}

static bool same_address(const struct tg_socket *a, const struct tg_socket *b) {
  if (a->any_address || b->any_address) {
    return true;
  }
  return a->family == b->family && memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

// inet_csk_bind_conflict.
bool tg_socket_conflicts(const struct tg_kernel *kernel, const struct tg_file *file) {
  const struct tg_socket *mine = &file->socket;
  for (uint32_t i = 0; i < kernel->files_used; i++) {
    const struct tg_file *other = &kernel->files[i];
    if (other == file || (other->kind != TG_FILE_SOCKET && other->kind != TG_FILE_LISTENER)) {
      continue;
    }
    const struct tg_socket *theirs = &other->socket;
    if (!theirs->bound || theirs->port != mine->port || !same_address(mine, theirs)) {
      continue;
    }
    bool shared = mine->reuse_address && theirs->reuse_address && other->kind != TG_FILE_LISTENER;
    shared = shared || (mine->reuse_port && theirs->reuse_port);
    if (!shared) {
      return true;
    }
  }
  return false;
}

static long bind_socket(struct tg_kernel *kernel, int fd, const struct sockaddr *address, socklen_t len) {
  struct tg_file *file = tg_file_get(kernel, fd, "bind");
  if (file == NULL) {
    return -EBADF;
  }
  if (!is_socket(file)) {
    return -ENOTSOCK;
  }
  if (file->kind != TG_FILE_SOCKET || file->socket.bound) {
    return -EINVAL;
  }
  struct tg_socket *socket = &file->socket;
  struct parsed_address parsed;
  long result = parse_address(socket, address, len, &parsed);
  if (result != 0) {
    return result;
  }
  memcpy(socket->address, parsed.bytes, sizeof(socket->address));
  socket->any_address = parsed.any;
  socket->port = parsed.port;
  if (parsed.port != 0) {
    if (tg_socket_conflicts(kernel, file)) {
      return -EADDRINUSE;
    }
  } else {
    do {
      socket->port = (uint16_t)(FIRST_EPHEMERAL_PORT + kernel->next_port++ % (65536u - FIRST_EPHEMERAL_PORT));
    } while (tg_socket_conflicts(kernel, file));
  }
  socket->bound = true;
  return 0;
}

long tg_sys_bind(struct tg_kernel *kernel, int fd, const struct sockaddr *address, socklen_t len) {
  int injected = tg_call_begin(kernel, TG_CALL_BIND, NULL);
  long result = injected != 0 ? -injected : bind_socket(kernel, fd, address, len);
  const struct tg_file *file = tg_file_at(kernel, fd);
  return tg_call_end(kernel, result, "bind(%d, port %u)", fd,
                     file != NULL && file->kind == TG_FILE_SOCKET ? file->socket.port : 0u);
}

void tg_address_write(sa_family_t family, const uint8_t *address, uint16_t port, struct sockaddr *out, socklen_t *len) {
  union {
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } full;
  memset(&full, 0, sizeof(full));
  socklen_t full_len;
  if (family == AF_INET6) {
    full.v6.sin6_family = AF_INET6;
    full.v6.sin6_port = htons(port);
    memcpy(&full.v6.sin6_addr, address, sizeof(full.v6.sin6_addr));
    full_len = sizeof(full.v6);
  } else {
    full.v4.sin_family = AF_INET;
    full.v4.sin_port = htons(port);
    memcpy(&full.v4.sin_addr, address, sizeof(full.v4.sin_addr));
    full_len = sizeof(full.v4);
  }
  memcpy(out, &full, *len < full_len ? *len : full_len);
  *len = full_len;
}

static long write_name(struct tg_kernel *kernel, int fd, bool peer, struct sockaddr *address, socklen_t *len) {
  struct tg_file *file = tg_file_get(kernel, fd, peer ? "getpeername" : "getsockname");
  if (file == NULL) {
    return -EBADF;
  }
  if (!is_socket(file)) {
    return -ENOTSOCK;
  }
  if (address == NULL || len == NULL) {
    return -EFAULT;
  }
  if (file->kind == TG_FILE_CONN) {
    const struct tg_connection *conn = file->conn;
    if (peer && tg_tcp_rst_received(conn->end)) {
      return -ENOTCONN;
    }
    uint8_t loopback[16];
    tg_loopback(conn->options.family, loopback);
    tg_address_write(conn->options.family, loopback, peer ? tg_connection_peer_port(conn) : conn->port, address, len);
    return 0;
  }
  if (peer) {
    return -ENOTCONN;
  }
  tg_address_write(file->socket.family, file->socket.address, file->socket.port, address, len);
  return 0;
}

long tg_sys_getsockname(struct tg_kernel *kernel, int fd, struct sockaddr *address, socklen_t *len) {
  int injected = tg_call_begin(kernel, TG_CALL_GETSOCKNAME, NULL);
  long result = injected != 0 ? -injected : write_name(kernel, fd, false, address, len);
  return tg_call_end(kernel, result, "getsockname(%d)", fd);
}

long tg_sys_getpeername(struct tg_kernel *kernel, int fd, struct sockaddr *address, socklen_t *len) {
  int injected = tg_call_begin(kernel, TG_CALL_GETSOCKNAME, NULL);
  long result = injected != 0 ? -injected : write_name(kernel, fd, true, address, len);
  return tg_call_end(kernel, result, "getpeername(%d)", fd);
}

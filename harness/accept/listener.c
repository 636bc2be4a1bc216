#include "harness/accept/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union any_address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

// Returns the length of the address, or 0 if the text is not one.
static socklen_t parse_address(union any_address *out, const char *text, uint16_t port) {
  memset(out, 0, sizeof(*out));
  if (inet_pton(AF_INET, text, &out->v4.sin_addr) == 1) {
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons(port);
    return sizeof(out->v4);
  }
  if (inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1) {
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(port);
    return sizeof(out->v6);
  }
  return 0;
}

static bool enable(int fd, int option) {
  const int on = 1;
  return setsockopt(fd, SOL_SOCKET, option, &on, sizeof(on)) == 0;
}

static bool set_up(int fd, const union any_address *address, socklen_t len, bool exclusive) {
  if (!enable(fd, SO_REUSEADDR)) {
    return false;
  }
  // SO_REUSEPORT before bind() would let this socket join those of another process of the same user. Set after it,
  // bind() has refused a port with a listener, and the shards that come later can still join (socket(7), SO_REUSEPORT;
  // Linux: inet_csk_bind_conflict looks at the option's value then).
  if (!exclusive && !enable(fd, SO_REUSEPORT)) {
    return false;
  }
  if (bind(fd, &address->any, len) != 0) {
    return false;
  }
  if (exclusive && !enable(fd, SO_REUSEPORT)) {
    return false;
  }
  return listen(fd, INT_MAX) == 0;
}

int tg_listener_open(const char *address, uint16_t port, bool exclusive, struct tg_error *err) {
  union any_address parsed;
  socklen_t len = parse_address(&parsed, address, port);
  if (len == 0) {
    tg_error_set(err, "cannot listen on \"%s\": not a numeric IPv4 or IPv6 address", address);
    return -1;
  }
  int fd = socket(parsed.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    tg_error_set(err, "cannot listen on %s port %u: %s", address, port, strerror(errno));
    return -1;
  }
  if (!set_up(fd, &parsed, len, exclusive)) {
    if (errno == EADDRINUSE) {
      tg_error_set(err,
                   "cannot listen on %s port %u: the port is in use; stop what listens there or choose another port",
                   address, port);
    } else if (errno == EACCES) {
      tg_error_set(err, "cannot listen on %s port %u: permission denied; choose a port from 1024", address, port);
    } else {
      tg_error_set(err, "cannot listen on %s port %u: %s", address, port, strerror(errno));
    }
    close(fd);
    return -1;
  }
  return fd;
}

uint16_t tg_listener_port(int fd) {
  union any_address address;
  socklen_t len = sizeof(address);
  if (getsockname(fd, &address.any, &len) != 0) {
    return 0;
  }
  switch (address.any.sa_family) {
    case AF_INET:
      return ntohs(address.v4.sin_port);
    case AF_INET6:
      return ntohs(address.v6.sin6_port);
    default:
      return 0;
  }
}

enum tg_accept_verdict tg_accept_judge(int error_number) {
  switch (error_number) {
    case EAGAIN:
#if EWOULDBLOCK != EAGAIN
    case EWOULDBLOCK:
#endif
      return TG_ACCEPT_NONE;
    case EINTR:
    case ECONNABORTED:
    case EPERM:
    // accept(2), "Error handling": pending network errors of the new connection.
    case ENETDOWN:
    case EPROTO:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
    // accept(2), "Errors": what else the network may return.
    case ETIMEDOUT:
      return TG_ACCEPT_SKIP;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return TG_ACCEPT_PAUSE;
    default:
      return TG_ACCEPT_BROKEN;
  }
}

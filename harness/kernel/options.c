// setsockopt and getsockopt. An option that would need more of TCP than is modelled is a breach, not a silent success.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "harness/kernel/state.h"
#include "harness/kernel/sys.h"

// socket(7): the kernel doubles what it is given, and has a least (SOCK_MIN_SNDBUF, SOCK_MIN_RCVBUF) and a most
// (wmem_max, rmem_max; Documentation/admin-guide/sysctl/net.rst).
#define SEND_BUFFER_MIN    4608u
#define RECEIVE_BUFFER_MIN 2304u
#define BUFFER_MAX         212992u

static const char *say_option(int level, int name) {
  if (level == IPPROTO_TCP) {
    switch (name) {
      case TCP_NODELAY:
        return "TCP_NODELAY";
      case TCP_QUICKACK:
        return "TCP_QUICKACK";
      case TCP_CORK:
        return "TCP_CORK";
      case TCP_INFO:
        return "TCP_INFO";
      default:
        return "TCP_?";
    }
  }
  if (level == SOL_SOCKET) {
    switch (name) {
      case SO_REUSEADDR:
        return "SO_REUSEADDR";
      case SO_REUSEPORT:
        return "SO_REUSEPORT";
      case SO_KEEPALIVE:
        return "SO_KEEPALIVE";
      case SO_SNDBUF:
        return "SO_SNDBUF";
      case SO_RCVBUF:
        return "SO_RCVBUF";
      case SO_LINGER:
        return "SO_LINGER";
      case SO_ERROR:
        return "SO_ERROR";
      case SO_TYPE:
        return "SO_TYPE";
      case SO_ACCEPTCONN:
        return "SO_ACCEPTCONN";
      default:
        return "SO_?";
    }
  }
  return level == IPPROTO_IPV6 && name == IPV6_V6ONLY ? "IPV6_V6ONLY" : "?";
}

static long unmodelled(struct tg_kernel *kernel, const char *call, int fd, int level, int name, const char *why) {
  tg_breach(kernel, "unmodelled", "%s(%d, level %d, option %d (%s))%s", call, fd, level, name, say_option(level, name),
            why);
  return -ENOPROTOOPT;
}

// The options of a socket: a connection has its own copy.
static struct tg_socket *options_of(struct tg_file *file) {
  switch (file->kind) {
    case TG_FILE_SOCKET:
    case TG_FILE_LISTENER:
      return &file->socket;
    case TG_FILE_CONN:
      return &file->conn->options;
    default:
      return NULL;
  }
}

static uint32_t clamp_buffer(int wanted, uint32_t least) {
  uint32_t asked = (uint32_t)wanted < BUFFER_MAX ? (uint32_t)wanted : BUFFER_MAX;
  return 2 * asked < least ? least : 2 * asked;
}

static long set_buffer(struct tg_kernel *kernel, struct tg_file *file, int name, int wanted) {
  if (file->kind == TG_FILE_CONN) {
    return unmodelled(kernel, "setsockopt", file->fd, SOL_SOCKET, name, " on a connection: set it on the listener");
  }
  if (name == SO_SNDBUF) {
    file->socket.send_buffer = clamp_buffer(wanted, SEND_BUFFER_MIN);
  } else {
    file->socket.receive_buffer = clamp_buffer(wanted, RECEIVE_BUFFER_MIN);
  }
  return 0;
}

static long set_tcp(struct tg_kernel *kernel, struct tg_file *file, int name, int value) {
  struct tg_socket *options = options_of(file);
  struct tg_tcp *end = file->kind == TG_FILE_CONN ? file->conn->end : NULL;
  switch (name) {
    case TCP_NODELAY:
      options->nodelay = value != 0;
      if (end != NULL) {
        tg_tcp_set_nodelay(end, value != 0);
      }
      return 0;
    case TCP_CORK:
      options->cork = value != 0;
      if (end != NULL) {
        tg_tcp_set_cork(end, value != 0);
      }
      return 0;
    case TCP_QUICKACK:
      if (end != NULL) {
        kernel->quickacks += (value & 1) != 0;
        tg_tcp_set_quickack(end, value);
      } else if (value >= 0) {
        options->pingpong = value == 0;
      }
      return 0;
    default:
      return unmodelled(kernel, "setsockopt", file->fd, IPPROTO_TCP, name, "");
  }
}

static long set_socket(struct tg_kernel *kernel, struct tg_file *file, int name, int value) {
  struct tg_socket *options = options_of(file);
  switch (name) {
    case SO_REUSEADDR:
      options->reuse_address = value != 0;
      return 0;
    case SO_REUSEPORT:
      options->reuse_port = value != 0;
      return 0;
    case SO_KEEPALIVE:
      // The first probe comes after two hours (tcp(7)): later than any run lasts.
      options->keepalive = value != 0;
      return 0;
    case SO_SNDBUF:
    case SO_RCVBUF:
      return set_buffer(kernel, file, name, value);
    case SO_ERROR:
    case SO_TYPE:
    case SO_ACCEPTCONN:
      return -ENOPROTOOPT;
    default:
      return unmodelled(kernel, "setsockopt", file->fd, SOL_SOCKET, name, "");
  }
}

static long set_option(struct tg_kernel *kernel, int fd, int level, int name, const void *value, socklen_t len) {
  struct tg_file *file = tg_file_get(kernel, fd, "setsockopt");
  if (file == NULL) {
    return -EBADF;
  }
  if (options_of(file) == NULL) {
    return -ENOTSOCK;
  }
  bool is_linger = level == SOL_SOCKET && name == SO_LINGER;
  if (len < (is_linger ? sizeof(struct linger) : sizeof(int))) {
    return -EINVAL;
  }
  if (value == NULL) {
    return -EFAULT;
  }
  if (is_linger) {
    memcpy(&options_of(file)->linger, value, sizeof(struct linger));
    return 0;
  }
  int number;
  memcpy(&number, value, sizeof(number));
  if (level == IPPROTO_TCP) {
    return set_tcp(kernel, file, name, number);
  }
  if (level == SOL_SOCKET) {
    return set_socket(kernel, file, name, number);
  }
  if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && file->kind == TG_FILE_SOCKET) {
    file->socket.v6only = number != 0;
    return 0;
  }
  return unmodelled(kernel, "setsockopt", fd, level, name, "");
}

long tg_sys_setsockopt(struct tg_kernel *kernel, int fd, int level, int name, const void *value, socklen_t len) {
  int injected = tg_call_begin(kernel, TG_CALL_SETSOCKOPT, NULL);
  long result = injected != 0 ? -injected : set_option(kernel, fd, level, name, value, len);
  int number = 0;
  if (value != NULL && len >= sizeof(number)) {
    memcpy(&number, value, sizeof(number));
  }
  return tg_call_end(kernel, result, "setsockopt(%d, %s, %d)", fd, say_option(level, name), number);
}

static bool get_tcp(const struct tg_file *file, int name, int *out) {
  const struct tg_tcp *end = file->kind == TG_FILE_CONN ? file->conn->end : NULL;
  const struct tg_socket *options = end != NULL ? &file->conn->options : &file->socket;
  switch (name) {
    case TCP_NODELAY:
      *out = end != NULL ? tg_tcp_nodelay(end) : options->nodelay;
      return true;
    case TCP_QUICKACK:
      *out = end != NULL ? tg_tcp_quickack(end) : !options->pingpong;
      return true;
    case TCP_CORK:
      *out = options->cork;
      return true;
    default:
      return false;
  }
}

static bool get_socket(const struct tg_kernel *kernel, struct tg_file *file, int name, int *out) {
  const struct tg_socket *options = options_of(file);
  const struct tg_tcp_options *tcp = &kernel->options.tcp;
  switch (name) {
    case SO_ERROR:
      *out = file->kind == TG_FILE_CONN ? tg_tcp_take_error(file->conn->end) : 0;
      return true;
    case SO_TYPE:
      *out = SOCK_STREAM;
      return true;
    case SO_ACCEPTCONN:
      *out = file->kind == TG_FILE_LISTENER;
      return true;
    case SO_REUSEADDR:
      *out = options->reuse_address;
      return true;
    case SO_REUSEPORT:
      *out = options->reuse_port;
      return true;
    case SO_KEEPALIVE:
      *out = options->keepalive;
      return true;
    case SO_SNDBUF:
      *out = (int)(options->send_buffer != 0 ? options->send_buffer : tcp->send_buffer[TG_TCP_SERVER]);
      return true;
    case SO_RCVBUF:
      *out = (int)(options->receive_buffer != 0 ? options->receive_buffer : tcp->window[TG_TCP_SERVER]);
      return true;
    default:
      return false;
  }
}

// tcp_getsockopt and sk_getsockopt: what does not fit is cut, *len says how much was stored.
static void store(void *value, socklen_t *len, const void *from, socklen_t from_len) {
  if (*len > from_len) {
    *len = from_len;
  }
  memcpy(value, from, *len);
}

static long get_option(struct tg_kernel *kernel, int fd, int level, int name, void *value, socklen_t *len) {
  struct tg_file *file = tg_file_get(kernel, fd, "getsockopt");
  if (file == NULL) {
    return -EBADF;
  }
  const struct tg_socket *options = options_of(file);
  if (options == NULL) {
    return -ENOTSOCK;
  }
  if (value == NULL || len == NULL) {
    return -EFAULT;
  }
  if (level == SOL_SOCKET && name == SO_LINGER) {
    store(value, len, &options->linger, sizeof(options->linger));
    return 0;
  }
  int number = 0;
  bool known = level == IPPROTO_TCP ? get_tcp(file, name, &number)
                                    : level == SOL_SOCKET && get_socket(kernel, file, name, &number);
  if (!known && level == IPPROTO_IPV6 && name == IPV6_V6ONLY) {
    number = options->v6only;
    known = true;
  }
  if (!known) {
    return unmodelled(kernel, "getsockopt", fd, level, name, "");
  }
  store(value, len, &number, sizeof(number));
  return 0;
}

long tg_sys_getsockopt(struct tg_kernel *kernel, int fd, int level, int name, void *value, socklen_t *len) {
  int injected = tg_call_begin(kernel, TG_CALL_GETSOCKOPT, NULL);
  long result = injected != 0 ? -injected : get_option(kernel, fd, level, name, value, len);
  return tg_call_end(kernel, result, "getsockopt(%d, %s)", fd, say_option(level, name));
}

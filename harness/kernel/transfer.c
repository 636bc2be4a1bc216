// recv and send in all their forms, and shutdown.
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "harness/kernel/state.h"
#include "harness/kernel/sys.h"

// What one readv or writev moves at most here: the kernel's own limit (MAX_RW_COUNT) would be gigabytes.
#define SCRATCH_MAX (1u << 24)

#define RECV_FLAGS (MSG_PEEK | MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC | TG_SYS_ANY_FILE)
#define SEND_FLAGS (MSG_MORE | MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | TG_SYS_ANY_FILE)

static const char *say_flags(int flags) {
  bool peek = (flags & MSG_PEEK) != 0;
  bool dontwait = (flags & MSG_DONTWAIT) != 0;
  bool more = (flags & MSG_MORE) != 0;
  if (peek) {
    return dontwait ? ", MSG_PEEK|MSG_DONTWAIT" : ", MSG_PEEK";
  }
  if (more) {
    return dontwait ? ", MSG_MORE|MSG_DONTWAIT" : ", MSG_MORE";
  }
  return dontwait ? ", MSG_DONTWAIT" : "";
}

// The connection that bytes can be moved on, or NULL and what the call fails with.
static struct tg_connection *connection_at(struct tg_kernel *kernel, int fd, const char *call, int flags,
                                           long no_connection, long *out_error) {
  *out_error = 0;
  struct tg_file *file = tg_file_get(kernel, fd, call);
  if (file == NULL) {
    *out_error = -EBADF;
    return NULL;
  }
  if (file->kind == TG_FILE_SOCKET || file->kind == TG_FILE_LISTENER) {
    *out_error = no_connection;
    return NULL;
  }
  if (file->kind != TG_FILE_CONN) {
    // An epoll has no read and no write.
    *out_error = (flags & TG_SYS_ANY_FILE) != 0 ? -EINVAL : -ENOTSOCK;
    return NULL;
  }
  return file->conn;
}

static long receive(struct tg_kernel *kernel, const char *call, int fd, void *out, size_t len, int flags) {
  long error;
  struct tg_connection *conn = connection_at(kernel, fd, call, flags, -ENOTCONN, &error);
  if (conn == NULL) {
    return error;
  }
  if ((flags & ~RECV_FLAGS) != 0) {
    tg_breach(kernel, "unmodelled", "%s(%d, flags %#x)", call, fd, (unsigned)flags);
    return -EINVAL;
  }
  char byte;
  bool peek = (flags & MSG_PEEK) != 0;
  if (len == 0) {
    // sock_read_iter asks no further; recv waits for bytes all the same, or takes none of them.
    if ((flags & TG_SYS_ANY_FILE) != 0 || tg_tcp_unread(conn->end) > 0) {
      return 0;
    }
    out = &byte;
    len = sizeof(byte);
    peek = true;
  }
  if (out == NULL) {
    return -EFAULT;
  }
  ssize_t got = tg_tcp_recv(conn->end, out, len, peek);
  if (got == -EAGAIN) {
    return tg_would_block(kernel, conn->file, (flags & MSG_DONTWAIT) != 0, call);
  }
  if (got > 0) {
    tg_call_progress(kernel);
  }
  return got;
}

long tg_sys_recv(struct tg_kernel *kernel, const char *call, int fd, void *out, size_t len, int flags) {
  size_t limit = len;
  int injected = tg_call_begin(kernel, TG_CALL_RECV, &limit);
  long result = injected != 0 ? -injected : receive(kernel, call, fd, out, limit, flags);
  return tg_call_end(kernel, result, "%s(%d, %zu%s)", call, fd, len, say_flags(flags));
}

static void raise_sigpipe(struct tg_kernel *kernel, const char *call, int fd, int flags) {
  if ((flags & MSG_NOSIGNAL) == 0) {
    tg_breach(kernel, "SIGPIPE", "%s(%d) without MSG_NOSIGNAL on a connection that takes no more", call, fd);
  }
}

static long transmit(struct tg_kernel *kernel, const char *call, int fd, const void *data, size_t len, int flags) {
  long error;
  // tcp_sendmsg on a socket that is not connected: sk_stream_wait_connect.
  struct tg_connection *conn = connection_at(kernel, fd, call, flags, -EPIPE, &error);
  if (conn == NULL) {
    return error;
  }
  if ((flags & ~SEND_FLAGS) != 0) {
    tg_breach(kernel, "unmodelled", "%s(%d, flags %#x)", call, fd, (unsigned)flags);
    return -EINVAL;
  }
  if (data == NULL && len > 0) {
    return -EFAULT;
  }
  ssize_t put = tg_tcp_send(conn->end, data, len, (flags & MSG_MORE) != 0);
  if (put == -EAGAIN || (put >= 0 && (size_t)put < len && !conn->file->nonblock)) {
    long blocked = tg_would_block(kernel, conn->file, (flags & MSG_DONTWAIT) != 0, call);
    return put > 0 ? put : blocked;
  }
  if (put > 0) {
    tg_call_progress(kernel);
  }
  return put;
}

// The whole of a sending call but its line in the trace.
static long send_once(struct tg_kernel *kernel, const char *call, int fd, const void *data, size_t len, int flags) {
  size_t limit = len;
  int injected = tg_call_begin(kernel, TG_CALL_SEND, &limit);
  long result = injected != 0 ? -injected : transmit(kernel, call, fd, data, limit, flags);
  if (result == -EPIPE) {
    raise_sigpipe(kernel, call, fd, flags);
  }
  return result;
}

long tg_sys_send(struct tg_kernel *kernel, const char *call, int fd, const void *data, size_t len, int flags) {
  long result = send_once(kernel, call, fd, data, len, flags);
  return tg_call_end(kernel, result, "%s(%d, %zu%s)", call, fd, len, say_flags(flags));
}

static bool is_event(struct tg_kernel *kernel, int fd) {
  const struct tg_file *file = tg_file_at(kernel, fd);
  return file != NULL && (file->kind == TG_FILE_EVENTFD || file->kind == TG_FILE_TIMERFD);
}

long tg_sys_read(struct tg_kernel *kernel, int fd, void *out, size_t len) {
  return is_event(kernel, fd) ? tg_sys_event_read(kernel, fd, out, len)
                              : tg_sys_recv(kernel, "read", fd, out, len, TG_SYS_ANY_FILE);
}

long tg_sys_write(struct tg_kernel *kernel, int fd, const void *data, size_t len) {
  return is_event(kernel, fd) ? tg_sys_event_write(kernel, fd, data, len)
                              : tg_sys_send(kernel, "write", fd, data, len, TG_SYS_ANY_FILE);
}

// Makes room for all the parts in one piece. Returns their length or a negative error number.
static long gather_room(struct tg_kernel *kernel, const struct iovec *parts, size_t num_parts) {
  size_t total = 0;
  if (num_parts > IOV_MAX) {
    return -EINVAL;
  }
  for (size_t i = 0; i < num_parts; i++) {
    if (parts[i].iov_len > 0 && parts[i].iov_base == NULL) {
      return -EFAULT;
    }
    total += parts[i].iov_len < SCRATCH_MAX ? parts[i].iov_len : SCRATCH_MAX;
  }
  total = total < SCRATCH_MAX ? total : SCRATCH_MAX;
  if (total > kernel->scratch_size) {
    char *scratch = realloc(kernel->scratch, total);
    if (scratch == NULL) {
      return -ENOMEM;
    }
    kernel->scratch = scratch;
    kernel->scratch_size = total;
  }
  return (long)total;
}

// Copies between the one piece and the parts, up to `len` bytes.
static void copy_parts(char *piece, const struct iovec *parts, size_t num_parts, size_t len, bool to_parts) {
  size_t at = 0;
  for (size_t i = 0; i < num_parts && at < len; i++) {
    size_t part = parts[i].iov_len < len - at ? parts[i].iov_len : len - at;
    if (part > 0) {
      memcpy(to_parts ? parts[i].iov_base : piece + at, to_parts ? piece + at : parts[i].iov_base, part);
    }
    at += part;
  }
}

long tg_sys_recvv(struct tg_kernel *kernel, const char *call, int fd, const struct iovec *parts, size_t num_parts,
                  int flags) {
  long room = gather_room(kernel, parts, num_parts);
  if (room < 0) {
    return room;
  }
  // Zero bytes ask nothing of the scratch; an address all the same, for it is not a fault.
  char none;
  char *piece = room > 0 ? kernel->scratch : &none;
  bool event = (flags & TG_SYS_ANY_FILE) != 0 && is_event(kernel, fd);
  long result = event ? tg_sys_event_read(kernel, fd, piece, (size_t)room)
                      : tg_sys_recv(kernel, call, fd, piece, (size_t)room, flags);
  if (result > 0) {
    copy_parts(piece, parts, num_parts, (size_t)result, true);
  }
  return result;
}

long tg_sys_sendv(struct tg_kernel *kernel, const char *call, int fd, const struct iovec *parts, size_t num_parts,
                  int flags) {
  long room = gather_room(kernel, parts, num_parts);
  if (room < 0) {
    return room;
  }
  char none = 0;
  char *piece = room > 0 ? kernel->scratch : &none;
  copy_parts(piece, parts, num_parts, (size_t)room, false);
  bool event = (flags & TG_SYS_ANY_FILE) != 0 && is_event(kernel, fd);
  return event ? tg_sys_event_write(kernel, fd, piece, (size_t)room)
               : tg_sys_send(kernel, call, fd, piece, (size_t)room, flags);
}

static long end_direction(struct tg_kernel *kernel, int fd, int how) {
  long error;
  struct tg_connection *conn = connection_at(kernel, fd, "shutdown", 0, -ENOTCONN, &error);
  bool known = how == SHUT_RD || how == SHUT_WR || how == SHUT_RDWR;
  if (!known && (conn != NULL || error == -ENOTCONN)) {
    return -EINVAL;
  }
  if (conn == NULL) {
    if (error == -ENOTCONN && tg_file_at(kernel, fd)->kind == TG_FILE_LISTENER) {
      tg_breach(kernel, "unmodelled", "shutdown(%d) of a listening socket", fd);
    }
    return error;
  }
  if (tg_tcp_rst_received(conn->end)) {
    return -ENOTCONN;
  }
  bool changed = false;
  if (how != SHUT_RD && !tg_tcp_write_shut(conn->end)) {
    tg_tcp_shutdown_write(conn->end);
    changed = true;
  }
  if (how != SHUT_WR && !tg_tcp_read_shut(conn->end)) {
    tg_tcp_shutdown_read(conn->end);
    changed = true;
  }
  if (changed) {
    tg_call_progress(kernel);
    // inet_shutdown: sk_state_change, "wake up anyone sleeping in poll".
    tg_file_wake(kernel, conn->file, 0);
  }
  return 0;
}

long tg_sys_shutdown(struct tg_kernel *kernel, int fd, int how) {
  static const char *const kHow[] = {"SHUT_RD", "SHUT_WR", "SHUT_RDWR"};
  int injected = tg_call_begin(kernel, TG_CALL_SHUTDOWN, NULL);
  long result = injected != 0 ? -injected : end_direction(kernel, fd, how);
  return tg_call_end(kernel, result, "shutdown(%d, %s)", fd, how >= 0 && how <= 2 ? kHow[how] : "?");
}

// Descriptors and sockets: each call is the kernel's inside a run and the real one outside.
#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/kernel/sys.h"
#include "harness/kernel/trap.h"
#include "harness/kernel/wrap.h"

TG_WRAP(int, close, (int fd), (fd), tg_sys_close(kernel, fd))
TG_WRAP(int, socket, (int family, int type, int protocol), (family, type, protocol),
        tg_sys_socket(kernel, family, type, protocol))
TG_WRAP(int, bind, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len),
        tg_sys_bind(kernel, fd, address, len))
TG_WRAP(int, listen, (int fd, int backlog), (fd, backlog), tg_sys_listen(kernel, fd, backlog))
TG_WRAP(int, accept4, (int fd, struct sockaddr *address, socklen_t *len, int flags), (fd, address, len, flags),
        tg_sys_accept(kernel, fd, address, len, flags))
TG_WRAP(int, accept, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len),
        tg_sys_accept(kernel, fd, address, len, 0))
TG_WRAP(int, getsockname, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len),
        tg_sys_getsockname(kernel, fd, address, len))
TG_WRAP(int, getpeername, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len),
        tg_sys_getpeername(kernel, fd, address, len))
TG_WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len), (fd, level, name, value, len),
        tg_sys_setsockopt(kernel, fd, level, name, value, len))
TG_WRAP(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *len), (fd, level, name, value, len),
        tg_sys_getsockopt(kernel, fd, level, name, value, len))
TG_WRAP(int, shutdown, (int fd, int how), (fd, how), tg_sys_shutdown(kernel, fd, how))

TG_WRAP(ssize_t, read, (int fd, void *out, size_t len), (fd, out, len), tg_sys_read(kernel, fd, out, len))
TG_WRAP(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len), tg_sys_write(kernel, fd, data, len))
TG_WRAP(ssize_t, recv, (int fd, void *out, size_t len, int flags), (fd, out, len, flags),
        tg_sys_recv(kernel, "recv", fd, out, len, flags))
TG_WRAP(ssize_t, send, (int fd, const void *data, size_t len, int flags), (fd, data, len, flags),
        tg_sys_send(kernel, "send", fd, data, len, flags))
TG_WRAP(ssize_t, readv, (int fd, const struct iovec *parts, int num), (fd, parts, num),
        num < 0 ? -EINVAL : tg_sys_recvv(kernel, "readv", fd, parts, (size_t)num, TG_SYS_ANY_FILE))
TG_WRAP(ssize_t, writev, (int fd, const struct iovec *parts, int num), (fd, parts, num),
        num < 0 ? -EINVAL : tg_sys_sendv(kernel, "writev", fd, parts, (size_t)num, TG_SYS_ANY_FILE))

// On a connected TCP socket the kernel writes no address: tcp_recvmsg leaves msg_namelen 0.
static long receive_from(struct tg_kernel *kernel, int fd, void *out, size_t len, int flags, socklen_t *address_len) {
  long result = tg_sys_recv(kernel, "recvfrom", fd, out, len, flags);
  if (result >= 0 && address_len != NULL) {
    *address_len = 0;
  }
  return result;
}

TG_WRAP(ssize_t, recvfrom, (int fd, void *out, size_t len, int flags, struct sockaddr *from, socklen_t *from_len),
        (fd, out, len, flags, from, from_len), receive_from(kernel, fd, out, len, flags, from_len))
TG_WRAP(ssize_t, sendto, (int fd, const void *data, size_t len, int flags, const struct sockaddr *to, socklen_t to_len),
        (fd, data, len, flags, to, to_len), tg_sys_send(kernel, "sendto", fd, data, len, flags))

static long receive_message(struct tg_kernel *kernel, int fd, struct msghdr *message, int flags) {
  if (message == NULL) {
    return -EFAULT;
  }
  long result = tg_sys_recvv(kernel, "recvmsg", fd, message->msg_iov, message->msg_iovlen, flags);
  if (result >= 0) {
    message->msg_namelen = 0;
    message->msg_controllen = 0;
    message->msg_flags = 0;
  }
  return result;
}

static long send_message(struct tg_kernel *kernel, int fd, const struct msghdr *message, int flags) {
  if (message == NULL) {
    return -EFAULT;
  }
  if (message->msg_controllen != 0) {
    tg_breach(kernel, "unmodelled", "sendmsg(%d) with control data", fd);
    return -EINVAL;
  }
  return tg_sys_sendv(kernel, "sendmsg", fd, message->msg_iov, message->msg_iovlen, flags);
}

TG_WRAP(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags),
        receive_message(kernel, fd, message, flags))
TG_WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags),
        send_message(kernel, fd, message, flags))

// Their fortified forms: `size` is what the compiler knows of the buffer.
TG_WRAP(ssize_t, __read_chk, (int fd, void *out, size_t len, size_t size), (fd, out, len, size),
        tg_sys_read(kernel, fd, out, tg_checked(len, size)))
TG_WRAP(ssize_t, __recv_chk, (int fd, void *out, size_t len, size_t size, int flags), (fd, out, len, size, flags),
        tg_sys_recv(kernel, "recv", fd, out, tg_checked(len, size), flags))
TG_WRAP(ssize_t, __recvfrom_chk,
        (int fd, void *out, size_t len, size_t size, int flags, struct sockaddr *from, socklen_t *from_len),
        (fd, out, len, size, flags, from, from_len),
        receive_from(kernel, fd, out, tg_checked(len, size), flags, from_len))

// One argument follows the command, or none, which fetching it does not harm: the C library does the same.
int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
TG_PLAIN int __wrap_fcntl(int fd, int command, ...) {
  va_list args;
  va_start(args, command);
  void *argument = va_arg(args, void *);
  va_end(args);
  struct tg_kernel *kernel = tg_trap();
  return kernel == NULL ? __real_fcntl(fd, command, argument)
                        : (int)tg_trap_return(kernel, tg_sys_fcntl(kernel, fd, command, (long)argument));
}

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
TG_PLAIN int __wrap_fcntl64(int fd, int command, ...) {
  va_list args;
  va_start(args, command);
  void *argument = va_arg(args, void *);
  va_end(args);
  struct tg_kernel *kernel = tg_trap();
  return kernel == NULL ? __real_fcntl64(fd, command, argument)
                        : (int)tg_trap_return(kernel, tg_sys_fcntl(kernel, fd, command, (long)argument));
}

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
TG_PLAIN int __wrap_ioctl(int fd, unsigned long request, ...) {
  va_list args;
  va_start(args, request);
  void *argument = va_arg(args, void *);
  va_end(args);
  struct tg_kernel *kernel = tg_trap();
  return kernel == NULL ? __real_ioctl(fd, request, argument)
                        : (int)tg_trap_return(kernel, tg_sys_ioctl(kernel, fd, request, argument));
}

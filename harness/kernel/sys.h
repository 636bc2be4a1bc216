// The modelled system calls. Each is the whole call: its time, its injections, its line in the trace. Each returns the
// result, or a negative error number, as Linux's own do; wrap_*.c turn that into errno.
#ifndef TLSGATE_HARNESS_KERNEL_SYS_H
#define TLSGATE_HARNESS_KERNEL_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "harness/kernel/kernel.h"

long tg_sys_close(struct tg_kernel *kernel, int fd);
long tg_sys_fcntl(struct tg_kernel *kernel, int fd, int command, long argument);
long tg_sys_ioctl(struct tg_kernel *kernel, int fd, unsigned long request, void *argument);

long tg_sys_socket(struct tg_kernel *kernel, int family, int type, int protocol);
long tg_sys_bind(struct tg_kernel *kernel, int fd, const struct sockaddr *address, socklen_t len);
long tg_sys_listen(struct tg_kernel *kernel, int fd, int backlog);
long tg_sys_accept(struct tg_kernel *kernel, int fd, struct sockaddr *address, socklen_t *len, int flags);
long tg_sys_getsockname(struct tg_kernel *kernel, int fd, struct sockaddr *address, socklen_t *len);
long tg_sys_getpeername(struct tg_kernel *kernel, int fd, struct sockaddr *address, socklen_t *len);
long tg_sys_setsockopt(struct tg_kernel *kernel, int fd, int level, int name, const void *value, socklen_t len);
long tg_sys_getsockopt(struct tg_kernel *kernel, int fd, int level, int name, void *value, socklen_t *len);
long tg_sys_shutdown(struct tg_kernel *kernel, int fd, int how);

// recv and send in all their forms. `call` is the name that the trace shows. Beside the MSG_ flags there is one for
// the calls that work on any descriptor (readv, writev), of a value that is none of Linux's.
#define TG_SYS_ANY_FILE 0x10000000
long tg_sys_recv(struct tg_kernel *kernel, const char *call, int fd, void *out, size_t len, int flags);
long tg_sys_read(struct tg_kernel *kernel, int fd, void *out, size_t len);
long tg_sys_recvv(struct tg_kernel *kernel, const char *call, int fd, const struct iovec *parts, size_t num_parts,
                  int flags);
long tg_sys_send(struct tg_kernel *kernel, const char *call, int fd, const void *data, size_t len, int flags);
long tg_sys_write(struct tg_kernel *kernel, int fd, const void *data, size_t len);
long tg_sys_sendv(struct tg_kernel *kernel, const char *call, int fd, const struct iovec *parts, size_t num_parts,
                  int flags);

long tg_sys_epoll_create(struct tg_kernel *kernel, int flags);
long tg_sys_epoll_ctl(struct tg_kernel *kernel, int epoll_fd, int operation, int fd, struct epoll_event *event);
// `timeout_ns` is negative for ever.
long tg_sys_epoll_wait(struct tg_kernel *kernel, int epoll_fd, struct epoll_event *events, int max_events,
                       int64_t timeout_ns);

long tg_sys_eventfd(struct tg_kernel *kernel, unsigned initial, int flags);
long tg_sys_timerfd_create(struct tg_kernel *kernel, int clock, int flags);
long tg_sys_timerfd_settime(struct tg_kernel *kernel, int fd, int flags, const struct itimerspec *new_value,
                            struct itimerspec *old_value);
long tg_sys_timerfd_gettime(struct tg_kernel *kernel, int fd, struct itimerspec *value);
// read and write of an eventfd or timerfd that is known to be one.
long tg_sys_event_read(struct tg_kernel *kernel, int fd, void *out, size_t len);
long tg_sys_event_write(struct tg_kernel *kernel, int fd, const void *data, size_t len);

long tg_sys_clock_gettime(struct tg_kernel *kernel, clockid_t clock, struct timespec *out);
long tg_sys_getrandom(struct tg_kernel *kernel, void *out, size_t len, unsigned flags);

#endif

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "harness/kernel/state.h"
#include "harness/kernel/sys.h"

bool tg_file_room(const struct tg_kernel *kernel) {
  return kernel->num_open < kernel->options.max_fds;
}

struct tg_file *tg_file_open(struct tg_kernel *kernel, enum tg_file_kind kind, bool nonblock, bool cloexec) {
  if (!tg_file_room(kernel)) {
    return NULL;
  }
  uint32_t at = kernel->lowest_free;
  while (kernel->files[at].kind != TG_FILE_FREE) {
    at++;
    assert(at < TG_KERNEL_FDS_MAX);
  }
  kernel->lowest_free = at + 1;
  if (at >= kernel->files_used) {
    kernel->files_used = at + 1;
  }
  kernel->num_open++;
  kernel->files[at] = (struct tg_file){
      .kind = kind,
      .fd = TG_KERNEL_FIRST_FD + (int)at,
      .was_open = true,
      .nonblock = nonblock,
      .cloexec = cloexec,
  };
  return &kernel->files[at];
}

void tg_file_free(struct tg_kernel *kernel, struct tg_file *file) {
  assert(file->kind != TG_FILE_FREE);
  tg_epoll_forget_file(kernel, file);
  file->kind = TG_FILE_FREE;
  kernel->num_open--;
  uint32_t at = (uint32_t)(file - kernel->files);
  if (at < kernel->lowest_free) {
    kernel->lowest_free = at;
  }
}

static struct tg_file *place_of(struct tg_kernel *kernel, int fd) {
  if (fd < TG_KERNEL_FIRST_FD || fd >= TG_KERNEL_FIRST_FD + (int)kernel->files_used) {
    return NULL;
  }
  return &kernel->files[fd - TG_KERNEL_FIRST_FD];
}

struct tg_file *tg_file_at(struct tg_kernel *kernel, int fd) {
  struct tg_file *file = place_of(kernel, fd);
  return file != NULL && file->kind != TG_FILE_FREE ? file : NULL;
}

struct tg_file *tg_file_get(struct tg_kernel *kernel, int fd, const char *call) {
  struct tg_file *file = tg_file_at(kernel, fd);
  if (file == NULL) {
    tg_breach(kernel, "P1", "%s(%d): the descriptor %s", call, fd,
              place_of(kernel, fd) != NULL ? "is closed" : "was never open");
  }
  return file;
}

long tg_would_block(struct tg_kernel *kernel, const struct tg_file *file, bool dontwait, const char *call) {
  if (!file->nonblock && !dontwait) {
    tg_breach(kernel, "blocks", "%s(%d) would wait: the descriptor is not O_NONBLOCK", call, file->fd);
  }
  return -EAGAIN;
}

uint32_t tg_file_poll(const struct tg_file *file) {
  switch (file->kind) {
    case TG_FILE_SOCKET:
      // tcp_poll in TCP_CLOSE.
      return EPOLLOUT | EPOLLWRNORM | EPOLLHUP;
    case TG_FILE_LISTENER:
      // inet_csk_listen_poll.
      return file->socket.queue_head != NULL ? EPOLLIN | EPOLLRDNORM : 0;
    case TG_FILE_CONN:
      return tg_connection_poll(file->conn);
    case TG_FILE_EVENTFD:
      // eventfd_poll.
      return (file->eventfd.count > 0 ? EPOLLIN : 0) | (file->eventfd.count < UINT64_MAX - 1 ? EPOLLOUT : 0) |
             (file->eventfd.count == UINT64_MAX ? EPOLLERR : 0);
    case TG_FILE_TIMERFD:
      return file->timerfd.expired ? EPOLLIN : 0;
    case TG_FILE_EPOLL:
    case TG_FILE_FREE:
      break;
  }
  assert(false);
  return 0;
}

static long close_file(struct tg_kernel *kernel, int fd) {
  struct tg_file *file = tg_file_get(kernel, fd, "close");
  if (file == NULL) {
    return -EBADF;
  }
  switch (file->kind) {
    case TG_FILE_LISTENER:
      tg_listener_close(kernel, file);
      break;
    case TG_FILE_CONN:
      tg_connection_close(kernel, file->conn);
      tg_call_progress(kernel);
      break;
    case TG_FILE_EPOLL:
      tg_epoll_close(kernel, file);
      break;
    case TG_FILE_SOCKET:
    case TG_FILE_EVENTFD:
    case TG_FILE_TIMERFD:
    case TG_FILE_FREE:
      break;
  }
  tg_file_free(kernel, file);
  return 0;
}

long tg_sys_close(struct tg_kernel *kernel, int fd) {
  int injected = tg_call_begin(kernel, TG_CALL_CLOSE, NULL);
  long result = close_file(kernel, fd);
  // The descriptor is gone whatever close() says: filp_flush's error comes after file_close_fd.
  if (result == 0 && injected != 0) {
    result = -injected;
  }
  return tg_call_end(kernel, result, "close(%d)", fd);
}

static long control(struct tg_kernel *kernel, int fd, int command, long argument) {
  struct tg_file *file = tg_file_get(kernel, fd, "fcntl");
  if (file == NULL) {
    return -EBADF;
  }
  switch (command) {
    case F_GETFL:
      return O_RDWR | (file->nonblock ? O_NONBLOCK : 0);
    case F_SETFL:
      file->nonblock = (argument & O_NONBLOCK) != 0;
      return 0;
    case F_GETFD:
      return file->cloexec ? FD_CLOEXEC : 0;
    case F_SETFD:
      file->cloexec = (argument & FD_CLOEXEC) != 0;
      return 0;
    default:
      tg_breach(kernel, "unmodelled", "fcntl(%d, %d)", fd, command);
      return -EINVAL;
  }
}

long tg_sys_fcntl(struct tg_kernel *kernel, int fd, int command, long argument) {
  int injected = tg_call_begin(kernel, TG_CALL_FCNTL, NULL);
  long result = injected != 0 ? -injected : control(kernel, fd, command, argument);
  return tg_call_end(kernel, result, "fcntl(%d, %d, %ld)", fd, command, argument);
}

static long io_control(struct tg_kernel *kernel, int fd, unsigned long request, void *argument) {
  struct tg_file *file = tg_file_get(kernel, fd, "ioctl");
  if (file == NULL) {
    return -EBADF;
  }
  if (argument == NULL) {
    return -EFAULT;
  }
  if (request == FIONBIO) {
    file->nonblock = *(const int *)argument != 0;
    return 0;
  }
  if (request == FIONREAD && file->kind == TG_FILE_CONN) {
    *(int *)argument = (int)tg_tcp_unread(file->conn->end);
    return 0;
  }
  tg_breach(kernel, "unmodelled", "ioctl(%d, %#lx)", fd, request);
  return -ENOTTY;
}

long tg_sys_ioctl(struct tg_kernel *kernel, int fd, unsigned long request, void *argument) {
  int injected = tg_call_begin(kernel, TG_CALL_FCNTL, NULL);
  long result = injected != 0 ? -injected : io_control(kernel, fd, request, argument);
  return tg_call_end(kernel, result, "ioctl(%d, %#lx)", fd, request);
}

uint32_t tg_kernel_open_fds(const struct tg_kernel *kernel) {
  return kernel->num_open;
}

void tg_kernel_set_max_fds(struct tg_kernel *kernel, uint32_t max_fds) {
  assert(max_fds >= 1 && max_fds <= TG_KERNEL_FDS_MAX);
  kernel->options.max_fds = max_fds;
}

void tg_kernel_visit_sockets(struct tg_kernel *kernel, tg_kernel_visit visit, void *context) {
  for (uint32_t i = 0; i < kernel->files_used; i++) {
    if (kernel->files[i].kind == TG_FILE_CONN) {
      visit(context, kernel->files[i].fd, kernel->files[i].conn->end);
    }
  }
}

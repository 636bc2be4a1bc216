// eventfd, after fs/eventfd.c.
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "harness/kernel/state.h"
#include "harness/kernel/sys.h"

long tg_sys_eventfd(struct tg_kernel *kernel, unsigned initial, int flags) {
  long result = -tg_call_begin(kernel, TG_CALL_EVENTFD, NULL);
  if (result == 0 && (flags & ~(EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)) != 0) {
    result = -EINVAL;
  }
  if (result == 0) {
    struct tg_file *file =
        tg_file_open(kernel, TG_FILE_EVENTFD, (flags & EFD_NONBLOCK) != 0, (flags & EFD_CLOEXEC) != 0);
    result = -EMFILE;
    if (file != NULL) {
      file->eventfd = (struct tg_eventfd){.count = initial, .semaphore = (flags & EFD_SEMAPHORE) != 0};
      result = file->fd;
    }
  }
  return tg_call_end(kernel, result, "eventfd(%u, %#x)", initial, (unsigned)flags);
}

static long take_count(struct tg_kernel *kernel, struct tg_file *file, uint64_t *out) {
  struct tg_eventfd *event = &file->eventfd;
  if (event->count == 0) {
    return tg_would_block(kernel, file, false, "read");
  }
  *out = event->semaphore ? 1 : event->count;
  event->count -= *out;
  tg_file_wake(kernel, file, EPOLLOUT);
  return 0;
}

static long take_expirations(struct tg_kernel *kernel, struct tg_file *file, uint64_t *out) {
  *out = tg_timerfd_take(kernel, &file->timerfd);
  return *out == 0 ? tg_would_block(kernel, file, false, "read") : 0;
}

static long event_read(struct tg_kernel *kernel, int fd, void *out, size_t len) {
  struct tg_file *file = tg_file_get(kernel, fd, "read");
  assert(file != NULL);
  uint64_t number = 0;
  if (len < sizeof(number)) {
    return -EINVAL;
  }
  if (out == NULL) {
    return -EFAULT;
  }
  long result =
      file->kind == TG_FILE_EVENTFD ? take_count(kernel, file, &number) : take_expirations(kernel, file, &number);
  if (result != 0) {
    return result;
  }
  memcpy(out, &number, sizeof(number));
  return sizeof(number);
}

long tg_sys_event_read(struct tg_kernel *kernel, int fd, void *out, size_t len) {
  int injected = tg_call_begin(kernel, TG_CALL_EVENT_READ, NULL);
  long result = injected != 0 ? -injected : event_read(kernel, fd, out, len);
  return tg_call_end(kernel, result, "read(%d, %zu)", fd, len);
}

static long event_write(struct tg_kernel *kernel, int fd, const void *data, size_t len) {
  struct tg_file *file = tg_file_get(kernel, fd, "write");
  assert(file != NULL);
  uint64_t number;
  if (file->kind == TG_FILE_TIMERFD || len < sizeof(number)) {
    return -EINVAL;
  }
  if (data == NULL) {
    return -EFAULT;
  }
  memcpy(&number, data, sizeof(number));
  if (number == UINT64_MAX) {
    return -EINVAL;
  }
  if (UINT64_MAX - file->eventfd.count <= number) {
    return tg_would_block(kernel, file, false, "write");
  }
  file->eventfd.count += number;
  tg_file_wake(kernel, file, EPOLLIN);
  return sizeof(number);
}

long tg_sys_event_write(struct tg_kernel *kernel, int fd, const void *data, size_t len) {
  int injected = tg_call_begin(kernel, TG_CALL_EVENT_WRITE, NULL);
  long result = injected != 0 ? -injected : event_write(kernel, fd, data, len);
  return tg_call_end(kernel, result, "write(%d, %zu)", fd, len);
}

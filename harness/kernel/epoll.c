// epoll after fs/eventpoll.c: a ready list in order of arrival, from which items are reported; a level-triggered item
// that was reported goes to the tail, an edge-triggered one leaves.
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "harness/kernel/state.h"
#include "harness/kernel/sys.h"

#define PRIVATE_BITS (EPOLLWAKEUP | EPOLLONESHOT | EPOLLET | EPOLLEXCLUSIVE)
// EPOLLEXCLUSIVE_OK_BITS
#define EXCLUSIVE_BITS (EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)

static struct tg_watch *take_watch(struct tg_kernel *kernel) {
  struct tg_watch *watch = kernel->free_watches;
  if (watch != NULL) {
    kernel->free_watches = watch->next_of_file;
  } else if (kernel->watches_used < TG_WATCHES_MAX) {
    watch = &kernel->watches[kernel->watches_used++];
  }
  return watch;
}

static void append_ready(struct tg_watch *watch) {
  assert(!watch->ready);
  struct tg_epoll *epoll = &watch->epoll->epoll;
  watch->ready = true;
  watch->ready_next = NULL;
  watch->ready_prev = epoll->ready_tail;
  if (epoll->ready_tail != NULL) {
    epoll->ready_tail->ready_next = watch;
  } else {
    epoll->ready_head = watch;
  }
  epoll->ready_tail = watch;
}

static void remove_ready(struct tg_watch *watch) {
  if (!watch->ready) {
    return;
  }
  struct tg_epoll *epoll = &watch->epoll->epoll;
  *(watch->ready_prev != NULL ? &watch->ready_prev->ready_next : &epoll->ready_head) = watch->ready_next;
  *(watch->ready_next != NULL ? &watch->ready_next->ready_prev : &epoll->ready_tail) = watch->ready_prev;
  watch->ready = false;
}

static void drop_watch(struct tg_kernel *kernel, struct tg_watch *watch) {
  remove_ready(watch);
  struct tg_watch **at = &watch->file->watches;
  while (*at != watch) {
    at = &(*at)->next_of_file;
  }
  *at = watch->next_of_file;
  at = &watch->epoll->epoll.watches;
  while (*at != watch) {
    at = &(*at)->next_of_epoll;
  }
  *at = watch->next_of_epoll;
  watch->next_of_file = kernel->free_watches;
  kernel->free_watches = watch;
}

void tg_epoll_forget_file(struct tg_kernel *kernel, struct tg_file *file) {
  while (file->watches != NULL) {
    drop_watch(kernel, file->watches);
  }
}

void tg_epoll_close(struct tg_kernel *kernel, struct tg_file *epoll) {
  while (epoll->epoll.watches != NULL) {
    drop_watch(kernel, epoll->epoll.watches);
  }
  for (uint32_t i = 0; i < TG_KERNEL_THREADS_MAX; i++) {
    if (kernel->threads[i].epoll == epoll) {
      kernel->threads[i] = (struct tg_thread){.ended = kernel->threads[i].ended};
    }
  }
}

static uint32_t ready_events(const struct tg_watch *watch) {
  return watch->disarmed ? 0 : tg_file_poll(watch->file) & watch->events;
}

// Returns whether a thread waited on the epoll and has been woken now.
static bool wake_thread(struct tg_kernel *kernel, const struct tg_file *epoll) {
  for (uint32_t i = 0; i < TG_KERNEL_THREADS_MAX; i++) {
    struct tg_thread *thread = &kernel->threads[i];
    if (thread->parked && thread->epoll == epoll && !thread->woken) {
      thread->woken = true;
      return true;
    }
  }
  return false;
}

// __wake_up_common and ep_poll_callback: every watcher notes it, but of those with EPOLLEXCLUSIVE, which come last,
// none behind the first for which a thread waits. A change of state (key 0) wakes all.
void tg_file_wake(struct tg_kernel *kernel, struct tg_file *file, uint32_t key) {
  for (struct tg_watch *watch = file->watches; watch != NULL; watch = watch->next_of_file) {
    if (watch->disarmed || (key != 0 && (key & watch->events) == 0)) {
      continue;
    }
    if (!watch->ready) {
      append_ready(watch);
    }
    bool woke = wake_thread(kernel, watch->epoll);
    if (woke && key != 0 && (watch->events & EPOLLEXCLUSIVE) != 0) {
      return;
    }
  }
}

bool tg_epoll_available(struct tg_file *epoll) {
  while (epoll->epoll.ready_head != NULL) {
    if (ready_events(epoll->epoll.ready_head) != 0) {
      return true;
    }
    remove_ready(epoll->epoll.ready_head);
  }
  return false;
}

static struct tg_watch *find_watch(struct tg_file *epoll, struct tg_file *file) {
  struct tg_watch *watch = file->watches;
  while (watch != NULL && watch->epoll != epoll) {
    watch = watch->next_of_file;
  }
  return watch;
}

uint32_t tg_kernel_watched(const struct tg_kernel *kernel, int fd) {
  if (fd < TG_KERNEL_FIRST_FD || fd >= TG_KERNEL_FIRST_FD + (int)kernel->files_used) {
    return 0;
  }
  const struct tg_file *file = &kernel->files[fd - TG_KERNEL_FIRST_FD];
  uint32_t events = 0;
  if (file->kind != TG_FILE_FREE) {
    for (const struct tg_watch *watch = file->watches; watch != NULL; watch = watch->next_of_file) {
      events |= watch->disarmed ? 0 : watch->events;
    }
  }
  return events;
}

long tg_sys_epoll_create(struct tg_kernel *kernel, int flags) {
  long result = -tg_call_begin(kernel, TG_CALL_EPOLL_CREATE, NULL);
  if (result == 0 && (flags & ~EPOLL_CLOEXEC) != 0) {
    result = -EINVAL;
  }
  if (result == 0) {
    const struct tg_file *file = tg_file_open(kernel, TG_FILE_EPOLL, false, (flags & EPOLL_CLOEXEC) != 0);
    result = file == NULL ? -EMFILE : file->fd;
  }
  return tg_call_end(kernel, result, "epoll_create1(%#x)", (unsigned)flags);
}

// Readiness that is there already counts as having just come (ep_insert, ep_modify).
static void look_now(struct tg_watch *watch) {
  if (!watch->ready && ready_events(watch) != 0) {
    append_ready(watch);
  }
}

static long add_watch(struct tg_kernel *kernel, struct tg_file *epoll, struct tg_file *file,
                      const struct epoll_event *event) {
  if ((event->events & EPOLLEXCLUSIVE) != 0 && (event->events & ~(uint32_t)EXCLUSIVE_BITS) != 0) {
    return -EINVAL;
  }
  struct tg_watch *watch = take_watch(kernel);
  if (watch == NULL) {
    return -ENOSPC;
  }
  *watch = (struct tg_watch){
      .epoll = epoll,
      .file = file,
      .events = event->events | EPOLLERR | EPOLLHUP,
      .data = event->data.u64,
      .next_of_epoll = epoll->epoll.watches,
  };
  // add_wait_queue puts a watcher in front, add_wait_queue_exclusive behind all.
  struct tg_watch **place = &file->watches;
  while ((event->events & EPOLLEXCLUSIVE) != 0 && *place != NULL) {
    place = &(*place)->next_of_file;
  }
  watch->next_of_file = *place;
  *place = watch;
  epoll->epoll.watches = watch;
  look_now(watch);
  return 0;
}

static long modify_watch(struct tg_watch *watch, const struct epoll_event *event) {
  if ((event->events & EPOLLEXCLUSIVE) != 0 || (watch->events & EPOLLEXCLUSIVE) != 0) {
    return -EINVAL;
  }
  watch->events = event->events | EPOLLERR | EPOLLHUP;
  watch->data = event->data.u64;
  watch->disarmed = false;
  look_now(watch);
  return 0;
}

// do_epoll_ctl, in its order of checks.
static long change(struct tg_kernel *kernel, int epoll_fd, int operation, int fd, const struct epoll_event *event) {
  if (operation != EPOLL_CTL_DEL && event == NULL) {
    return -EFAULT;
  }
  struct tg_file *epoll = tg_file_get(kernel, epoll_fd, "epoll_ctl");
  struct tg_file *file = epoll == NULL ? NULL : tg_file_get(kernel, fd, "epoll_ctl");
  if (file == NULL) {
    return -EBADF;
  }
  if (epoll == file || epoll->kind != TG_FILE_EPOLL) {
    return -EINVAL;
  }
  if (file->kind == TG_FILE_EPOLL) {
    tg_breach(kernel, "unmodelled", "epoll_ctl(%d, %d): an epoll in an epoll", epoll_fd, fd);
    return -EINVAL;
  }
  struct tg_watch *watch = find_watch(epoll, file);
  switch (operation) {
    case EPOLL_CTL_ADD:
      return watch != NULL ? -EEXIST : add_watch(kernel, epoll, file, event);
    case EPOLL_CTL_MOD:
      return watch == NULL ? -ENOENT : modify_watch(watch, event);
    case EPOLL_CTL_DEL:
      if (watch == NULL) {
        return -ENOENT;
      }
      drop_watch(kernel, watch);
      return 0;
    default:
      return -EINVAL;
  }
}

// Writes the names of events, "IN|RDHUP" say.
static const char *say_events(char *out, size_t size, uint32_t events) {
  static const struct {
    uint32_t bit;
    const char *name;
  } kNames[] = {
      {EPOLLIN, "IN"},   {EPOLLPRI, "PRI"},         {EPOLLOUT, "OUT"}, {EPOLLRDHUP, "RDHUP"},    {EPOLLHUP, "HUP"},
      {EPOLLERR, "ERR"}, {EPOLLONESHOT, "ONESHOT"}, {EPOLLET, "ET"},   {EPOLLEXCLUSIVE, "EXCL"},
  };
  size_t len = 0;
  out[0] = '\0';
  for (size_t i = 0; i < sizeof(kNames) / sizeof(kNames[0]); i++) {
    if ((events & kNames[i].bit) != 0 && len < size) {
      len += (size_t)snprintf(out + len, size - len, "%s%s", len > 0 ? "|" : "", kNames[i].name);
    }
  }
  return len > 0 ? out : "0";
}

long tg_sys_epoll_ctl(struct tg_kernel *kernel, int epoll_fd, int operation, int fd, struct epoll_event *event) {
  static const char *const kOperations[] = {"?", "ADD", "DEL", "MOD"};
  int injected = tg_call_begin(kernel, TG_CALL_EPOLL_CTL, NULL);
  long result = injected != 0 ? -injected : change(kernel, epoll_fd, operation, fd, event);
  char text[64];
  return tg_call_end(kernel, result, "epoll_ctl(%d, %s, %d, %s)", epoll_fd,
                     kOperations[operation >= 1 && operation <= 3 ? operation : 0], fd,
                     event == NULL ? "NULL" : say_events(text, sizeof(text), event->events));
}

// ep_send_events: each item once, whatever goes to the tail.
static int report(struct tg_file *epoll, struct epoll_event *out, int max_events) {
  struct tg_watch *last = epoll->epoll.ready_tail;
  int num_events = 0;
  bool at_end = last == NULL;
  while (!at_end && num_events < max_events) {
    struct tg_watch *watch = epoll->epoll.ready_head;
    at_end = watch == last;
    remove_ready(watch);
    uint32_t events = ready_events(watch);
    if (events == 0) {
      continue;
    }
    out[num_events].events = events;
    out[num_events].data.u64 = watch->data;
    num_events++;
    if ((watch->events & EPOLLONESHOT) != 0) {
      watch->disarmed = true;
    } else if ((watch->events & EPOLLET) == 0) {
      append_ready(watch);
    }
  }
  return num_events;
}

static void park(struct tg_kernel *kernel, struct tg_file *epoll, int64_t timeout_ns) {
  struct tg_thread *thread = &kernel->threads[kernel->thread];
  thread->parked = true;
  thread->woken = false;
  thread->epoll = epoll;
  thread->wakes_at_ns = timeout_ns < 0 ? TG_SIM_NEVER : kernel->sim.now_ns + (uint64_t)timeout_ns;
  // It gives the processor away.
  tg_call_progress(kernel);
}

static long wait_for(struct tg_kernel *kernel, int epoll_fd, struct epoll_event *events, int max_events,
                     int64_t timeout_ns) {
  // ep_check_params comes before the descriptor is looked at.
  if (max_events <= 0) {
    return -EINVAL;
  }
  if (events == NULL) {
    return -EFAULT;
  }
  struct tg_file *epoll = tg_file_get(kernel, epoll_fd, "epoll_wait");
  if (epoll == NULL) {
    return -EBADF;
  }
  if (epoll->kind != TG_FILE_EPOLL) {
    return -EINVAL;
  }
  int num_events = report(epoll, events, max_events);
  if (num_events == 0 && timeout_ns != 0) {
    park(kernel, epoll, timeout_ns);
  }
  return num_events;
}

long tg_sys_epoll_wait(struct tg_kernel *kernel, int epoll_fd, struct epoll_event *events, int max_events,
                       int64_t timeout_ns) {
  int injected = tg_call_begin(kernel, TG_CALL_EPOLL_WAIT, NULL);
  long result = injected != 0 ? -injected : wait_for(kernel, epoll_fd, events, max_events, timeout_ns);
  if (kernel->trace.silent) {
    return result;
  }
  char timeout[32];
  if (timeout_ns < 0) {
    snprintf(timeout, sizeof(timeout), "for ever");
  } else {
    snprintf(timeout, sizeof(timeout), "%lld us", (long long)(timeout_ns / 1000));
  }
  if (result <= 0) {
    const char *waits = result == 0 && timeout_ns != 0 ? ": waits" : "";
    return tg_call_end(kernel, result, "epoll_wait(%d, %s%s)", epoll_fd, timeout, waits);
  }
  char first[64];
  return tg_call_end(kernel, result, "epoll_wait(%d, %s: %s%s)", epoll_fd, timeout,
                     say_events(first, sizeof(first), events[0].events), result > 1 ? ", ..." : "");
}

#include "fuzz/examples/handoff/worker.h"

#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "fuzz/examples/handoff/clock.h"

#define EVENTS 16

bool worker_open(struct worker *worker, struct mailbox *box, const struct house *house) {
  *worker = (struct worker){.box = box, .house = house};
  worker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (worker->epoll_fd < 0) {
    return false;
  }
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  return epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, box->event_fd, &event) == 0;
}

static void drop(struct worker *worker, struct guest *guest) {
  *(guest->prev != NULL ? &guest->prev->next : &worker->guests) = guest->next;
  if (guest->next != NULL) {
    guest->next->prev = guest->prev;
  }
  guest_free(guest);
}

void worker_close(struct worker *worker) {
  while (worker->guests != NULL) {
    drop(worker, worker->guests);
  }
  if (worker->epoll_fd >= 0) {
    close(worker->epoll_fd);
  }
}

// What a step has led to: registered for what it waits for, or dropped.
static void settle(struct worker *worker, struct guest *guest) {
  bool stays = guest->state != GUEST_GONE;
  if (stays && guest->waits_for != guest->registered) {
    struct epoll_event event = {.events = guest->waits_for, .data.ptr = guest};
    const int how = guest->registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    stays = epoll_ctl(worker->epoll_fd, how, guest->plug.fd, &event) == 0;
    guest->registered = guest->waits_for;
  }
  if (!stays) {
    drop(worker, guest);
  }
}

static void take_in(struct worker *worker, uint64_t now_ns) {
  mailbox_heard(worker->box);
  for (struct letter letter; mailbox_take(worker->box, &letter);) {
    struct guest *guest = guest_new(worker->house, letter, now_ns);
    if (guest == NULL) {
      continue;
    }
    guest->next = worker->guests;
    if (guest->next != NULL) {
      guest->next->prev = guest;
    }
    worker->guests = guest;
    guest_step(guest, now_ns);
    settle(worker, guest);
  }
}

static void expire(struct worker *worker, uint64_t now_ns) {
  for (struct guest *guest = worker->guests, *next; guest != NULL; guest = next) {
    next = guest->next;
    if (guest->deadline_ns <= now_ns) {
      worker->timed_out++;
      guest_expire(guest, now_ns);
      settle(worker, guest);
    }
  }
}

static int wait_ms(const struct worker *worker) {
  uint64_t next_ns = UINT64_MAX;
  for (const struct guest *guest = worker->guests; guest != NULL; guest = guest->next) {
    next_ns = guest->deadline_ns < next_ns ? guest->deadline_ns : next_ns;
  }
  return next_ns == UINT64_MAX ? -1 : clock_left_ms(next_ns, clock_now_ns());
}

void worker_turn(struct worker *worker) {
  struct epoll_event events[EVENTS];
  const int count = epoll_wait(worker->epoll_fd, events, EVENTS, wait_ms(worker));
  const uint64_t now_ns = clock_now_ns();
  for (int i = 0; i < count; i++) {
    struct guest *guest = events[i].data.ptr;
    if (guest == NULL) {
      take_in(worker, now_ns);
    } else {
      guest_step(guest, now_ns);
      settle(worker, guest);
    }
  }
  expire(worker, now_ns);
}

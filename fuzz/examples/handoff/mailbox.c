#include "fuzz/examples/handoff/mailbox.h"

#include <assert.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool mailbox_open(struct mailbox *box) {
  box->first = box->count = 0;
  (void)pthread_mutex_init(&box->lock, NULL);
  box->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return box->event_fd >= 0;
}

void mailbox_close(struct mailbox *box) {
  if (box->event_fd < 0) {
    return;
  }
  for (struct letter letter; mailbox_take(box, &letter);) {
    close(letter.fd);
  }
  close(box->event_fd);
  (void)pthread_mutex_destroy(&box->lock);
}

unsigned mailbox_count(struct mailbox *box) {
  (void)pthread_mutex_lock(&box->lock);
  const unsigned count = box->count;
  (void)pthread_mutex_unlock(&box->lock);
  return count;
}

void mailbox_put(struct mailbox *box, struct letter letter) {
  (void)pthread_mutex_lock(&box->lock);
  assert(box->count < MAILBOX_PLACES);
  box->letters[(box->first + box->count++) % MAILBOX_PLACES] = letter;
  (void)pthread_mutex_unlock(&box->lock);
  // It can only be refused when it is full, and then it is readable.
  (void)eventfd_write(box->event_fd, 1);
}

void mailbox_heard(struct mailbox *box) {
  eventfd_t count;
  (void)eventfd_read(box->event_fd, &count);
}

bool mailbox_take(struct mailbox *box, struct letter *out) {
  (void)pthread_mutex_lock(&box->lock);
  const bool some = box->count > 0;
  if (some) {
    *out = box->letters[box->first];
    box->first = (box->first + 1) % MAILBOX_PLACES;
    box->count--;
  }
  (void)pthread_mutex_unlock(&box->lock);
  return some;
}

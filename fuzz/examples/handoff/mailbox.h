// Sockets on their way from the loop that accepts to a loop that serves: a bounded queue and an eventfd that announces
// what is in it.
#ifndef TLSGATE_FUZZ_EXAMPLES_HANDOFF_MAILBOX_H
#define TLSGATE_FUZZ_EXAMPLES_HANDOFF_MAILBOX_H

#include <pthread.h>
#include <stdbool.h>

#define MAILBOX_PLACES 64u

struct letter {
  int fd;
  bool tls;
};

struct mailbox {
  pthread_mutex_t lock;
  int event_fd;  // readable: something has been put in since it was read
  struct letter letters[MAILBOX_PLACES];
  unsigned first;
  unsigned count;
};

// mailbox_open returns false when there is no descriptor for it.
bool mailbox_open(struct mailbox *box);

// mailbox_close closes what was not taken. Of a mailbox that was never opened event_fd is -1.
void mailbox_close(struct mailbox *box);

// mailbox_count returns how many letters wait. Only the one who puts may rely on that there will be no more.
unsigned mailbox_count(struct mailbox *box);

// mailbox_put hands over one; there must be a place for it.
void mailbox_put(struct mailbox *box, struct letter letter);

// mailbox_heard takes note of the announcement: to be called before mailbox_take is, until that returns false.
void mailbox_heard(struct mailbox *box);
bool mailbox_take(struct mailbox *box, struct letter *out);

#endif

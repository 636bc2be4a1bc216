// Counts the system calls on accepted sockets, and makes them fail as a test wants. A test that links testing_calls
// with the --wrap options of its BUILD target has them in force.
#ifndef TLSGATE_HARNESS_ACCEPT_TESTING_CALLS_H
#define TLSGATE_HARNESS_ACCEPT_TESTING_CALLS_H

#include <stdbool.h>

#define TESTING_CALLS_MAX_FDS 4096

struct testing_calls {
  bool accepted[TESTING_CALLS_MAX_FDS];
  unsigned accept4;
  unsigned recv;
  unsigned empty_recv;  // of these, those that found nothing
  unsigned send;
  unsigned setsockopt;
  unsigned epoll_ctl;
  unsigned shutdown;
  unsigned close;
  int accept4_error;  // what the next accept4 calls fail with, and how many of them
  unsigned accept4_failures;
  int setsockopt_error;  // 0: none
  int epoll_ctl_error;   // 0: none
  int io_error;          // of every n-th recv and send
  unsigned io_every;     // n; 0: none
  unsigned io_calls;
  long allocations_left;  // until malloc and calloc fail; negative: for ever
};

extern struct testing_calls testing_calls;

// testing_calls_reset sets every count to 0 and makes nothing fail.
void testing_calls_reset(void);

#endif

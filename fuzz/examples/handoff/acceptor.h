// The loop that accepts, and hands each socket to the worker with the fewest that wait.
#ifndef TLSGATE_FUZZ_EXAMPLES_HANDOFF_ACCEPTOR_H
#define TLSGATE_FUZZ_EXAMPLES_HANDOFF_ACCEPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/examples/handoff/mailbox.h"

struct acceptor {
  int epoll_fd;      // of the listeners
  int rest_fd;       // an epoll of nothing: what is waited on while no connection can be accepted
  int listeners[2];  // TLS, plaintext; -1: none
  struct mailbox *boxes;
  unsigned num_boxes;
  uint64_t resumes_ns;  // rests until then; 0: does not rest
  bool failed;          // a listener is none any more; it rests for good
};

// acceptor_open listens on the loopback interface; `plaintext_port` 0: not. Returns false when it cannot;
// acceptor_close may be called all the same.
bool acceptor_open(struct acceptor *acceptor, uint16_t tls_port, uint16_t plaintext_port, struct mailbox *boxes,
                   unsigned num_boxes);
void acceptor_turn(struct acceptor *acceptor);
void acceptor_close(struct acceptor *acceptor);

#endif

// A listening socket, and what to do about each error of accept4().
#ifndef TLSGATE_HARNESS_ACCEPT_LISTENER_H
#define TLSGATE_HARNESS_ACCEPT_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"

// tg_listener_open returns a non-blocking, close-on-exec listening socket bound to `address` (IPv4 or IPv6, numeric)
// and `port` (0: the kernel picks one) with SO_REUSEADDR and SO_REUSEPORT, or -1 with `err` filled in. The backlog is
// the kernel's maximum (somaxconn). A port on which another user's or another process's socket already listens is
// refused ("in use") when `exclusive`: the first of a process's own shards passes true, the rest false.
int tg_listener_open(const char *address, uint16_t port, bool exclusive, struct tg_error *err);

// tg_listener_port returns the port that a listening socket is bound to, or 0 on error.
uint16_t tg_listener_port(int fd);

// What accept4()'s errno asks for.
enum tg_accept_verdict {
  TG_ACCEPT_NONE,    // EAGAIN: nothing waits
  TG_ACCEPT_SKIP,    // this connection is gone, the next may be there: EINTR, ECONNABORTED, EPERM and the network
                     // errors that accept(2) says to treat like EAGAIN by retrying
  TG_ACCEPT_PAUSE,   // no descriptors or memory: stop asking, try again a little later or when a connection is freed
  TG_ACCEPT_BROKEN,  // anything else: the listener is unusable
};
enum tg_accept_verdict tg_accept_judge(int error_number);

#endif

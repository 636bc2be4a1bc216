// What connections that do nothing cost a server.
#ifndef TLSGATE_PERF_PEERS_IDLE_H
#define TLSGATE_PERF_PEERS_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/base/error.h"

struct tg_peers_idle {
  double kib;          // resident memory of all the server's processes, per connection
  double cpu_percent;  // of one core, with all of them open
};

// tg_peers_idle opens `connections` by TLS 1.3, has one small response on each, and looks at the server while they are
// all open and idle. Returns false with `err` filled in when one cannot be had, or was ended by the server before it
// was looked at. This process's limit of descriptors is raised as far as it may be.
bool tg_peers_idle(pid_t pid, uint16_t port, const char *path, size_t connections, struct tg_peers_idle *out,
                   struct tg_error *err);

// tg_peers_cpu_s returns the CPU time that a process and its descendants have used so far, in seconds, to the
// nanosecond (clock_getcpuclockid(3)); -1 if it is gone.
double tg_peers_cpu_s(pid_t pid);

#endif

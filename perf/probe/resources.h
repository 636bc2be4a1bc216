// What a server holds: it and all processes that it has started, by /proc.
#ifndef TLSGATE_PERF_PROBE_RESOURCES_H
#define TLSGATE_PERF_PROBE_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TG_RESOURCES_PIDS_MAX 256

struct tg_resources {
  pid_t pids[TG_RESOURCES_PIDS_MAX];  // the server and its descendants, zombies left out; the server first
  size_t num_pids;
  long threads;
  long fds;
  double rss_mib;  // pages that several processes share count once for each
  double cpu_s;    // user and system time used so far
  double
      wanted_s;  // on a CPU or waiting for one so far, by threads that are still there: what a busy machine cannot hide
};

// tg_resources_read reads what `pid` and its descendants hold now. Returns false when the server itself is gone.
bool tg_resources_read(pid_t pid, struct tg_resources *out);

// tg_resources_lost returns a process of `before` that is no more in `after`, or 0.
pid_t tg_resources_lost(const struct tg_resources *before, const struct tg_resources *after);

#endif

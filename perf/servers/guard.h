// What an interrupted run must not leave: a server of several processes, and a folder. For launch.c alone.
#ifndef TLSGATE_PERF_SERVERS_GUARD_H
#define TLSGATE_PERF_SERVERS_GUARD_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/servers/launch.h"

// tg_guard_begin makes SIGINT, SIGTERM and SIGHUP kill the launch's process group, remove its folder and then do what
// they did before the first launch. `launch` is kept until tg_guard_end; TG_LAUNCHES_MAX at one time.
bool tg_guard_begin(struct tg_launch *launch, struct tg_error *err);

// tg_guard_end lets go of the launch; after the last of them signals are what they were. Ignored without a beginning.
void tg_guard_end(const struct tg_launch *launch);

#endif

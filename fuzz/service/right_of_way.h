// A measurement on this host has right of way over fuzzing (perf/host/lock.h says how the two keep apart): while
// engines run, BUILD is held shared, and a measurement waits for it to be let go.
#ifndef TLSGATE_FUZZ_SERVICE_RIGHT_OF_WAY_H
#define TLSGATE_FUZZ_SERVICE_RIGHT_OF_WAY_H

#include <stdbool.h>

#include "harness/base/error.h"

struct tg_right_of_way {
  int measure_fd;
  int build_fd;
  bool ours;  // BUILD is held
};

// tg_right_of_way_open opens the two files, which are made if they are not there. Returns false with `err` filled in.
bool tg_right_of_way_open(struct tg_right_of_way *way, const char *measure_path, const char *build_path,
                          struct tg_error *err);
void tg_right_of_way_close(struct tg_right_of_way *way);

// tg_right_of_way_yield says whether somebody wants to measure. Then the caller is to stop what it runs and to call
// tg_right_of_way_leave.
bool tg_right_of_way_yield(struct tg_right_of_way *way);

// tg_right_of_way_enter takes BUILD unless somebody measures or waits to. Returns whether it is held.
bool tg_right_of_way_enter(struct tg_right_of_way *way);
void tg_right_of_way_leave(struct tg_right_of_way *way);

#endif

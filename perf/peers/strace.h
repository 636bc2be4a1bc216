// System calls of a running server, counted by strace -c.
#ifndef TLSGATE_PERF_PEERS_STRACE_H
#define TLSGATE_PERF_PEERS_STRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "harness/base/error.h"

#define TG_STRACE_CALLS_MAX 128
#define TG_STRACE_NAME_SIZE 32

struct tg_strace_call {
  char name[TG_STRACE_NAME_SIZE];
  double calls;
};

struct tg_strace_counts {
  struct tg_strace_call calls[TG_STRACE_CALLS_MAX];
  size_t num;
  double total;
};

// tg_strace_parse reads the summary that `strace -c` writes (strace 5.16 to 6.1: a table of the columns % time,
// seconds, usecs/call, calls, errors, syscall, with a line `total`). Returns false with `err` filled in when it is not
// that, when the calls do not add up to the total, or when there are more than TG_STRACE_CALLS_MAX. An empty text is
// one without calls.
bool tg_strace_parse(const char *text, struct tg_strace_counts *out, struct tg_error *err);

// tg_strace_calls returns how often `name` was called.
double tg_strace_calls(const struct tg_strace_counts *counts, const char *name);

// strace, attached to a process, its threads and its descendants.
struct tg_strace {
  pid_t pid;
  int out_fd;
  char summary[96];
  char said[96];
};

// tg_strace_installed says whether strace is there; `err` names its package.
bool tg_strace_installed(struct tg_error *err);

// tg_strace_attach returns once all processes are attached to. `folder`, a short path, is for its two files, which go
// with it. Returns false with `err` filled in, and nothing running.
bool tg_strace_attach(struct tg_strace *strace, const char *folder, pid_t pid, struct tg_error *err);

// tg_strace_detach lets go of them and reads what was counted. Returns false with `err` filled in. Either way nothing
// runs any more.
bool tg_strace_detach(struct tg_strace *strace, struct tg_strace_counts *out, struct tg_error *err);

#endif

// A child process whose output is kept, whose time is bounded and whose CPU time is known.
#ifndef TLSGATE_PERF_PROCESS_CHILD_H
#define TLSGATE_PERF_PROCESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "harness/base/error.h"

// What a finished child left. Both texts are NUL-terminated and owned by the struct.
struct tg_child_result {
  int exit_status;  // the exit status, or 128 + the signal that ended it
  double wall_s;    // from fork to reaping
  double cpu_s;     // user and system time of the child and the children it waited for (getrusage(2))
  char *out;        // what it wrote to stdout, cut at TG_CHILD_OUTPUT_MAX
  char *err;        // likewise for stderr
};
#define TG_CHILD_OUTPUT_MAX (8u << 20)

// tg_child_run runs argv[0] (looked up in PATH) with standard input from /dev/null and waits for it. Returns true when
// it ended by itself, whatever its status; false with `err` filled in when it could not be started, or had to be killed
// after `timeout_s`. On true, `out` is to be released with tg_child_result_free.
bool tg_child_run(const char *const argv[], double timeout_s, struct tg_child_result *out, struct tg_error *err);
void tg_child_result_free(struct tg_child_result *result);

// tg_child_start starts argv[0] with the write end of a pipe as standard output; *out_fd is the read end, owned by the
// caller. Its standard error goes to the file `err_path`, or is inherited when that is NULL. `env` holds
// NAME=value strings added to the environment; NULL: none. The child is killed when the calling thread ends. Returns
// its pid, or -1 with `err` filled in.
pid_t tg_child_start(const char *const argv[], const char *const env[], const char *err_path, int *out_fd,
                     struct tg_error *err);

// tg_child_wait reaps a child, giving it `timeout_s` to end and killing it after that. Returns its status as in
// tg_child_result.exit_status; *killed says whether it had to be killed.
int tg_child_wait(pid_t pid, double timeout_s, bool *killed);

// tg_command_line writes the arguments of `argv`, separated by spaces, to `out`: for people, not for a shell.
void tg_command_line(const char *const argv[], char *out, size_t size);

// tg_now_s returns CLOCK_MONOTONIC in seconds.
double tg_now_s(void);

#endif

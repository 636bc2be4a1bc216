// A server under test: a process on a port.
#ifndef TLSGATE_PERF_PROCESS_SERVER_H
#define TLSGATE_PERF_PROCESS_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/base/error.h"

// How long a server may take from its start to its ready line, and from SIGTERM to its end.
#define TG_SERVER_READY_S 5.0
#define TG_SERVER_STOP_S  10.0

struct tg_server {
  const char *name;    // what messages call it; borrowed
  pid_t pid;           // 0: not running
  int out_fd;          // its standard output
  uint16_t tls_port;   // 0: none
  uint16_t http_port;  // 0: none
  char command[512];   // what was started, for a report
};

// tg_server_start runs argv and reads the one JSON line that says its ports. `env` as in tg_child_start. Returns false
// with `err` filled in when it cannot be started, ends early, or is not ready in time; then nothing is left running.
bool tg_server_start(struct tg_server *server, const char *name, const char *const argv[], const char *const env[],
                     struct tg_error *err);

// tg_server_start_within is the same for a server that has `ready_s` until its ready line, and whose standard error
// goes to the file `err_path` (NULL: is inherited).
bool tg_server_start_within(struct tg_server *server, const char *name, const char *const argv[],
                            const char *const env[], const char *err_path, double ready_s, struct tg_error *err);

// tg_server_alive says whether the process still runs; if not, `err` says how it ended.
bool tg_server_alive(struct tg_server *server, struct tg_error *err);

// tg_server_cpu_s returns the CPU time that the processes of the server's group have used so far, all threads, in
// seconds (their CPU-time clocks, clock_getcpuclockid(3)): what the server has started counts as long as it runs. -1 if
// the server itself is gone.
double tg_server_cpu_s(const struct tg_server *server);

// tg_server_stop sends SIGTERM and waits. Returns false with `err` filled in when the server had to be killed or did
// not exit with status 0. Ignores a server that does not run.
bool tg_server_stop(struct tg_server *server, struct tg_error *err);

#endif

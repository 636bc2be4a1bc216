// A described server, started as its description says, and stopped with everything that it has started.
#ifndef TLSGATE_PERF_SERVERS_LAUNCH_H
#define TLSGATE_PERF_SERVERS_LAUNCH_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/process/server.h"
#include "perf/servers/describe.h"
#include "perf/servers/stage.h"

// Servers that may run at one time: one of each variant.
#define TG_LAUNCHES_MAX 4

struct tg_launch_config {
  const char *https_server;        // what @https_server@ stands for; NULL: a description that asks for it is refused
  int workers;                     // 1 to 1024
  int descriptors;                 // RLIMIT_NOFILE, soft and hard, of the server; 0: this process's own
  enum tg_server_variant variant;  // that the description has
  const char *client_ca;           // what @client_ca@ stands for; NULL: a description that asks for it is refused
};

struct tg_launch {
  struct tg_server server;  // pid, ports, command; its process group is all that it started and that stayed in it
  const struct tg_server_description *description;
  struct tg_stage stage;
};

// tg_launch_is_installed says whether the description's program can be found, as far as that can be told without
// starting it; if not, `err` names it and its package.
bool tg_launch_is_installed(const struct tg_server_description *description, struct tg_error *err);

// tg_launch_start makes the run's folder, starts the server and waits until it is ready. Returns false with `err`
// filled in; then nothing is left running or lying about. A program that is not installed is named with its package.
// Both are kept as long as the launch lasts. SIGINT, SIGTERM and SIGHUP then end the server, remove the folder and end
// this process. At most TG_LAUNCHES_MAX at one time, all from one thread.
bool tg_launch_start(struct tg_launch *launch, const struct tg_server_description *description,
                     const struct tg_launch_config *config, struct tg_error *err);

// tg_launch_stop sends the stop signal, waits, and removes the folder. Returns false with `err` filled in when the
// server had to be killed or ended with another status than its description says.
bool tg_launch_stop(struct tg_launch *launch, struct tg_error *err);

// tg_launch_program writes the absolute path of the program that the description starts to `out`. Returns false with
// `err` filled in, naming its package, when there is none.
bool tg_launch_program(const struct tg_server_description *description, const char *https_server, char out[PATH_MAX],
                       struct tg_error *err);

// tg_launch_said writes the last line that the server wrote to its log or standard error, without control characters,
// to `out`; empty if none.
void tg_launch_said(const struct tg_launch *launch, char *out, size_t size);

#endif

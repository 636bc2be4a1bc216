// One command of a part: its output goes to a file, its time is bounded, and it shows that it goes on.
#ifndef TLSGATE_PERF_CERTIFY_COMMAND_H
#define TLSGATE_PERF_CERTIFY_COMMAND_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/certify/progress.h"

// From SIGTERM to SIGKILL.
#define TG_COMMAND_GRACE_S 15.0

struct tg_command {
  const char *const *argv;  // argv[0] is looked up in PATH
  const char *log;          // file that both outputs are appended to
  double limit_s;           // then the command and what it has started are ended
  bool follow;              // the last line of its output is what the part is at
};

// tg_command_run runs it and waits, with standard input from /dev/null. Returns its exit status, or 128 + the signal
// that ended it; -1 with `err` filled in when it could not be started or was over its limit. When SIGINT, SIGTERM or
// SIGHUP ends this process meanwhile, it ends with it.
int tg_command_run(const struct tg_command *command, struct tg_progress *progress, struct tg_error *err);

#endif

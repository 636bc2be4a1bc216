// A child whose output goes to a file that the launcher reads while it grows.
#ifndef TLSGATE_FUZZ_LAUNCHER_PROCESS_H
#define TLSGATE_FUZZ_LAUNCHER_PROCESS_H

#include <stdbool.h>

#include "harness/base/error.h"

// Called several times a second while the child runs. Returns false to have it stopped.
typedef bool (*tg_process_watch)(void *context, double elapsed_s);

// tg_process_run runs argv[0] (looked up in PATH) as the head of a process group, with standard input from /dev/null
// and both outputs written to `log_path` (created, or emptied). It is stopped (SIGINT, then SIGKILL to the group) when
// `watch` (NULL: none) says so or after `timeout_s`; that is no error. Returns its exit status, or 128 + the signal
// that ended it. Whatever it has started is ended too, and so is any other child of the caller, which has none. -1 with
// `err` filled in when it could not be started.
int tg_process_run(const char *const argv[], const char *log_path, double timeout_s, tg_process_watch watch,
                   void *context, struct tg_error *err);

// SIGINT, SIGTERM or SIGHUP while a child runs stop it, as above, and then end this process in the way the signal does.
// After tg_process_hold_signals, tg_process_run returns instead; the caller keeps what the child has left, and ends
// with tg_process_raise_held, which does nothing if there was no signal.
void tg_process_hold_signals(void);
void tg_process_raise_held(void);

#endif

#include "perf/run/scratch.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

// Process-wide because a signal is. Written before `present` is set, read by the handler only while it is.
static char folder[32];
static char paths[TG_SCRATCH_FILES][64];
static volatile sig_atomic_t present;

// unlink(2) and rmdir(2) may be called from a signal handler (signal-safety(7)).
static void remove_all(void) {
  for (int i = 0; i < TG_SCRATCH_FILES; i++) {
    (void)unlink(paths[i]);
  }
  (void)rmdir(folder);
}

// The servers end with this process (PR_SET_PDEATHSIG); the folder is all that would stay.
static void on_signal(int number) {
  if (present != 0) {
    present = 0;
    remove_all();
  }
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}

bool tg_scratch_make(struct tg_error *err) {
  static const char *const names[TG_SCRATCH_FILES] = {"client.pem", "client.key", "hyperfine.json", "ab.out"};
  assert(present == 0);
  (void)snprintf(folder, sizeof(folder), "/tmp/tlsgate-XXXXXX");
  if (mkdtemp(folder) == NULL) {
    tg_error_set(err, "cannot make a folder in /tmp: %s", strerror(errno));
    return false;
  }
  for (int i = 0; i < TG_SCRATCH_FILES; i++) {
    (void)snprintf(paths[i], sizeof(paths[i]), "%s/%s", folder, names[i]);
  }
  present = 1;
  for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
    (void)signal(signals[i], on_signal);
  }
  return true;
}

const char *tg_scratch_path(enum tg_scratch_file file) {
  assert(present != 0 && file < TG_SCRATCH_FILES);
  return paths[file];
}

void tg_scratch_remove(void) {
  if (present == 0) {
    return;
  }
  remove_all();
  present = 0;
}

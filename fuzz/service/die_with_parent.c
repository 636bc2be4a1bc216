// Preloaded (LD_PRELOAD) into all that fuzzd starts: engines, AFL++'s fork server and its children, the programs that
// libFuzzer starts for a merge. Each is killed by the kernel when its parent ends, however that ended, so that no
// orphan fuzzes on. PR_SET_PDEATHSIG outlives execve(2) but not fork(2) (prctl(2)), hence the handlers.
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t forking;

static void before_fork(void) {
  forking = getpid();
}

static void in_child(void) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before the call.
  if (getppid() != forking) {
    _exit(128 + SIGKILL);
  }
}

__attribute__((constructor)) static void begin(void) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Nothing of fuzzd's is started by process 1.
  if (getppid() == 1) {
    _exit(128 + SIGKILL);
  }
  (void)pthread_atfork(before_fork, NULL, in_child);
}

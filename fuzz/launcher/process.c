#include "fuzz/launcher/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS      100
#define STOP_GRACE_S 10.0  // for an engine to write its last statistics

// What asks this process to end while a child runs. It reaches the child only through us: it has a group of its own.
static const int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUM_SIGNALS = sizeof(kSignals) / sizeof(kSignals[0]) };

static volatile sig_atomic_t caught;  // since the run began
static bool hold;
static int held;

static void catch_signal(int number) {
  caught = number;
}

static void catch_signals(struct sigaction old[NUM_SIGNALS]) {
  caught = 0;
  const struct sigaction action = {.sa_handler = catch_signal, .sa_flags = SA_RESTART};
  for (int i = 0; i < NUM_SIGNALS; i++) {
    sigaction(kSignals[i], NULL, &old[i]);
    // What is ignored (nohup) stays so.
    if (old[i].sa_handler != SIG_IGN) {
      sigaction(kSignals[i], &action, NULL);
    }
  }
}

// Ends as the signal asks, or keeps it for later.
static void release_signals(const struct sigaction old[NUM_SIGNALS]) {
  for (int i = 0; i < NUM_SIGNALS; i++) {
    sigaction(kSignals[i], &old[i], NULL);
  }
  if (caught != 0 && hold) {
    held = caught;
  } else if (caught != 0) {
    raise(caught);
  }
}

void tg_process_hold_signals(void) {
  hold = true;
}

void tg_process_raise_held(void) {
  hold = false;
  if (held != 0) {
    raise(held);
  }
}

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void become(const char *const argv[], int log_fd, int report_fd) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(log_fd, STDOUT_FILENO) >= 0 &&
      dup2(log_fd, STDERR_FILENO) >= 0) {
    execvp(argv[0], (char *const *)argv);
  }
  int error = errno;
  if (write(report_fd, &error, sizeof(error)) < 0) {
    _exit(126);
  }
  _exit(127);
}

static pid_t start(const char *const argv[], const char *log_path, struct tg_error *err) {
  int log_fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (log_fd < 0) {
    tg_error_set(err, "%s: %s", log_path, strerror(errno));
    return -1;
  }
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    tg_error_set(err, "pipe: %s", strerror(errno));
    close(log_fd);
    return -1;
  }
  pid_t pid = fork();
  if (pid == 0) {
    become(argv, log_fd, report[1]);
  }
  int fork_error = errno;
  close(log_fd);
  close(report[1]);
  int error = 0;
  if (pid < 0) {
    error = fork_error;
  } else if (read(report[0], &error, sizeof(error)) == (ssize_t)sizeof(error)) {
    waitpid(pid, NULL, 0);
    pid = -1;
  }
  close(report[0]);
  if (pid < 0) {
    tg_error_set(err, "cannot start %s: %s", argv[0], strerror(error));
  }
  return pid;
}

// Ends what the child has left behind. AFL++'s fork servers lead sessions of their own, so no signal to the child's
// group reaches them; as orphans they become children of this process (PR_SET_CHILD_SUBREAPER), and so do theirs in
// turn.
static void end_strays(void) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
  for (bool some = true; some;) {
    some = false;
    FILE *children = fopen(path, "re");
    char text[32];
    while (children != NULL && fscanf(children, "%31s", text) == 1) {
      pid_t pid = (pid_t)strtol(text, NULL, 10);
      kill(pid, SIGKILL);
      some = waitpid(pid, NULL, 0) == pid || some;
    }
    if (children != NULL) {
      fclose(children);
    }
  }
}

static int status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int tg_process_run(const char *const argv[], const char *log_path, double timeout_s, tg_process_watch watch,
                   void *context, struct tg_error *err) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction old[NUM_SIGNALS];
  catch_signals(old);
  pid_t pid = start(argv, log_path, err);
  if (pid < 0) {
    release_signals(old);
    return -1;
  }
  double begun = now_s();
  double stopped = 0;
  int status;
  for (;;) {
    pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == pid) {
      break;
    }
    double now = now_s();
    bool go_on = (watch == NULL || watch(context, now - begun)) && now - begun < timeout_s && caught == 0;
    if (stopped == 0 && !go_on) {
      stopped = now;
      kill(pid, SIGINT);
    } else if (stopped != 0 && now - stopped > STOP_GRACE_S) {
      kill(-pid, SIGKILL);
    }
    poll(NULL, 0, POLL_MS);
  }
  kill(-pid, SIGKILL);
  end_strays();
  if (watch != NULL) {
    watch(context, now_s() - begun);
  }
  release_signals(old);
  return status_of(status);
}

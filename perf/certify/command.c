#include "perf/certify/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/process/child.h"

#define TICK_MS 500
#define TAIL    400  // of the log, that its last line is looked for in

static volatile sig_atomic_t running;  // the group that ends with this process

static void end_both(int number) {
  if (running > 0) {
    (void)kill(-(pid_t)running, SIGTERM);
  }
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}

static void handle_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    struct sigaction action = {.sa_handler = end_both};
    (void)sigaction(numbers[i], &action, NULL);
  }
}

// What the log ends with: the last line that has something on it.
static void follow(const struct tg_command *command, struct tg_progress *progress) {
  char text[TAIL];
  FILE *log = fopen(command->log, "re");
  if (log == NULL) {
    return;
  }
  if (fseek(log, -(long)sizeof(text), SEEK_END) != 0) {
    rewind(log);
  }
  size_t len = fread(text, 1, sizeof(text), log);
  (void)fclose(log);
  while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r' || text[len - 1] == ' ')) {
    len--;
  }
  size_t start = len;
  while (start > 0 && text[start - 1] != '\n' && text[start - 1] != '\r') {
    start--;
  }
  if (start < len) {
    tg_progress_detail(progress, "%.*s", (int)(len - start), text + start);
  }
}

// Passes what there is on to the log. Returns false when the command has closed its output.
static bool pass_on(int fd, FILE *log) {
  char text[4096];
  ssize_t got = read(fd, text, sizeof(text));
  if (got < 0) {
    return errno == EINTR || errno == EAGAIN;
  }
  (void)fwrite(text, 1, (size_t)got, log);
  return got > 0;
}

static bool has_ended(pid_t pid) {
  siginfo_t info = {.si_pid = 0};
  return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

int tg_command_run(const struct tg_command *command, struct tg_progress *progress, struct tg_error *err) {
  FILE *log = fopen(command->log, "ae");
  if (log == NULL) {
    tg_error_set(err, "%s: %s", command->log, strerror(errno));
    return -1;
  }
  handle_signals();
  (void)setvbuf(log, NULL, _IOLBF, 0);
  int fd;
  pid_t pid = tg_child_start(command->argv, NULL, command->log, &fd, err);
  if (pid < 0) {
    (void)fclose(log);
    return -1;
  }
  running = (sig_atomic_t)pid;
  double deadline = tg_now_s() + command->limit_s;
  bool open = true;
  bool ended = false;
  // Its output may outlive it: a server that it has started may hold the pipe open.
  while (open && !ended && tg_now_s() < deadline) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, TICK_MS) > 0) {
      open = pass_on(fd, log);
    } else {
      ended = has_ended(pid);
    }
    if (command->follow && tg_progress_is_due(progress)) {
      follow(command, progress);
    }
    tg_progress_tick(progress);
  }
  bool late = open && !ended;
  bool killed = false;
  if (late) {
    (void)kill(-pid, SIGTERM);
  }
  double left = deadline - tg_now_s();
  int status = tg_child_wait(pid, late ? TG_COMMAND_GRACE_S : left > 1 ? left : 1, &killed);
  // What it has left behind in its group.
  (void)kill(-pid, SIGKILL);
  running = 0;
  (void)close(fd);
  (void)fclose(log);
  if (late || killed) {
    tg_error_set(err, "%s did not end within %.0f s; its output is in %s", command->argv[0], command->limit_s,
                 command->log);
    return -1;
  }
  return status;
}
